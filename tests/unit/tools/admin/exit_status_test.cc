#include "tools/admin/exit_status.h"

#include <gtest/gtest.h>

namespace mooncake::admin {
namespace {

TEST(ExitStatus, TellsScriptsWhatToDo) {
  EXPECT_EQ(ExitStatusOf(ErrorCode::kOk), ExitStatus::kOk);
  EXPECT_EQ(ExitStatusOf(ErrorCode::kObjectNotFound), ExitStatus::kFailed);
  EXPECT_EQ(ExitStatusOf(ErrorCode::kNoAvailableHandle), ExitStatus::kFailed);
  EXPECT_EQ(ExitStatusOf(ErrorCode::kInvalidParams), ExitStatus::kUsage);
  EXPECT_EQ(ExitStatusOf(ErrorCode::kRpcFail), ExitStatus::kUnreachable);
  EXPECT_EQ(ExitStatusOf(ErrorCode::kRpcTimeout), ExitStatus::kUnreachable);
}

TEST(ExitStatus, OfSeveralTheWorstCounts) {
  EXPECT_EQ(Worse(ExitStatus::kOk, ExitStatus::kOk), ExitStatus::kOk);
  EXPECT_EQ(Worse(ExitStatus::kFailed, ExitStatus::kOk), ExitStatus::kFailed);
  EXPECT_EQ(Worse(ExitStatus::kFailed, ExitStatus::kUnreachable), ExitStatus::kUnreachable);
}

TEST(ExitStatus, AnExplanationIsOneLineWithItsCure) {
  EXPECT_EQ(Explain(Status(ErrorCode::kInternal, "it\nbroke")), "it broke");
  EXPECT_EQ(Explain(Status(ErrorCode::kObjectAlreadyExists, "key 'k' exists")),
            "key 'k' exists; --replace puts the new value in its place");
  EXPECT_EQ(Explain(Status(ErrorCode::kInternal, "")), "INTERNAL_ERROR");
}

}  // namespace
}  // namespace mooncake::admin
