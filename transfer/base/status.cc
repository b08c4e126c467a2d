#include "transfer/base/status.h"

#include <array>

namespace mooncake {
namespace {

struct CodeName {
  ErrorCode code;
  std::string_view name;
};

constexpr std::array kCodeNames = {
    CodeName{ErrorCode::kOk, "OK"},
    CodeName{ErrorCode::kInternal, "INTERNAL_ERROR"},
    CodeName{ErrorCode::kBufferOverflow, "BUFFER_OVERFLOW"},
    CodeName{ErrorCode::kSegmentNotFound, "SEGMENT_NOT_FOUND"},
    CodeName{ErrorCode::kSegmentAlreadyExists, "SEGMENT_ALREADY_EXISTS"},
    CodeName{ErrorCode::kClientNotFound, "CLIENT_NOT_FOUND"},
    CodeName{ErrorCode::kNoAvailableHandle, "NO_AVAILABLE_HANDLE"},
    CodeName{ErrorCode::kInvalidVersion, "INVALID_VERSION"},
    CodeName{ErrorCode::kInvalidKey, "INVALID_KEY"},
    CodeName{ErrorCode::kWriteFail, "WRITE_FAIL"},
    CodeName{ErrorCode::kInvalidParams, "INVALID_PARAMS"},
    CodeName{ErrorCode::kIllegalClient, "ILLEGAL_CLIENT"},
    CodeName{ErrorCode::kInvalidWrite, "INVALID_WRITE"},
    CodeName{ErrorCode::kInvalidRead, "INVALID_READ"},
    CodeName{ErrorCode::kReplicaIsNotReady, "REPLICA_IS_NOT_READY"},
    CodeName{ErrorCode::kObjectNotFound, "OBJECT_NOT_FOUND"},
    CodeName{ErrorCode::kObjectAlreadyExists, "OBJECT_ALREADY_EXISTS"},
    CodeName{ErrorCode::kObjectHasLease, "OBJECT_HAS_LEASE"},
    CodeName{ErrorCode::kLeaseExpired, "LEASE_EXPIRED"},
    CodeName{ErrorCode::kObjectHasReplicationTask, "OBJECT_HAS_REPLICATION_TASK"},
    CodeName{ErrorCode::kReplicaNotFound, "REPLICA_NOT_FOUND"},
    CodeName{ErrorCode::kReplicaIsGone, "REPLICA_IS_GONE"},
    CodeName{ErrorCode::kObjectReplicaBusy, "OBJECT_REPLICA_BUSY"},
    CodeName{ErrorCode::kTransferFail, "TRANSFER_FAIL"},
    CodeName{ErrorCode::kChecksumMismatch, "CHECKSUM_MISMATCH"},
    CodeName{ErrorCode::kRpcFail, "RPC_FAIL"},
    CodeName{ErrorCode::kRpcTimeout, "RPC_TIMEOUT"},
    CodeName{ErrorCode::kUnavailableInCurrentStatus, "UNAVAILABLE_IN_CURRENT_STATUS"},
    CodeName{ErrorCode::kUnavailableInCurrentMode, "UNAVAILABLE_IN_CURRENT_MODE"},
    CodeName{ErrorCode::kNotSupported, "NOT_SUPPORTED"},
    CodeName{ErrorCode::kPersistentFail, "PERSISTENT_FAIL"},
    CodeName{ErrorCode::kTenantQuotaExceeded, "TENANT_QUOTA_EXCEEDED"},
    CodeName{ErrorCode::kTenantNotRegistered, "TENANT_NOT_REGISTERED"},
    CodeName{ErrorCode::kTenantNotEmpty, "TENANT_NOT_EMPTY"},
};

}  // namespace

std::string_view ErrorCodeName(ErrorCode code) {
  for (const CodeName& entry : kCodeNames) {
    if (entry.code == code) return entry.name;
  }
  return "UNKNOWN";
}

ErrorCode ErrorCodeFromNumber(int32_t number) {
  for (const CodeName& entry : kCodeNames) {
    if (static_cast<int32_t>(entry.code) == number) return entry.code;
  }
  return ErrorCode::kInternal;
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  std::string text(ErrorCodeName(code_));
  text += " (" + std::to_string(static_cast<int32_t>(code_)) + ")";
  if (!message_.empty()) text += ": " + message_;
  return text;
}

std::ostream& operator<<(std::ostream& os, const Status& status) { return os << status.ToString(); }

std::ostream& operator<<(std::ostream& os, ErrorCode code) { return os << ErrorCodeName(code); }

Status Annotate(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  std::string message(context);
  if (!status.message().empty()) message += ": " + status.message();
  return Status(status.code(), std::move(message));
}

}  // namespace mooncake
