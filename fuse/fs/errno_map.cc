#include "fuse/fs/errno_map.h"

#include <array>

namespace mooncake::fs {
namespace {

// EIO: the bytes could not be had or stored, and nothing more precise helps the program. ESTALE: the version is gone.
constexpr std::array kTable = {
    ErrnoRow{ErrorCode::kOk, 0},
    ErrnoRow{ErrorCode::kInternal, EIO},
    ErrnoRow{ErrorCode::kBufferOverflow, EIO},
    ErrnoRow{ErrorCode::kSegmentNotFound, EIO},
    ErrnoRow{ErrorCode::kSegmentAlreadyExists, EIO},
    ErrnoRow{ErrorCode::kClientNotFound, EIO},
    ErrnoRow{ErrorCode::kNoAvailableHandle, ENOSPC},
    ErrnoRow{ErrorCode::kInvalidVersion, ESTALE},  // the kernel looks the name up again and retries
    ErrnoRow{ErrorCode::kInvalidKey, EINVAL},
    ErrnoRow{ErrorCode::kWriteFail, EIO},
    ErrnoRow{ErrorCode::kInvalidParams, EINVAL},
    ErrnoRow{ErrorCode::kIllegalClient, EIO},
    ErrnoRow{ErrorCode::kInvalidWrite, EIO},  // the write took so long that the master gave it up
    ErrnoRow{ErrorCode::kInvalidRead, EIO},
    ErrnoRow{ErrorCode::kReplicaIsNotReady, EBUSY},
    ErrnoRow{ErrorCode::kObjectNotFound, ENOENT},
    ErrnoRow{ErrorCode::kObjectAlreadyExists, EEXIST},
    ErrnoRow{ErrorCode::kObjectHasLease, EBUSY},
    ErrnoRow{ErrorCode::kLeaseExpired, ESTALE},
    ErrnoRow{ErrorCode::kObjectHasReplicationTask, EBUSY},
    ErrnoRow{ErrorCode::kReplicaNotFound, EIO},
    ErrnoRow{ErrorCode::kReplicaIsGone, ESTALE},
    ErrnoRow{ErrorCode::kObjectReplicaBusy, EBUSY},
    ErrnoRow{ErrorCode::kTransferFail, EIO},
    ErrnoRow{ErrorCode::kChecksumMismatch, EIO},
    ErrnoRow{ErrorCode::kRpcFail, EIO},
    ErrnoRow{ErrorCode::kRpcTimeout, ETIMEDOUT},
    ErrnoRow{ErrorCode::kUnavailableInCurrentStatus, EBUSY},
    ErrnoRow{ErrorCode::kUnavailableInCurrentMode, EOPNOTSUPP},
    ErrnoRow{ErrorCode::kNotSupported, EOPNOTSUPP},
    ErrnoRow{ErrorCode::kPersistentFail, EIO},
    ErrnoRow{ErrorCode::kTenantQuotaExceeded, EDQUOT},
    ErrnoRow{ErrorCode::kTenantNotRegistered, EACCES},
    ErrnoRow{ErrorCode::kTenantNotEmpty, ENOTEMPTY},
};

}  // namespace

std::span<const ErrnoRow> ErrnoTable() { return kTable; }

Errno ErrnoOf(ErrorCode code) {
  for (const ErrnoRow& row : kTable) {
    if (row.code == code) return Errno{row.errno_value};
  }
  return Errno{EIO};
}

}  // namespace mooncake::fs
