#include "client/arguments.h"

#include <string>

#include "transfer/base/units.h"

namespace mooncake::internal {
namespace {

constexpr int kMaxTransferThreads = 256;
constexpr size_t kMaxHostIdBytes = 255;
constexpr size_t kMaxDelimiterBytes = 16;

Status Invalid(std::string message) {
  return Status(ErrorCode::kInvalidParams, std::move(message));
}

}  // namespace

Status CheckClientOptions(const ClientOptions& options) {
  if (options.tenant.empty() || options.tenant.size() > kMaxTenantBytes) {
    return Invalid("tenant has " + std::to_string(options.tenant.size()) + " bytes: 1 to " +
                   std::to_string(kMaxTenantBytes) + " are allowed");
  }
  if (options.timeout < Millis(1) || options.timeout > kMaxCallTimeout) {
    return Invalid("timeout " + std::to_string(ToMillis(options.timeout)) +
                   " ms: 1 ms to 24 h are allowed");
  }
  if (options.host_id.size() > kMaxHostIdBytes) {
    return Invalid("host_id has " + std::to_string(options.host_id.size()) + " bytes: at most " +
                   std::to_string(kMaxHostIdBytes) + " are allowed");
  }
  if (options.transfer_threads < 1 || options.transfer_threads > kMaxTransferThreads) {
    return Invalid("transfer_threads " + std::to_string(options.transfer_threads) + ": 1 to " +
                   std::to_string(kMaxTransferThreads) + " are allowed");
  }
  if (options.protocol != "tcp" && options.protocol != "rdma") {
    return Invalid("protocol '" + options.protocol + "': tcp or rdma");
  }
  return Status::Ok();
}

Status CheckKey(std::string_view key) {
  if (!key.empty() && key.size() <= kMaxKeyBytes) return Status::Ok();
  return Status(ErrorCode::kInvalidKey, key.empty() ? "the key is empty"
                                                    : "the key has " + std::to_string(key.size()) +
                                                          " bytes, more than " +
                                                          std::to_string(kMaxKeyBytes));
}

Status CheckTimeout(Duration timeout) {
  if (timeout >= Duration::zero() && timeout <= kMaxCallTimeout) return Status::Ok();
  return Invalid("timeout " + std::to_string(ToMillis(timeout)) +
                 " ms: 0 (the client's own) to 24 h are allowed");
}

Status CheckPut(uint64_t size, const PutOptions& options) {
  RETURN_IF_ERROR(CheckTimeout(options.timeout));
  if (size > kMaxObjectBytes) {
    return Invalid("the value has " + FormatSize(size) + ", more than " +
                   FormatSize(kMaxObjectBytes));
  }
  if (options.config.replica_num < 1 || options.config.replica_num > kMaxReplicas) {
    return Invalid("replica_num " + std::to_string(options.config.replica_num) + ": 1 to " +
                   std::to_string(kMaxReplicas) + " are allowed");
  }
  if (options.expected != kNoPut && options.mode != WriteMode::kReplace) {
    return Invalid("an expected version makes sense with WriteMode::kReplace only");
  }
  return Status::Ok();
}

Status CheckList(const ListArgs& args) {
  if (args.limit < 1 || args.limit > kMaxListLimit) {
    return Invalid("limit " + std::to_string(args.limit) + ": 1 to " +
                   std::to_string(kMaxListLimit) + " are allowed");
  }
  if (args.delimiter.size() > kMaxDelimiterBytes) {
    return Invalid("the delimiter has " + std::to_string(args.delimiter.size()) +
                   " bytes: at most " + std::to_string(kMaxDelimiterBytes) + " are allowed");
  }
  if (args.prefix.size() > kMaxKeyBytes || args.start_after.size() > kMaxKeyBytes) {
    return Invalid("prefix and start_after may have " + std::to_string(kMaxKeyBytes) +
                   " bytes, not " + std::to_string(args.prefix.size()) + " and " +
                   std::to_string(args.start_after.size()));
  }
  return Status::Ok();
}

Status CheckPattern(std::string_view pattern) {
  if (!pattern.empty() && pattern.size() <= kMaxPatternBytes) return Status::Ok();
  return Invalid(pattern.empty() ? "the pattern is empty; to match every key use \".\""
                                 : "the pattern has " + std::to_string(pattern.size()) +
                                       " bytes, more than " + std::to_string(kMaxPatternBytes));
}

}  // namespace mooncake::internal
