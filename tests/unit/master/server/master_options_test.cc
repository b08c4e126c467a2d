// The master's options: each in the help with the default that the code has, and nonsense is refused.
#include "master/server/master_options.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

Status Parsed(std::vector<const char*> arguments, MasterOptions& options) {
  ConfigReader reader("program", "x");
  DescribeMasterOptions(options, reader);
  arguments.insert(arguments.begin(), "program");
  const auto outcome = reader.Read(static_cast<int>(arguments.size()), arguments.data());
  RETURN_IF_ERROR(outcome.status());
  return FinishMasterOptions(options);
}

TEST(MasterOptions, DefaultsAreValidAndAsDocumented) {
  MasterOptions options;
  ASSERT_EQ(Parsed({}, options), Status::Ok());
  EXPECT_EQ(options.rpc_port, 50051);
  EXPECT_EQ(options.metrics_port, 9003);
  EXPECT_EQ(options.core.lease_ttl, Seconds(10));
  EXPECT_EQ(options.core.client_ttl, Seconds(10));
  EXPECT_EQ(options.core.put_start_discard_timeout, Seconds(30));
  EXPECT_EQ(options.core.put_start_release_timeout, Seconds(600));
}

TEST(MasterOptions, BareNumbersHaveTheUnitThatTheirNameSays) {
  MasterOptions options;
  ASSERT_EQ(Parsed({"--default_kv_lease_ttl=5000", "--client_ttl=20",
                    "--put_start_discard_timeout_sec=7", "--rpc_conn_timeout_seconds=9"},
                   options),
            Status::Ok());
  EXPECT_EQ(options.core.lease_ttl, Seconds(5));
  EXPECT_EQ(options.core.client_ttl, Seconds(20));
  EXPECT_EQ(options.core.put_start_discard_timeout, Seconds(7));
  EXPECT_EQ(options.rpc_idle_timeout, Seconds(9));
}

TEST(MasterOptions, RefusesWhatMakesNoSense) {
  for (const char* argument : {"--eviction_ratio=1.5", "--eviction_high_watermark_ratio=-1",
                               "--put_start_release_timeout_sec=10s", "--max_kv_soft_pin_ttl=1s",
                               "--client_ttl=0", "--max_connections=0", "--memory_allocator=slab",
                               "--segment_failure_threshold=65", "--segment_quarantine=0"}) {
    MasterOptions options;
    EXPECT_EQ(Parsed({argument}, options).code(), ErrorCode::kInvalidParams) << argument;
  }
}

TEST(MasterOptions, BothAllocatorsHaveAName) {
  MasterOptions options;
  EXPECT_EQ(options.core.memory_allocator, core::MemoryAllocator::kOffset);
  ASSERT_EQ(Parsed({"--memory_allocator=cachelib"}, options), Status::Ok());
  EXPECT_EQ(options.core.memory_allocator, core::MemoryAllocator::kCachelib);
}

TEST(MasterOptions, HelpNamesEachOption) {
  MasterOptions options;
  ConfigReader reader("mooncake-master", "x");
  DescribeMasterOptions(options, reader);
  const std::string help = reader.Help();
  for (const char* name : {"rpc_address",
                           "rpc_port",
                           "max_connections",
                           "rpc_conn_timeout_seconds",
                           "metrics_host",
                           "metrics_port",
                           "enable_metric_reporting",
                           "log_dir",
                           "v",
                           "default_kv_lease_ttl",
                           "default_kv_soft_pin_ttl",
                           "max_kv_soft_pin_ttl",
                           "put_start_discard_timeout_sec",
                           "put_start_release_timeout_sec",
                           "client_ttl",
                           "eviction_high_watermark_ratio",
                           "segment_high_watermark_ratio",
                           "eviction_ratio",
                           "allow_evict_soft_pinned_objects",
                           "memory_allocator",
                           "allocation_strategy",
                           "eviction_policy",
                           "segment_failure_threshold",
                           "segment_failure_window",
                           "segment_quarantine",
                           "min_slice_size",
                           "config_path"}) {
    EXPECT_NE(help.find(std::string("  --") + name), std::string::npos) << name;
  }
  EXPECT_NE(help.find("Exit status"), std::string::npos);
}

}  // namespace
}  // namespace mooncake
