// A core with a hand-driven clock and short forms of its operations. Checks the invariants at the end of each test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "master/core/metadata_core.h"

namespace mooncake::core {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr ClientId kWriter{7, 7};
inline constexpr ClientId kOther{8, 8};

class CoreTest : public ::testing::Test {
 protected:
  CoreTest() {
    options_.table_parts = 4;
    // Tests about eviction ask for it; in the others nothing vanishes by itself.
    options_.eviction_high_watermark = 1.0;
    options_.segment_high_watermark = 1.0;
    options_.client_ttl = Seconds(1000000);
  }
  ~CoreTest() override {
    if (core_ != nullptr) {
      EXPECT_EQ(core_->CheckInvariants(now_).value_or(""), "");
    }
  }

  MetadataCore& core() {
    if (core_ == nullptr) core_ = std::make_unique<MetadataCore>(options_, Term{5}, 1);
    return *core_;
  }

  static ClientId Node(const std::string& name) { return {1, std::hash<std::string>()(name)}; }
  static SegmentDescriptor Describe(const std::string& name, uint64_t size,
                                    const std::string& host = "", uint64_t life = 1) {
    SegmentDescriptor d;
    d.id = {life, std::hash<std::string>()(name)};
    d.name = name;
    d.size = size;
    d.epoch = {1};
    d.owner = Node(name);
    d.host_id = host.empty() ? "host-of-" + name : host;
    return d;
  }
  SegmentDescriptor Mount(const std::string& name, uint64_t size, const std::string& host = "",
                          uint64_t life = 1) {
    const SegmentDescriptor d = Describe(name, size, host, life);
    EXPECT_EQ(core().MountSegment(now_, d.owner, d), Status::Ok());
    return d;
  }
  void Unmount(const SegmentDescriptor& d) {
    EXPECT_EQ(core().UnmountSegment(now_, d.owner, d.id), Status::Ok());
  }

  static ObjectName Name(const std::string& key) { return {kDefaultTenant, key}; }
  Result<PutStartReply> Start(const std::string& key, uint64_t size,
                              const ReplicateConfig& config = {},
                              WriteMode mode = WriteMode::kCreate, const ClientId& client = kWriter,
                              PutId expected = kNoPut) {
    return core().PutStart(now_, {client, Name(key), size, mode, config, expected});
  }
  Status End(const std::string& key, PutId id, const ClientId& client = kWriter) {
    return core().PutEnd(now_, 1234, {client, Name(key), id, std::nullopt});
  }
  Status Revoke(const std::string& key, PutId id, bool settled, const ClientId& client = kWriter) {
    return core().PutRevoke(now_, {client, Name(key), id, settled});
  }
  PutId Put(const std::string& key, uint64_t size, const ReplicateConfig& config = {},
            WriteMode mode = WriteMode::kCreate) {
    const auto start = Start(key, size, config, mode);
    EXPECT_TRUE(start.ok()) << start.status();
    if (!start.ok()) return kNoPut;
    EXPECT_EQ(End(key, start->put_id), Status::Ok());
    return start->put_id;
  }
  PutId Upsert(const std::string& key, uint64_t size, const ReplicateConfig& config = {}) {
    return Put(key, size, config, WriteMode::kReplace);
  }

  Result<ReplicaList> Get(const std::string& key) { return core().GetReplicaList(now_, Name(key)); }
  bool Exists(const std::string& key) {
    return core().ExistKey(now_, Name(key), false).value_or(false);
  }
  Status Remove(const std::string& key, bool force = false) {
    return core().Remove(now_, Name(key), force);
  }
  uint64_t Used() { return core().GetStatus().used; }
  void Advance(Duration d) { now_ += d; }
  void TickAll() {
    while (core().Tick(now_, 100).more) {
    }
  }
  std::vector<std::string> Keys(const std::string& prefix = "") {
    const auto list = core().ListObjects(now_, {.prefix = prefix, .limit = kMaxListLimit});
    std::vector<std::string> keys;
    if (list.ok()) {
      for (const ListEntry& entry : list.value().entries) keys.push_back(entry.key);
    }
    return keys;
  }

  CoreOptions options_;
  TimePoint now_{Seconds(1000)};

 private:
  std::unique_ptr<MetadataCore> core_;
};

}  // namespace mooncake::core
