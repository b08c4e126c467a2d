// A client: the real PutSession and PlanRead, one operation at a time, chosen by chance.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/core/put_session.h"
#include "tests/sim/master_link.h"
#include "tests/sim/node_actor.h"
#include "tests/sim/oracle.h"
#include "tests/sim/world.h"

namespace mooncake::sim {

using Nodes = std::vector<std::unique_ptr<NodeActor>>;

struct ClientCounts {
  uint64_t operations = 0;
  uint64_t puts_ok = 0, puts_failed = 0;
  uint64_t gets_ok = 0, gets_failed = 0, not_found = 0;
  uint64_t leases_lost = 0;  // reads thrown away because the lease ended first
  uint64_t renewals = 0;
  uint64_t removed = 0, renamed = 0, directories_renamed = 0, cleared = 0;  // acknowledged
  uint64_t reported = 0;  // segments that a read failed on
};

// What all clients of a run share.
struct ClientSetup {
  uint32_t keys = 0;      // a directory
  uint64_t pause_us = 0;  // between two operations, at most
  // Of requests that are neither puts nor gets: this many percent rename directories.
  uint64_t directory_percent = 4;
  Canary canary = Canary::kNone;
};

class ClientActor final : public Actor {
 public:
  ClientActor(World& world, int id, Masters& masters, Nodes& nodes, Oracle& oracle,
              const ClientSetup& setup, ClientCounts& counts);

  void OnCrash() override { master_.Reset(); }
  void OnRestart() override {
    ambush_write_ = ambush_read_ = late_write_ = Duration::zero();
    Start();
  }

  // Freezes at the worst moment: in the middle of its next write (or read), for so long.
  void AmbushNextWrite(Duration length) { ambush_write_ = length; }
  void AmbushNextRead(Duration length) { ambush_read_ = length; }

  // A part of its next write arrives so late, and the node cannot be reached until then.
  void DelayNextWrite(Duration delay) { late_write_ = delay; }

  // One write and one read of it, for the convergence check: `done(true)` if both worked.
  void PutThenGet(const std::string& key, std::function<void(bool)> done);

 private:
  static constexpr Duration kRpc = Seconds(2);
  static constexpr Duration kChunkTimeout = Seconds(5);

  struct PutOp;
  struct GetOp;

  void Start();
  void Next();
  std::string RandomKey();
  std::string RandomDirectory() { return "d" + std::to_string(world_.rng.Below(3)) + "/"; }
  ClientId Identity() const { return {0xc11e, static_cast<uint64_t>(id()) << 32 | life()}; }
  void Decorate(ReplicateConfig& config);
  NodeActor* Find(const SegmentId& segment);

  void Put(const std::string& key, WriteMode mode, uint64_t size, uint32_t replicas,
           std::function<void(bool)> done);
  void Drive(const std::shared_ptr<PutOp>& op);
  void WriteAll(const std::shared_ptr<PutOp>& op);
  void WriteOne(const std::shared_ptr<PutOp>& op, size_t index, uint64_t written, uint64_t request);
  void Wrote(const std::shared_ptr<PutOp>& op, size_t index, const Status& status);
  void FenceAll(const std::shared_ptr<PutOp>& op);

  void Get(const std::string& key, std::function<void(bool)> done);
  void ReadReplica(const std::shared_ptr<GetOp>& op);
  void ReadPiece(const std::shared_ptr<GetOp>& op);
  void ReadHalves(const std::shared_ptr<GetOp>& op, NodeActor& node);
  void MayRenew(const std::shared_ptr<GetOp>& op);
  void FinishRead(const std::shared_ptr<GetOp>& op);
  void NextReplica(const std::shared_ptr<GetOp>& op);

  void Metadata();
  void RemoveKey(const std::string& key);
  void RenameKey(const std::string& key, const std::string& other);
  void AskExist(const std::string& key);
  void AskStat(const std::string& key);
  void AskList();
  void ClearReplicas(const std::string& key);
  void RenameDirectory();
  void RemoveSome();
  void ReportFailure(const SegmentId& segment);
  static void CountDone(uint64_t& count, const std::optional<Status>& reply) {
    count += reply && reply->ok();
  }
  void Spring(Duration& ambush);
  void CutAfterLateWrite(NodeActor& node);

  MasterLink master_;
  Nodes& nodes_;
  Oracle& oracle_;
  const ClientSetup setup_;
  ClientCounts& counts_;
  Duration ambush_write_{};
  Duration ambush_read_{};
  Duration late_write_{};
};

}  // namespace mooncake::sim
