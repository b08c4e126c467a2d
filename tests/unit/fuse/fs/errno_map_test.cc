#include "fuse/fs/errno_map.h"

#include <set>

#include <gtest/gtest.h>

namespace mooncake::fs {
namespace {

TEST(ErrnoMap, EveryCodeOfTheStoreIsInTheTableOnce) {
  std::set<ErrorCode> seen;
  for (const ErrnoRow& row : ErrnoTable()) EXPECT_TRUE(seen.insert(row.code).second) << row.code;
  // Numbers that are no codes become kInternal, so every code answers to its own number.
  for (int32_t number = 0; number >= -2000; --number) {
    const ErrorCode code = ErrorCodeFromNumber(number);
    if (static_cast<int32_t>(code) == number) {
      EXPECT_TRUE(seen.contains(code)) << code;
    }
  }
}

TEST(ErrnoMap, OnlyOkIsSuccess) {
  for (const ErrnoRow& row : ErrnoTable())
    EXPECT_EQ(row.errno_value == 0, row.code == ErrorCode::kOk) << row.code;
}

TEST(ErrnoMap, TheErrorsThatProgramsActOn) {
  EXPECT_EQ(ErrnoOf(ErrorCode::kNoAvailableHandle).value, ENOSPC);
  EXPECT_EQ(ErrnoOf(ErrorCode::kTenantQuotaExceeded).value, EDQUOT);
  EXPECT_EQ(ErrnoOf(ErrorCode::kObjectNotFound).value, ENOENT);
  EXPECT_EQ(ErrnoOf(ErrorCode::kObjectAlreadyExists).value, EEXIST);
  EXPECT_EQ(ErrnoOf(ErrorCode::kRpcTimeout).value, ETIMEDOUT);
  EXPECT_EQ(ErrnoOf(ErrorCode::kTransferFail).value, EIO);
  EXPECT_EQ(ErrnoOf(ErrorCode::kInvalidVersion).value, ESTALE);
  EXPECT_EQ(ErrnoOf(ErrorCode::kLeaseExpired).value, ESTALE);
  EXPECT_EQ(ErrnoOf(ErrorCode::kReplicaIsGone).value, ESTALE);
  EXPECT_EQ(ErrnoOf(ErrorCode::kObjectReplicaBusy).value, EBUSY);
}

}  // namespace
}  // namespace mooncake::fs
