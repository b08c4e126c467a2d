#include "master/core/options.h"

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

TEST(CoreOptions, DefaultsAreValid) { EXPECT_EQ(CoreOptions{}.Validate(), Status::Ok()); }

TEST(CoreOptions, NamesTheOptionThatMakesNoSense) {
  const auto check = [](auto&& spoil) {
    CoreOptions options;
    spoil(options);
    return options.Validate().message();
  };
  EXPECT_EQ(
      check([](CoreOptions& o) { o.soft_pin_ttl = Seconds(100000); }),
      "default_kv_soft_pin_ttl (100000000 ms) must be at most max_kv_soft_pin_ttl (86400000 ms)");
  EXPECT_EQ(check([](CoreOptions& o) { o.put_start_release_timeout = Seconds(30); }),
            "put_start_discard_timeout (30000 ms) must be less than put_start_release_timeout "
            "(30000 ms)");
  EXPECT_EQ(check([](CoreOptions& o) { o.lease_ttl = Duration::zero(); }),
            "default_kv_lease_ttl is 0 ms, it must be more than 0");
  EXPECT_NE(check([](CoreOptions& o) { o.eviction_ratio = 1.5; }), "");
  EXPECT_NE(check([](CoreOptions& o) { o.eviction_high_watermark = -0.1; }), "");
  EXPECT_NE(check([](CoreOptions& o) { o.client_ttl = Seconds(-1); }), "");
  EXPECT_NE(check([](CoreOptions& o) { o.failure_threshold = kMaxFailureThreshold + 1; }), "");
  EXPECT_NE(check([](CoreOptions& o) { o.failure_window = Duration::zero(); }), "");
  EXPECT_NE(check([](CoreOptions& o) { o.quarantine = Duration::zero(); }), "");
  EXPECT_NE(check([](CoreOptions& o) { o.table_parts = 0; }), "");
  EXPECT_NE(check([](CoreOptions& o) { o.min_slice_bytes = 1; }), "");
}

TEST(AllocationStrategy, NamesRoundTrip) {
  for (const char* name :
       {"random", "free_ratio_first", "ssd_free_ratio_first", "local_first", "cxl"}) {
    const auto strategy = ParseAllocationStrategy(name);
    ASSERT_TRUE(strategy.has_value()) << name;
    EXPECT_EQ(AllocationStrategyName(*strategy), name);
  }
  EXPECT_FALSE(ParseAllocationStrategy("best").has_value());
}

}  // namespace
}  // namespace mooncake::core
