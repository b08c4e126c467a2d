// What every MasterApi must do, whatever is between the caller and the metadata. A test program includes this file once and
// says  MC_INSTANTIATE_MASTER_API_SUITE(Name, factory);  the tests are in master_api/suite_*.cc, linked to it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "master/api/master_api.h"
#include "transfer/base/manual_clock.h"

namespace mooncake::testing {

// One cluster's metadata, fresh for each test, on a clock that the test moves.
class MasterApiWorld {
 public:
  virtual ~MasterApiWorld() = default;
  virtual MasterApi& api() = 0;
  virtual ManualClock& clock() = 0;  // the master's
  virtual TimePoint Deadline() = 0;  // far away, on the caller's clock
  virtual void Tick() = 0;           // all background work that is due
};
using MasterApiWorldFactory = std::unique_ptr<MasterApiWorld> (*)();

inline constexpr uint64_t kSegmentBytes = uint64_t{16} << 20;

class MasterApiSuite : public ::testing::TestWithParam<MasterApiWorldFactory> {
 protected:
  MasterApiSuite() : world_(GetParam()()) {}

  MasterApi& api() { return world_->api(); }
  TimePoint Soon() { return world_->Deadline(); }

  static SegmentDescriptor Segment(uint64_t number, const std::string& name,
                                   uint64_t size = kSegmentBytes) {
    return {SegmentId{7, number},
            name,
            size,
            AccessEpoch{1},
            Node(number),
            "host" + std::to_string(number),
            "tcp",
            "10.0.0.1:7",
            "@socket"};
  }
  static ClientId Node(uint64_t number) { return ClientId{8, number}; }
  static ObjectName Name(std::string_view key) { return {kDefaultTenant, std::string(key)}; }

  // Makes room; node `number` is alive.
  void Mount(uint64_t number, uint64_t size = kSegmentBytes) {
    ASSERT_TRUE(api().Ping(Node(number), "node", Soon()).ok());
    ASSERT_EQ(api().MountSegment(Node(number),
                                 Segment(number, "segment" + std::to_string(number), size), Soon()),
              Status::Ok());
  }
  Result<PutStartReply> Start(const ObjectName& name, uint64_t size,
                              WriteMode mode = WriteMode::kCreate, PutId expected = kNoPut) {
    const PutStartArgs args{client_, name, size, mode, {}, expected};
    return std::move(api().BatchPutStart({&args, 1}, Soon()).front());
  }
  Status End(const ObjectName& name, PutId put_id,
             std::optional<ObjectAttributes> attributes = std::nullopt) {
    const PutEndArgs args{client_, name, put_id, attributes};
    return api().BatchPutEnd({&args, 1}, Soon()).front();
  }
  Status Revoke(const ObjectName& name, PutId put_id, bool settled = true) {
    const PutRevokeArgs args{client_, name, put_id, settled};
    return api().BatchPutRevoke({&args, 1}, Soon()).front();
  }
  // A readable object; its version.
  PutId Put(const ObjectName& name, uint64_t size = 100, WriteMode mode = WriteMode::kCreate) {
    const auto started = Start(name, size, mode);
    EXPECT_TRUE(started.ok()) << started.status();
    if (!started.ok()) return kNoPut;
    EXPECT_EQ(End(name, started->put_id), Status::Ok());
    return started->put_id;
  }
  Result<ReplicaList> Get(const ObjectName& name) {
    return std::move(api().BatchGetReplicaList({&name, 1}, Soon()).front());
  }
  Result<bool> Exists(const ObjectName& name, bool lease = false) {
    return api().BatchExistKey({&name, 1}, lease, Soon()).front();
  }
  Result<ObjectStat> Stat(const ObjectName& name) {
    return std::move(api().BatchStat({&name, 1}, Soon()).front());
  }
  Result<Duration> Renew(const ObjectName& name, PutId put_id) {
    const LeaseRef lease{name, put_id};
    return api().BatchRenewLease({&lease, 1}, Soon()).front();
  }
  Status Remove(const ObjectName& name, bool force = false) {
    return api().BatchRemove({&name, 1}, force, Soon()).front();
  }
  // Keys under `prefix`, in the order of the listing; "x/" for common prefixes.
  std::vector<std::string> Keys(const std::string& prefix, const std::string& delimiter = "") {
    const auto list = api().ListObjects({.prefix = prefix, .delimiter = delimiter}, Soon());
    EXPECT_TRUE(list.ok()) << list.status();
    std::vector<std::string> keys;
    if (list.ok()) {
      for (const ListEntry& entry : list->entries) keys.push_back(entry.key);
    }
    return keys;
  }
  void Pass(Duration d) {
    world_->clock().Advance(d);
    world_->Tick();
  }

  const std::unique_ptr<MasterApiWorld> world_;
  const ClientId client_{9, 9};
};

}  // namespace mooncake::testing

#define MC_INSTANTIATE_MASTER_API_SUITE(name, factory)                        \
  namespace mooncake::testing {                                               \
  INSTANTIATE_TEST_SUITE_P(name, MasterApiSuite, ::testing::Values(factory)); \
  }
