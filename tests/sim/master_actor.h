// The master: the real MetadataCore behind a front that tells the oracle what happened.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "master/core/metadata_core.h"
#include "tests/sim/oracle.h"
#include "tests/sim/world.h"

namespace mooncake::sim {

class MasterActor final : public Actor {
 public:
  MasterActor(World& world, int id, Oracle& oracle, const core::CoreOptions& options,
              Canary canary);

  void OnCrash() override;
  void OnRestart() override;

  core::MetadataCore& core() { return *core_; }
  uint64_t evicted() const { return core_ ? core_->GetCounters().evicted_objects : 0; }

  Result<PingReply> Ping(const ClientId& client, const std::string& address);
  Status Mount(const ClientId& client, const SegmentDescriptor& segment);
  bool Knows(const SegmentDescriptor& segment);

  Result<PutStartReply> PutStart(const PutStartArgs& args, uint64_t token);
  Status PutEnd(const PutEndArgs& args);
  Status PutRevoke(const PutRevokeArgs& args);
  Result<ReplicaList> Get(const std::string& key);
  Result<Duration> Renew(const std::string& key, PutId put_id);
  Status Remove(const std::string& key, bool force);
  Status Rename(const std::string& from, const std::string& to, bool no_replace);
  Result<bool> Exist(const std::string& key, bool lease);
  Result<ObjectStat> Stat(const std::string& key);
  Result<ListReply> List(const std::string& prefix, const std::string& delimiter);
  Result<uint64_t> RemoveAll();

 private:
  void Start();
  void Tick();
  void NoteLosses();
  void TraceStart(const std::string& key, const PutStartReply& reply);
  void TraceDone(const std::string& what, const std::string& key, const Status& status);

  Oracle& oracle_;
  core::CoreOptions options_;
  const Canary canary_;
  uint64_t term_ = 0;
  std::unique_ptr<core::MetadataCore> core_;
  std::map<std::string, PutId> last_started_;
  uint64_t losses_seen_ = 0;
};

}  // namespace mooncake::sim
