// Which errno a program sees for each code of the store: one table, total over ErrorCode.
#pragma once

#include <span>

#include "fuse/fs/errno_or.h"
#include "transfer/base/status.h"

namespace mooncake::fs {

struct ErrnoRow {
  ErrorCode code;
  int errno_value;
};

// Every code of ErrorCode once, kOk included.
std::span<const ErrnoRow> ErrnoTable();

// EIO for a code that the table lacks (which the test forbids).
Errno ErrnoOf(ErrorCode code);
inline Errno ErrnoOf(const Status& status) { return ErrnoOf(status.code()); }

}  // namespace mooncake::fs
