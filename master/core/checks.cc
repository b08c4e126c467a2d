#include "master/core/checks.h"

#include <algorithm>

#include <re2/re2.h>

namespace mooncake::core {
namespace {

constexpr int64_t kPatternMemory = 8 << 20;
// Bounds the work per byte of key when the automaton does not fit the memory.
constexpr int kMaxPatternInstructions = 4000;
constexpr size_t kMaxSegmentNameBytes = 1024;
constexpr size_t kMaxNamedSegments = 1024;
constexpr size_t kMaxDelimiterBytes = 16;

Status Invalid(std::string message) { return {ErrorCode::kInvalidParams, std::move(message)}; }

std::string AtMost(std::string_view what, uint64_t got, uint64_t limit) {
  return std::string(what) + " is " + std::to_string(got) + ", at most " + std::to_string(limit) +
         " is allowed";
}

}  // namespace

std::string_view TenantOf(const std::string& tenant) {
  return tenant.empty() ? std::string_view(kDefaultTenant) : std::string_view(tenant);
}

std::string Quote(std::string_view key) {
  constexpr size_t kShown = 128;
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text = "'";
  for (const char c : key.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  text += key.size() > kShown ? "...'" : "'";
  return text;
}

Status CheckTenant(const std::string& tenant) {
  if (tenant.size() > kMaxTenantBytes)
    return Invalid(AtMost("the tenant's length", tenant.size(), kMaxTenantBytes));
  return Status::Ok();
}

Status CheckName(const ObjectName& name) {
  if (name.key.empty()) return {ErrorCode::kInvalidKey, "the key is empty"};
  if (name.key.size() > kMaxKeyBytes) {
    return {ErrorCode::kInvalidKey, AtMost("the key's length", name.key.size(), kMaxKeyBytes)};
  }
  return CheckTenant(name.tenant);
}

static Status CheckSoftPin(SoftPinAction action, std::optional<Duration> given, Duration max_ttl) {
  switch (action) {
    case SoftPinAction::kPreserve:
    case SoftPinAction::kDisable:
      if (given.has_value()) return Invalid("soft_pin_ttl is given, but soft_pin is not kEnable");
      return Status::Ok();
    case SoftPinAction::kEnable:
      break;
    default:
      return Invalid("soft_pin is " + std::to_string(static_cast<int>(action)) +
                     ", which is no action");
  }
  const Duration ttl = given.value_or(Duration::zero());
  if (ttl < Duration::zero()) return Invalid("soft_pin_ttl is negative");
  if (ttl > max_ttl) {
    return Invalid("soft_pin_ttl is " + std::to_string(ToMillis(ttl)) + " ms, at most " +
                   std::to_string(ToMillis(max_ttl)) + " ms are allowed");
  }
  return Status::Ok();
}

static Status CheckConfig(const ReplicateConfig& config, Duration max_soft_pin_ttl) {
  if (config.replica_num == 0) return Invalid("replica_num is 0, at least 1 is needed");
  if (config.replica_num > kMaxReplicas)
    return Invalid(AtMost("replica_num", config.replica_num, kMaxReplicas));
  if (config.group.size() > kMaxKeyBytes) {
    return Invalid(AtMost("the length of the group's name", config.group.size(), kMaxKeyBytes));
  }
  const size_t named = std::max(config.preferred_segments.size(), config.excluded_segments.size());
  if (named > kMaxNamedSegments)
    return Invalid(AtMost("the number of named segments", named, kMaxNamedSegments));
  return CheckSoftPin(config.soft_pin, config.soft_pin_ttl, max_soft_pin_ttl);
}

Status CheckPutStart(const PutStartArgs& args, Duration max_soft_pin_ttl) {
  RETURN_IF_ERROR(CheckName(args.name));
  if (args.client.IsNil()) return Invalid("the client's id is nil");
  if (args.size > kMaxObjectBytes)
    return Invalid(AtMost("the object's size", args.size, kMaxObjectBytes));
  if (args.mode != WriteMode::kCreate && args.mode != WriteMode::kReplace) {
    return Invalid("mode is " + std::to_string(static_cast<int>(args.mode)) + ", which is none");
  }
  if (args.mode == WriteMode::kCreate && args.expected != kNoPut) {
    return Invalid("`expected` is for kReplace; a kCreate expects no version");
  }
  return CheckConfig(args.config, max_soft_pin_ttl);
}

Status CheckSetPin(const SetPinArgs& args, Duration max_soft_pin_ttl) {
  RETURN_IF_ERROR(CheckName(args.name));
  return CheckSoftPin(args.soft, args.soft_ttl, max_soft_pin_ttl);
}

Status CheckAttributes(const ObjectAttributes& attributes) {
  if (attributes.kind > ObjectKind::kSymlink) {
    return Invalid("kind is " + std::to_string(static_cast<int>(attributes.kind)) +
                   ", which is none");
  }
  return Status::Ok();
}

Status CheckList(const ListArgs& args) {
  RETURN_IF_ERROR(CheckTenant(args.tenant));
  if (args.prefix.size() > kMaxKeyBytes)
    return Invalid(AtMost("the prefix's length", args.prefix.size(), kMaxKeyBytes));
  if (args.start_after.size() > kMaxKeyBytes) {
    return Invalid(AtMost("the length of start_after", args.start_after.size(), kMaxKeyBytes));
  }
  if (args.delimiter.size() > kMaxDelimiterBytes) {
    return Invalid(AtMost("the delimiter's length", args.delimiter.size(), kMaxDelimiterBytes));
  }
  if (args.limit == 0) return Invalid("limit is 0, at least 1 is needed");
  if (args.limit > kMaxListLimit) return Invalid(AtMost("limit", args.limit, kMaxListLimit));
  return Status::Ok();
}

Status CheckBatch(const char* what, size_t count) {
  if (count <= kMaxBatch) return Status::Ok();
  return Invalid(std::to_string(count) + " " + what + ", at most " + std::to_string(kMaxBatch) +
                 " are allowed");
}

Status CheckSegment(const ClientId& client, const SegmentDescriptor& segment) {
  if (client.IsNil()) return Invalid("the client's id is nil");
  if (segment.id.IsNil()) return Invalid("the segment's id is nil");
  if (segment.owner != client) {
    return Invalid("segment " + segment.id.ToString() + " names the owner " +
                   segment.owner.ToString() + ", but " + client.ToString() + " mounts it");
  }
  if (segment.name.empty()) return Invalid("segment " + segment.id.ToString() + " has no name");
  const size_t longest =
      std::max({segment.name.size(), segment.host_id.size(), segment.protocol.size(),
                segment.endpoint.size(), segment.local_socket.size()});
  if (longest > kMaxSegmentNameBytes) {
    return Invalid(AtMost("the length of a text of the segment", longest, kMaxSegmentNameBytes));
  }
  if (segment.size < kMinSegmentBytes) {
    return Invalid("segment " + Quote(segment.name) + " has " + std::to_string(segment.size) +
                   " bytes, at least " + std::to_string(kMinSegmentBytes) + " are needed");
  }
  if (segment.size > kMaxSegmentBytes)
    return Invalid(AtMost("the segment's size", segment.size, kMaxSegmentBytes));
  return Status::Ok();
}

Result<Pattern> Compile(const std::string& pattern) {
  if (pattern.empty()) return Invalid("the pattern is empty; .* means every key");
  if (pattern.size() > kMaxPatternBytes) {
    return Invalid(AtMost("the pattern's length", pattern.size(), kMaxPatternBytes));
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_dot_nl(true);
  options.set_never_capture(true);
  auto compiled = std::make_shared<const RE2>(pattern, options);
  if (!compiled->ok())
    return Invalid("the pattern " + Quote(pattern) + " is no RE2: " + compiled->error());
  if (compiled->ProgramSize() > kMaxPatternInstructions) {
    return Invalid("the pattern " + Quote(pattern) + " needs " +
                   std::to_string(compiled->ProgramSize()) + " instructions, at most " +
                   std::to_string(kMaxPatternInstructions) + " are allowed");
  }
  return Pattern(std::move(compiled));
}

bool Matches(const Pattern& pattern, std::string_view key) {
  return RE2::PartialMatch(re2::StringPiece(key.data(), key.size()), *pattern);
}

}  // namespace mooncake::core
