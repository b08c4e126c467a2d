#include "tools/admin/progress.h"

#include <sstream>

#include <gtest/gtest.h>

#include "transfer/base/manual_clock.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

TEST(Progress, SaysNothingOfShortWorkAndNothingUnlessAsked) {
  std::ostringstream out;
  ManualClock clock;
  {
    Progress quick(out, true, "get 'k'", 100, clock);
    quick.Add(50);
    Progress silent(out, false, "get 'k'", 100, clock);
    clock.Advance(Seconds(10));
    silent.Add(50);
  }
  EXPECT_EQ(out.str(), "");
}

TEST(Progress, DrawsOverItselfAndWipesTheLine) {
  std::ostringstream out;
  ManualClock clock;
  {
    Progress progress(out, true, "get 'k'", 4 * kMiB, clock);
    clock.Advance(Seconds(2));
    progress.Add(2 * kMiB);
    progress.Add(kMiB);  // too soon to draw again
  }
  EXPECT_EQ(out.str(), "\r\033[Kget 'k'  2 MiB of 4 MiB (50.0%), 1 MiB/s\r\033[K");
}

TEST(Progress, LineWithoutATotal) {
  EXPECT_EQ(ProgressLine("put", 10, std::nullopt, Duration::zero()), "put  10 B");
}

}  // namespace
}  // namespace mooncake::admin
