#include "tests/sim/client_actor.h"

#include <algorithm>
#include <utility>

namespace mooncake::sim {
namespace {

uint64_t RandomSize(Rng& rng) {
  switch (rng.Below(6)) {
    case 0:
      return 0;
    case 1:
      return rng.Between(1, 200);
    case 2:
      return rng.Between(4000, 4200);
    case 3:
      return rng.Between(1, 64) * 1024;
    default:
      return rng.Between(1, 300'000);
  }
}

}  // namespace

struct ClientActor::PutOp {
  ClientId client;
  std::string key;
  uint64_t token = 0;
  PutStartReply reply;
  std::unique_ptr<PutSession> session;
  std::vector<Status> outcomes;
  size_t open = 0;
  bool all_fenced = true;
  TimePoint granted{};
  std::function<void(bool)> done;
};

ClientActor::ClientActor(World& world, int id, Masters& masters, Nodes& nodes, Oracle& oracle,
                         const ClientSetup& setup, ClientCounts& counts)
    : Actor(world, id, "client" + std::to_string(id)),
      master_(world, *this, masters),
      nodes_(nodes),
      oracle_(oracle),
      setup_(setup),
      counts_(counts) {
  Start();
}

void ClientActor::Start() {
  world_.After(*this, Millis(20), [this] { Next(); });
}

std::string ClientActor::RandomKey() {
  // Seldom below the third directory, so that whole ones can be renamed to it.
  const uint64_t directory = world_.rng.Chance(1, 20) ? 2 : world_.rng.Below(2);
  return "d" + std::to_string(directory) + "/k" + std::to_string(world_.rng.Below(setup_.keys));
}

NodeActor* ClientActor::Find(const SegmentId& segment) {
  for (const auto& node : nodes_) {
    if (node->segment() == segment) return node.get();
  }
  return nullptr;
}

void ClientActor::Next() {
  ++counts_.operations;
  const auto again = [this](bool) {
    world_.After(*this, std::chrono::microseconds(world_.rng.Between(10, setup_.pause_us)),
                 [this] { Next(); });
  };
  const uint64_t choice = world_.rng.Below(100);
  if (choice < 30) {
    const WriteMode mode = world_.rng.Chance(1, 2) ? WriteMode::kReplace : WriteMode::kCreate;
    Put(RandomKey(), mode, RandomSize(world_.rng), static_cast<uint32_t>(world_.rng.Between(1, 2)),
        again);
  } else if (choice < 80) {
    Get(RandomKey(), again);
  } else {
    Metadata();
    again(true);
  }
}

void ClientActor::Spring(Duration& ambush) {
  if (ambush == Duration::zero()) return;
  world_.Freeze(*this);
  world_.After(ambush, [this] { world_.Resume(*this); });
  ambush = Duration::zero();
}

void ClientActor::Decorate(ReplicateConfig& config) {
  if (world_.rng.Chance(1, 6)) config.group = "g" + std::to_string(world_.rng.Below(2));
  if (world_.rng.Chance(1, 8)) {
    config.soft_pin = SoftPinAction::kEnable;
    config.soft_pin_ttl = Seconds(static_cast<int64_t>(world_.rng.Between(1, 20)));
  }
  config.hard_pin = world_.rng.Chance(1, 60);
}

void ClientActor::Put(const std::string& key, WriteMode mode, uint64_t size, uint32_t replicas,
                      std::function<void(bool)> done) {
  auto op = std::make_shared<PutOp>();
  op->key = key;
  op->client = Identity();
  op->token = world_.rng.Next() | 1;
  op->granted = world_.now();
  op->done = std::move(done);
  PutStartArgs args;
  args.client = op->client;
  args.name.key = key;
  args.size = size;
  args.mode = mode;
  args.config.replica_num = replicas;
  Decorate(args.config);
  master_.Ask<Result<PutStartReply>>(
      kRpc, [args, op](MasterActor& m) { return m.PutStart(args, op->token); },
      [this, op, size](std::optional<Result<PutStartReply>> reply) {
        if (!reply || !reply->ok()) {
          ++counts_.puts_failed;
          return op->done(false);
        }
        op->reply = **reply;
        op->session = std::make_unique<PutSession>(op->reply, size);
        Drive(op);
      });
}

void ClientActor::Drive(const std::shared_ptr<PutOp>& op) {
  PutSession& session = *op->session;
  const ObjectName name{kDefaultTenant, op->key};
  switch (session.phase()) {
    case PutSession::Phase::kWriting:
      return WriteAll(op);
    case PutSession::Phase::kFencing:
      return FenceAll(op);
    case PutSession::Phase::kEnding: {
      PutEndArgs args;
      args.client = op->client;
      args.name = name;
      args.put_id = session.put_id();
      return master_.Ask<Status>(
          kRpc, [args](MasterActor& m) { return m.PutEnd(args); },
          [this, op](std::optional<Status> reply) {
            op->session->OnEnd(reply ? *reply : NoAnswer());
            Drive(op);
          });
    }
    case PutSession::Phase::kRevoking: {
      PutRevokeArgs args;
      args.client = op->client;
      args.name = name;
      args.put_id = session.put_id();
      args.settled = session.settled();
      return master_.Ask<Status>(
          kRpc, [args](MasterActor& m) { return m.PutRevoke(args); },
          [this, op](std::optional<Status> reply) {
            op->session->OnRevoke(reply ? *reply : NoAnswer());
            Drive(op);
          });
    }
    case PutSession::Phase::kDone: {
      const Status& outcome = session.outcome();
      ++(outcome.ok() ? counts_.puts_ok : counts_.puts_failed);
      oracle_.PutReturned(op->key, session.put_id(), outcome);
      return op->done(outcome.ok());
    }
  }
}

void ClientActor::WriteAll(const std::shared_ptr<PutOp>& op) {
  const size_t count = op->session->writes().size();
  op->outcomes.assign(count, Status::Ok());
  op->open = count;
  if (count == 0) {
    op->session->OnWrites(op->outcomes);
    return Drive(op);
  }
  for (size_t i = 0; i < count; ++i) WriteOne(op, i, 0, world_.rng.Next());
}

void ClientActor::WriteOne(const std::shared_ptr<PutOp>& op, size_t index, uint64_t written,
                           uint64_t request) {
  const PutWrite& write = op->session->writes()[index];
  const Extent& extent = write.extent;
  NodeActor* node = Find(extent.segment);
  if (node == nullptr) return Wrote(op, index, Status(ErrorCode::kSegmentNotFound, "gone"));
  const uint64_t left = extent.length - written;
  const uint64_t step = left <= 1 ? left : world_.rng.Between(1, left);
  NodeActor::WriteChunk chunk;
  chunk.segment = extent.segment;
  chunk.epoch = extent.epoch;
  chunk.grant = WriteGrant{op->reply.put_id, op->reply.write_deadline_ms};
  chunk.offset = extent.offset + written;
  chunk.length = step;
  chunk.token = op->token;
  chunk.at = write.object_offset + written;
  chunk.request = request;
  if (step == left) {
    chunk.seal = Seal{op->reply.put_id, extent.length, false, false, 0};
    chunk.seal_offset = extent.offset + SealOffset(extent.length);
  }
  const bool late = late_write_ > Duration::zero();
  if (late) world_.DelayNext(late_write_);
  world_.Call<Status>(
      *this, *node, kChunkTimeout, [node, chunk] { return node->Write(chunk); },
      [this, op, index, written, step, left, request](std::optional<Status> reply) {
        if (!reply) return Wrote(op, index, NoAnswer());
        if (!reply->ok() || step == left) return Wrote(op, index, *reply);
        Spring(ambush_write_);
        world_.After(*this, Duration::zero(), [this, op, index, written, step, request] {
          WriteOne(op, index, written + step, request);
        });
      },
      // The transport never lets a write land after it was acknowledged (tcp/PROTOCOL.md).
      World::Repeats::kNever);
  if (late) CutAfterLateWrite(*node);
}

void ClientActor::CutAfterLateWrite(NodeActor& node) {
  world_.Cut(*this, node);
  ++world_.cut;
  world_.After(std::exchange(late_write_, Duration::zero()),
               [this, &node] { world_.Mend(*this, node); });
}

void ClientActor::Wrote(const std::shared_ptr<PutOp>& op, size_t index, const Status& status) {
  op->outcomes[index] = status;
  if (--op->open > 0) return;
  op->session->OnWrites(op->outcomes);
  Drive(op);
}

void ClientActor::FenceAll(const std::shared_ptr<PutOp>& op) {
  const std::vector<SegmentId> segments = op->session->to_fence();
  op->open = segments.size();
  op->all_fenced = true;
  const auto one = [this, op](bool fenced) {
    op->all_fenced = op->all_fenced && fenced;
    if (--op->open > 0) return;
    op->session->OnFences(op->all_fenced);
    Drive(op);
  };
  for (const SegmentId& segment : segments) {
    NodeActor* node = Find(segment);
    if (node == nullptr) {
      one(false);
      continue;
    }
    const PutId put_id = op->session->put_id();
    world_.Call<Status>(
        *this, *node, kRpc, [node, put_id] { return node->Fence(put_id); },
        [one](std::optional<Status> reply) { one(reply && reply->ok()); });
  }
}

void ClientActor::PutThenGet(const std::string& key, std::function<void(bool)> done) {
  Put(key, WriteMode::kReplace, 5000, 1, [this, key, done = std::move(done)](bool ok) {
    if (!ok) return done(false);
    Get(key, done);
  });
}

}  // namespace mooncake::sim
