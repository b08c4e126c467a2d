#include "transfer/base/unique_fd.h"

#include <fcntl.h>

#include <utility>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) != -1; }
int NewFd() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(UniqueFd, ClosesWhatItOwnsOnce) {
  const int raw = NewFd();
  {
    UniqueFd first(raw);
    UniqueFd second(std::move(first));
    EXPECT_FALSE(first.valid());
    EXPECT_EQ(second.get(), raw);
    UniqueFd& same = second;
    second = std::move(same);
    EXPECT_TRUE(IsOpen(raw)) << "moving onto itself keeps it";
  }
  EXPECT_FALSE(IsOpen(raw));
}

TEST(UniqueFd, ResetAndAssignmentCloseTheOldOne) {
  const int first = NewFd();
  const int second = NewFd();
  UniqueFd fd(first);
  fd = UniqueFd(second);
  EXPECT_FALSE(IsOpen(first));
  EXPECT_EQ(fd.Release(), second);
  EXPECT_TRUE(IsOpen(second)) << "released is not closed";
  fd.Reset(second);
  fd.Reset();
  EXPECT_FALSE(IsOpen(second));
}

}  // namespace
}  // namespace mooncake
