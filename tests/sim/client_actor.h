// A client: the real PutSession and PlanRead, one operation at a time, chosen by chance.
#pragma once

#include <map>
#include <memory>
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
};

class ClientActor final : public Actor {
 public:
  ClientActor(World& world, int id, Masters& masters, Nodes& nodes, Oracle& oracle, uint32_t keys,
              Canary canary, uint64_t pause_us, ClientCounts& counts);

  void OnCrash() override { master_.Reset(); }
  void OnRestart() override {
    ambush_write_ = ambush_read_ = Duration::zero();
    Start();
  }

  // Freezes at the worst moment: in the middle of its next write (or read), for so long.
  void AmbushNextWrite(Duration length) { ambush_write_ = length; }
  void AmbushNextRead(Duration length) { ambush_read_ = length; }

  // One write and one read of it, for the convergence check: `done(true)` if both worked.
  void PutThenGet(const std::string& key, std::function<void(bool)> done);

 private:
  struct PutOp;
  struct GetOp;

  void Start();
  void Next();
  std::string RandomKey();
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
  void FinishRead(const std::shared_ptr<GetOp>& op);
  void NextReplica(const std::shared_ptr<GetOp>& op);

  void Metadata();
  void Spring(Duration& ambush);

  MasterLink master_;
  Nodes& nodes_;
  Oracle& oracle_;
  const uint32_t keys_;
  const Canary canary_;
  const uint64_t pause_us_;  // between two operations, at most
  ClientCounts& counts_;
  Duration ambush_write_{};
  Duration ambush_read_{};
};

}  // namespace mooncake::sim
