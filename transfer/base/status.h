// The one vocabulary of success and failure: a code that tells the caller what to do next, and a
// message that names the operands.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace mooncake {

// The numbers are the wire numbers of replies; users of the public implementation know them.
// Never renumber. `ErrorCodeName` and `AllErrorCodes` must list each of them.
enum class ErrorCode : int32_t {
  kOk = 0,
  kInternal = -1,         // a fault of ours; retrying will not help
  kBufferOverflow = -10,  // the caller's buffer is too small
  kSegmentNotFound = -101,
  kSegmentAlreadyExists = -102,
  kClientNotFound = -103,     // not registered or expired: mount again
  kNoAvailableHandle = -200,  // no room: evict, remove, add nodes, or wait
  kInvalidVersion = -300,     // stale term, epoch or version: refresh and retry
  kInvalidKey = -400,
  kWriteFail = -500,
  kInvalidParams = -600,
  kIllegalClient = -601,  // the caller does not own the operation
  kInvalidWrite = -700,   // the write state machine forbids it (late End, wrong put id)
  kInvalidRead = -701,
  kReplicaIsNotReady = -703,  // exists, not yet complete
  kObjectNotFound = -704,
  kObjectAlreadyExists = -705,
  kObjectHasLease = -706,
  kLeaseExpired = -707,  // bytes were discarded because the lease ended before the read did
  kObjectHasReplicationTask = -708,
  kReplicaNotFound = -710,
  kReplicaIsGone = -712,  // the seal names another put: a stale replica
  kObjectReplicaBusy = -714,
  kTransferFail = -800,  // the data path failed; another replica or path may work
  kChecksumMismatch = -801,
  kRpcFail = -900,     // the control path failed
  kRpcTimeout = -901,  // a deadline passed
  kUnavailableInCurrentStatus = -1010,
  kUnavailableInCurrentMode = -1011,
  kNotSupported = -1012,
  kPersistentFail = -1503,
  kTenantQuotaExceeded = -1700,
  kTenantNotRegistered = -1701,
  kTenantNotEmpty = -1702,
};

// "OBJECT_NOT_FOUND" etc.; "UNKNOWN(-7)" never happens for codes of the enum.
std::string_view ErrorCodeName(ErrorCode code);

// Maps a number from the wire; numbers we do not know become kInternal.
ErrorCode ErrorCodeFromNumber(int32_t number);

// Cheap when OK (no allocation). Copyable, thread-compatible.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Ok() { return Status(); }

  bool ok() const { return code_ == ErrorCode::kOk; }
  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // "OBJECT_NOT_FOUND (-704): key 'a' ...".
  std::string ToString() const;

  // Drops an error on purpose; `why` is for the reader.
  void Ignore(std::string_view why) const { (void)why; }

  friend bool operator==(const Status& a, const Status& b) {
    return a.code_ == b.code_ && a.message_ == b.message_;
  }

 private:
  ErrorCode code_ = ErrorCode::kOk;
  std::string message_;
};

std::ostream& operator<<(std::ostream& os, const Status& status);
std::ostream& operator<<(std::ostream& os, ErrorCode code);

// `context` + ": " + old message, same code. Use it where the operands of the caller help.
Status Annotate(const Status& status, std::string_view context);

}  // namespace mooncake

#define MC_CONCAT_INNER(a, b) a##b
#define MC_CONCAT(a, b) MC_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expr)                            \
  do {                                                   \
    if (auto mc_status_ = (expr); !mc_status_.ok()) {    \
      return ::mooncake::internal::ToStatus(mc_status_); \
    }                                                    \
  } while (false)

namespace mooncake::internal {
inline Status ToStatus(const Status& status) { return status; }
}  // namespace mooncake::internal
