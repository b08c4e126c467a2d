// Runs the simulator: fresh seeds must find nothing, equal seeds must end equal, and each planted bug must be found.
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/sim/simulation.h"

namespace mooncake::sim {
namespace {

constexpr uint64_t kShards = 10;
constexpr uint64_t kSeedsPerShard = 200;

class SimSeeds : public testing::TestWithParam<uint64_t> {};

TEST_P(SimSeeds, KeepThePromises) {
  for (uint64_t i = 0; i < kSeedsPerShard; ++i) {
    const uint64_t seed = GetParam() * kSeedsPerShard + i + 1;
    const SimReport report = RunSimulation(SimOptions{seed, Canary::kNone, nullptr});
    ASSERT_FALSE(report.violation.has_value())
        << *report.violation << "\nrepeat it with: mooncake-sim --seeds=1 --first=" << seed;
    if (i % 20 == 0) {
      ASSERT_EQ(RunSimulation(SimOptions{seed, Canary::kNone, nullptr}).digest, report.digest)
          << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, SimSeeds, testing::Range(uint64_t{0}, kShards));

struct PlantedBug {
  Canary canary;
  uint64_t within;  // seeds
  std::string name;
};

std::ostream& operator<<(std::ostream& os, const PlantedBug& bug) { return os << bug.name; }

class SimCanary : public testing::TestWithParam<PlantedBug> {};

TEST_P(SimCanary, IsFoundWithinTheStatedSeeds) {
  for (uint64_t seed = 1; seed <= GetParam().within; ++seed) {
    if (RunSimulation(SimOptions{seed, GetParam().canary, nullptr}).violation) return;
  }
  FAIL() << GetParam().within << " seeds did not find the planted bug";
}

// Each was found within a third of this, from each of three first seeds.
INSTANTIATE_TEST_SUITE_P(
    Planted, SimCanary,
    testing::Values(PlantedBug{Canary::kNoEpochCheck, 1200, "NoEpochCheck"},
                    PlantedBug{Canary::kNoWriteDeadline, 200, "NoWriteDeadline"},
                    PlantedBug{Canary::kNoLeaseCheck, 600, "NoLeaseCheck"},
                    PlantedBug{Canary::kShortLease, 50, "ShortLease"},
                    PlantedBug{Canary::kEndWithoutPutId, 50, "EndWithoutPutId"},
                    PlantedBug{Canary::kRevokeUnsettled, 300, "RevokeUnsettled"},
                    PlantedBug{Canary::kReuseBeforeDurable, 500, "ReuseBeforeDurable"},
                    PlantedBug{Canary::kNoLeaseOnRestore, 300, "NoLeaseOnRestore"},
                    PlantedBug{Canary::kKeepOldEpoch, 1900, "KeepOldEpoch"},
                    PlantedBug{Canary::kAnswerBeforeDurable, 50, "AnswerBeforeDurable"},
                    PlantedBug{Canary::kNoQuietTime, 1300, "NoQuietTime"},
                    PlantedBug{Canary::kAnswersWhenDeposed, 150, "AnswersWhenDeposed"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Simulation, CoversFaultsAndReads) {
  SimReport sum;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Add(sum, RunSimulation(SimOptions{seed, Canary::kNone, nullptr}));
  }
  EXPECT_GT(sum.reads_checked, 1000u);
  EXPECT_GT(sum.crashed, 20u);
  EXPECT_GT(sum.frozen, 20u);
  EXPECT_GT(sum.dropped, 20u);
  EXPECT_GT(sum.restores, 20u);
  EXPECT_GT(sum.from_snapshots, 20u);
  EXPECT_GT(sum.successions, 5u);
  EXPECT_GT(sum.versions_restored, 100u);
  EXPECT_GT(sum.nodes_left, 5u);
  EXPECT_GT(sum.clients.cleared, 5u);
  EXPECT_GT(sum.clients.reported, 5u);
  EXPECT_GT(sum.clients.directories_renamed, 5u);
}

}  // namespace
}  // namespace mooncake::sim
