#include "transfer/base/result.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Status(ErrorCode::kInvalidParams, std::to_string(n) + " is odd");
  return n / 2;
}

Result<int> Quarter(int n) {
  ASSIGN_OR_RETURN(const int half, Half(n));
  return Half(half);
}

Status CheckQuarter(int n) {
  RETURN_IF_ERROR(Quarter(n));
  return Status::Ok();
}

TEST(Result, HoldsAValueOrAStatus) {
  EXPECT_TRUE(Half(4).ok());
  EXPECT_EQ(*Half(4), 2);
  EXPECT_EQ(Half(4).code(), ErrorCode::kOk);
  EXPECT_EQ(Half(3).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(Half(3).message(), "3 is odd");
  EXPECT_EQ(Half(3).value_or(7), 7);
  EXPECT_EQ(Half(8).value_or(7), 4);
}

TEST(Result, MacrosPassTheFirstErrorUp) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).message(), "3 is odd");
  EXPECT_TRUE(CheckQuarter(8).ok());
  EXPECT_EQ(CheckQuarter(6).code(), ErrorCode::kInvalidParams);
}

TEST(Result, CarriesMoveOnlyValues) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(ResultDeathTest, ValueOfAnErrorNamesTheError) {
  EXPECT_DEATH((void)Half(3).value(), "3 is odd");
}

}  // namespace
}  // namespace mooncake
