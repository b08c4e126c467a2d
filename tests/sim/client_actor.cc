#include "tests/sim/client_actor.h"

#include <algorithm>

#include "client/core/read_plan.h"

namespace mooncake::sim {
namespace {

constexpr Duration kRpc = Seconds(2);
constexpr Duration kChunkTimeout = Seconds(5);
constexpr uint64_t kMaxPiece = 64 * 1024;

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

struct ClientActor::GetOp {
  std::string key;
  TimePoint started{};
  ReplicaList list;
  size_t replica = 0;
  std::vector<mooncake::ReadPiece> plan;
  size_t piece = 0;
  std::vector<Piece> bytes;
  bool by_mapping = false;
  std::function<void(bool)> done;
};

ClientActor::ClientActor(World& world, int id, Masters& masters, Nodes& nodes, Oracle& oracle,
                         uint32_t keys, Canary canary, uint64_t pause_us, ClientCounts& counts)
    : Actor(world, id, "client" + std::to_string(id)),
      master_(world, *this, masters),
      nodes_(nodes),
      oracle_(oracle),
      keys_(keys),
      canary_(canary),
      pause_us_(pause_us),
      counts_(counts) {
  Start();
}

void ClientActor::Start() {
  world_.After(*this, Millis(20), [this] { Next(); });
}

std::string ClientActor::RandomKey() {
  return "d" + std::to_string(world_.rng.Below(2)) + "/k" + std::to_string(world_.rng.Below(keys_));
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
    world_.After(*this, std::chrono::microseconds(world_.rng.Between(10, pause_us_)),
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

void ClientActor::Metadata() {
  const std::string key = RandomKey();
  const std::string other = RandomKey();
  const TimePoint started = world_.now();
  switch (world_.rng.Below(5)) {
    case 0: {
      const bool force = world_.rng.Chance(1, 2);
      master_.Ask<Status>(
          kRpc, [key, force](MasterActor& m) { return m.Remove(key, force); },
          [](std::optional<Status>) {});
      return;
    }
    case 1: {
      const bool no_replace = world_.rng.Chance(1, 3);
      master_.Ask<Status>(
          kRpc,
          [key, other, no_replace](MasterActor& m) { return m.Rename(key, other, no_replace); },
          [](std::optional<Status>) {});
      return;
    }
    case 2:
      master_.Ask<Result<bool>>(
          kRpc, [key](MasterActor& m) { return m.Exist(key, false); },
          [this, key, started](std::optional<Result<bool>> reply) {
            if (reply && reply->ok() && !**reply) oracle_.NotFoundReturned(key, started);
          });
      return;
    case 3:
      master_.Ask<Result<ObjectStat>>(
          kRpc, [key](MasterActor& m) { return m.Stat(key); },
          [](std::optional<Result<ObjectStat>>) {});
      return;
    default:
      master_.Ask<Result<ListReply>>(
          kRpc, [](MasterActor& m) { return m.List("d", "/"); },
          [](std::optional<Result<ListReply>>) {});
  }
}

// --- writing -----------------------------------------------------------------------------------------------------

void ClientActor::Put(const std::string& key, WriteMode mode, uint64_t size, uint32_t replicas,
                      std::function<void(bool)> done) {
  auto op = std::make_shared<PutOp>();
  op->key = key;
  op->client = ClientId{0xc11e, static_cast<uint64_t>(id()) << 32 | life()};
  op->token = world_.rng.Next() | 1;
  op->granted = world_.now();
  op->done = std::move(done);
  PutStartArgs args;
  args.client = op->client;
  args.name.key = key;
  args.size = size;
  args.mode = mode;
  args.config.replica_num = replicas;
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

// --- reading -----------------------------------------------------------------------------------------------------

void ClientActor::Get(const std::string& key, std::function<void(bool)> done) {
  auto op = std::make_shared<GetOp>();
  op->key = key;
  op->started = world_.now();
  op->by_mapping = world_.rng.Chance(1, 3);
  op->done = std::move(done);
  master_.Ask<Result<ReplicaList>>(
      kRpc, [key](MasterActor& m) { return m.Get(key); },
      [this, op](std::optional<Result<ReplicaList>> reply) {
        if (!reply || !reply->ok()) {
          const bool missing = reply && reply->code() == ErrorCode::kObjectNotFound;
          ++(missing ? counts_.not_found : counts_.gets_failed);
          if (missing) oracle_.NotFoundReturned(op->key, op->started);
          return op->done(false);
        }
        op->list = **reply;
        ReadReplica(op);
      });
}

void ClientActor::ReadReplica(const std::shared_ptr<GetOp>& op) {
  op->bytes.clear();
  op->piece = 0;
  if (op->list.size == 0) return FinishRead(op);
  if (op->replica >= op->list.replicas.size()) {
    ++counts_.gets_failed;
    return op->done(false);
  }
  auto plan = PlanRead(op->list.replicas[op->replica], op->list.size, ByteRange{0, op->list.size},
                       kMaxPiece);
  if (!plan.ok()) {
    oracle_.Violation("garbage in a replica list: " + plan.status().ToString());
    return op->done(false);
  }
  op->plan = *plan;
  ReadPiece(op);
}

void ClientActor::NextReplica(const std::shared_ptr<GetOp>& op) {
  ++op->replica;
  ReadReplica(op);
}

void ClientActor::ReadPiece(const std::shared_ptr<GetOp>& op) {
  if (op->piece == op->plan.size()) return FinishRead(op);
  const mooncake::ReadPiece& piece = op->plan[op->piece];
  NodeActor* node = Find(op->list.replicas[op->replica].extents[piece.extent].segment);
  if (node == nullptr || !node->up()) return NextReplica(op);
  ReadHalves(op, *node);
}

// Two halves at two moments, as a copy takes time; each checks the epoch, the second one carries the seal.
void ClientActor::ReadHalves(const std::shared_ptr<GetOp>& op, NodeActor& node) {
  const mooncake::ReadPiece piece = op->plan[op->piece];
  const Extent extent = op->list.replicas[op->replica].extents[piece.extent];
  const uint64_t half = world_.rng.Between(0, piece.length);
  const bool check_seal = canary_ != Canary::kNoLeaseCheck && canary_ != Canary::kShortLease;
  const auto second = [this, op, extent, piece, check_seal](const ReadReply& reply) {
    if (!reply.status.ok()) return NextReplica(op);
    if (piece.seal && check_seal) {
      const bool good = reply.seal && reply.seal->put_id == op->list.put_id &&
                        reply.seal->length == extent.length;
      if (!good) return NextReplica(op);
    }
    op->bytes.insert(op->bytes.end(), reply.pieces.begin(), reply.pieces.end());
    ++op->piece;
    ReadPiece(op);
  };
  const auto read_rest = [&node, extent, piece, half] {
    ReadReply reply = node.Read(extent.segment, extent.epoch, piece.segment_offset + half,
                                piece.length - half, false);
    // The seal lies behind the padding.
    if (piece.seal && reply.status.ok()) {
      reply.seal = node.Read(extent.segment, extent.epoch,
                             extent.offset + SealOffset(extent.length), 0, true)
                       .seal;
    }
    return reply;
  };
  const auto first = [this, op, &node, second, read_rest](const ReadReply& reply) {
    if (!reply.status.ok()) return NextReplica(op);
    op->bytes.insert(op->bytes.end(), reply.pieces.begin(), reply.pieces.end());
    Spring(ambush_read_);
    if (op->by_mapping) {
      world_.After(*this, std::chrono::microseconds(world_.rng.Between(0, 2000)),
                   [this, op, &node, second, read_rest] {
                     node.up() ? second(read_rest()) : NextReplica(op);
                   });
      return;
    }
    world_.Call<ReadReply>(*this, node, kChunkTimeout, read_rest,
                           [this, op, second](std::optional<ReadReply> rest) {
                             rest ? second(*rest) : NextReplica(op);
                           });
  };
  const auto read_first = [&node, extent, piece, half] {
    return node.Read(extent.segment, extent.epoch, piece.segment_offset, half, false);
  };
  if (op->by_mapping) return first(read_first());
  world_.Call<ReadReply>(*this, node, kChunkTimeout, read_first,
                         [this, op, first](std::optional<ReadReply> reply) {
                           reply ? first(*reply) : NextReplica(op);
                         });
}

void ClientActor::FinishRead(const std::shared_ptr<GetOp>& op) {
  if (world_.now() > op->started + op->list.lease && canary_ != Canary::kNoLeaseCheck) {
    ++counts_.leases_lost;
    return op->done(false);
  }
  ++counts_.gets_ok;
  world_.Note(op->list.put_id.value);
  oracle_.GetReturned(op->key, op->started, op->list.put_id, op->list.size, op->bytes);
  op->done(true);
}

void ClientActor::PutThenGet(const std::string& key, std::function<void(bool)> done) {
  Put(key, WriteMode::kReplace, 5000, 1, [this, key, done = std::move(done)](bool ok) {
    if (!ok) return done(false);
    Get(key, done);
  });
}

}  // namespace mooncake::sim
