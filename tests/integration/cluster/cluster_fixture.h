// What the tests of a real cluster share.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "client/store_client.h"
#include "master/api/master_api.h"
#include "tests/support/cluster_process.h"
#include "tests/support/wait.h"
#include "transfer/base/clock.h"

namespace mooncake::testing {

// Time-outs short enough to be waited for.
inline MasterSpec QuickMaster() {
  return {.flags = {"--client_ttl=2s", "--default_kv_lease_ttl=1s",
                    "--put_start_discard_timeout_sec=1s", "--put_start_release_timeout_sec=3s"}};
}

inline PutOptions On(const std::string& segment, WriteMode mode = WriteMode::kCreate) {
  PutOptions options;
  options.mode = mode;
  options.config.preferred_segments = {segment};
  return options;
}

inline PutOptions Replacing() {
  PutOptions options;
  options.mode = WriteMode::kReplace;
  return options;
}

inline TimePoint In(Duration d) { return SystemClock().Now() + d; }

inline ClusterStatus StatusOf(Client& client) {
  auto status = client.master().GetStatus(In(Seconds(10)));
  EXPECT_TRUE(status.ok()) << status.message();
  return status.value_or(ClusterStatus{});
}

// A client that sends everything through sockets, as one on another host would.
inline ClientOptions OverTcp(Duration timeout = Seconds(30)) {
  ClientOptions options;
  options.use_shared_memory = false;
  options.timeout = timeout;
  return options;
}

// Empty, or right; anything else is a broken promise (P1).
inline void ExpectRightOrError(const std::string& key, const Status& status,
                               const std::string& value) {
  if (status.ok()) {
    EXPECT_TRUE(VersionOf(key, value))
        << "wrong bytes under " << key << ", " << value.size() << " of them";
  } else {
    EXPECT_TRUE(value.empty()) << "bytes of a failed read of " << key;
  }
}

}  // namespace mooncake::testing
