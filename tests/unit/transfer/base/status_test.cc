#include "transfer/base/status.h"

#include <set>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

TEST(Status, OkIsEmpty) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().ToString(), "OK");
  EXPECT_EQ(Status::Ok(), Status());
}

TEST(Status, SaysNameNumberAndMessage) {
  EXPECT_EQ(Status(ErrorCode::kObjectNotFound, "key 'a'").ToString(),
            "OBJECT_NOT_FOUND (-704): key 'a'");
  EXPECT_EQ(Status(ErrorCode::kRpcFail, "").ToString(), "RPC_FAIL (-900)");
}

TEST(Status, AnnotateKeepsTheCode) {
  const Status annotated = Annotate(Status(ErrorCode::kRpcTimeout, "5 s passed"), "node 7");
  EXPECT_EQ(annotated, Status(ErrorCode::kRpcTimeout, "node 7: 5 s passed"));
  EXPECT_TRUE(Annotate(Status::Ok(), "node 7").ok());
}

// Numbers are wire numbers: a renumbering would make old and new processes misread each other.
TEST(ErrorCode, NumbersAreThoseOfTheWire) {
  EXPECT_EQ(static_cast<int>(ErrorCode::kNoAvailableHandle), -200);
  EXPECT_EQ(static_cast<int>(ErrorCode::kObjectNotFound), -704);
  EXPECT_EQ(static_cast<int>(ErrorCode::kTransferFail), -800);
  EXPECT_EQ(static_cast<int>(ErrorCode::kRpcTimeout), -901);
}

TEST(ErrorCode, EveryNumberHasItsOwnName) {
  std::set<std::string_view> names;
  int known = 0;
  for (int number = 0; number > -2000; --number) {
    const ErrorCode code = ErrorCodeFromNumber(number);
    if (static_cast<int>(code) != number) continue;
    ++known;
    EXPECT_NE(ErrorCodeName(code), "UNKNOWN") << number;
    names.insert(ErrorCodeName(code));
  }
  EXPECT_EQ(known, 34);
  EXPECT_EQ(names.size(), 34u);
}

TEST(ErrorCode, UnknownNumbersBecomeInternal) {
  EXPECT_EQ(ErrorCodeFromNumber(-7), ErrorCode::kInternal);
  EXPECT_EQ(ErrorCodeFromNumber(12), ErrorCode::kInternal);
}

}  // namespace
}  // namespace mooncake
