// How a client reads: a replica list, then the pieces that PlanRead says, each in two halves at two moments.
#include <algorithm>

#include "client/core/read_plan.h"
#include "tests/sim/client_actor.h"

namespace mooncake::sim {
namespace {

constexpr uint64_t kMaxPiece = 64 * 1024;

}  // namespace

struct ClientActor::GetOp {
  std::string key;
  TimePoint started{};
  TimePoint lease_end{};
  ReplicaList list;
  size_t replica = 0;
  std::vector<mooncake::ReadPiece> plan;
  size_t piece = 0;
  std::vector<Piece> bytes;
  bool by_mapping = false;
  bool finished = false;
  std::function<void(bool)> done;
};

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
        op->lease_end = op->started + op->list.lease;
        MayRenew(op);
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

// A long read keeps its lease. An answer that says the version was never given up makes good a lease that had ended.
void ClientActor::MayRenew(const std::shared_ptr<GetOp>& op) {
  if (!world_.rng.Chance(1, 4)) return;
  const auto wait = Duration(world_.rng.Below(static_cast<uint64_t>(op->list.lease.count()) + 1));
  world_.After(*this, wait, [this, op] {
    if (op->finished) return;
    const TimePoint asked = world_.now();
    master_.Ask<Result<Duration>>(
        kRpc, [key = op->key, id = op->list.put_id](MasterActor& m) { return m.Renew(key, id); },
        [this, op, asked](const std::optional<Result<Duration>>& lease) {
          if (!lease || !lease->ok()) return;
          ++counts_.renewals;
          op->lease_end = std::max(op->lease_end, asked + **lease);
        });
  });
}

void ClientActor::NextReplica(const std::shared_ptr<GetOp>& op) {
  if (world_.rng.Chance(1, 2) && op->piece < op->plan.size())
    ReportFailure(op->list.replicas[op->replica].extents[op->plan[op->piece].extent].segment);
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
  const bool check_seal =
      setup_.canary != Canary::kNoLeaseCheck && setup_.canary != Canary::kShortLease;
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
  op->finished = true;
  if (world_.now() > op->lease_end && setup_.canary != Canary::kNoLeaseCheck) {
    ++counts_.leases_lost;
    return op->done(false);
  }
  ++counts_.gets_ok;
  world_.Note(op->list.put_id.value);
  oracle_.GetReturned(op->key, op->started, op->list.put_id, op->list.size, op->bytes);
  op->done(true);
}

}  // namespace mooncake::sim
