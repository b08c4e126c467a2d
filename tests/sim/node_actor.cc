#include "tests/sim/node_actor.h"

#include <algorithm>

#include "tests/sim/master_link.h"

namespace mooncake::sim {
namespace {

constexpr Duration kRpcTimeout = Seconds(2);
constexpr Duration kMaxWrite = Seconds(20);  // served_segments.h: kMaxWriteDuration

}  // namespace

void SegmentMemory::Clear(uint64_t offset, uint64_t length) {
  const uint64_t end = offset + length;
  auto piece = pieces_.upper_bound(offset);
  if (piece != pieces_.begin()) --piece;
  while (piece != pieces_.end() && piece->first < end) {
    const uint64_t start = piece->first;
    const Piece old = piece->second;
    if (start + old.length <= offset) {
      ++piece;
      continue;
    }
    piece = pieces_.erase(piece);
    if (start < offset) pieces_[start] = {offset - start, old.token, old.at};
    if (start + old.length > end) {
      pieces_[end] = {start + old.length - end, old.token, old.at + (end - start)};
      piece = pieces_.upper_bound(end);
    }
  }
  // A seal that loses one byte is none any more.
  auto seal = seals_.lower_bound(offset >= kSealBytes ? offset - kSealBytes + 1 : 0);
  while (seal != seals_.end() && seal->first < end) seal = seals_.erase(seal);
}

void SegmentMemory::Write(uint64_t offset, uint64_t length, uint64_t token, uint64_t at) {
  if (length == 0) return;
  Clear(offset, length);
  pieces_[offset] = {length, token, at};
}

void SegmentMemory::WriteSeal(uint64_t offset, const Seal& seal) {
  Clear(offset, kSealBytes);
  seals_[offset] = seal;
}

std::vector<Piece> SegmentMemory::Read(uint64_t offset, uint64_t length) const {
  std::vector<Piece> out;
  const uint64_t end = offset + length;
  auto piece = pieces_.upper_bound(offset);
  if (piece != pieces_.begin()) --piece;
  uint64_t at = offset;
  for (; piece != pieces_.end() && piece->first < end; ++piece) {
    const uint64_t from = std::max(piece->first, offset);
    const uint64_t to = std::min(piece->first + piece->second.length, end);
    if (to <= from) continue;
    if (from > at) out.push_back({from - at, 0, 0});
    out.push_back({to - from, piece->second.token, piece->second.at + (from - piece->first)});
    at = to;
  }
  if (at < end) out.push_back({end - at, 0, 0});
  return out;
}

std::optional<Seal> SegmentMemory::ReadSeal(uint64_t offset) const {
  const auto found = seals_.find(offset);
  if (found == seals_.end()) return std::nullopt;
  return found->second;
}

NodeActor::NodeActor(World& world, int id, std::string name, Masters& masters,
                     uint64_t segment_bytes, Canary canary)
    : Actor(world, id, std::move(name)),
      master_(std::make_unique<MasterLink>(world, *this, masters)),
      segment_bytes_(segment_bytes),
      canary_(canary) {
  Start();
}

NodeActor::~NodeActor() = default;

void NodeActor::OnCrash() {
  master_->Reset();
  core_.reset();
  clock_.reset();
  clock_term_ = Term{};
  leaving_ = false;
  memory_ = SegmentMemory();
  fenced_.clear();
  admitted_.clear();
}

void NodeActor::OnRestart() { Start(); }

void NodeActor::Start() {
  ++lives_;
  const auto word = static_cast<uint64_t>(id());
  client_ = ClientId{0xc0de, word << 32 | lives_};
  segment_ = SegmentId{0x5e9, word << 32 | lives_};
  epoch_ = AccessEpoch{1};
  core_ = std::make_unique<NodeCore>(NodeCoreOptions{}, Rng(world_.rng.Next()));
  world_.After(*this, Millis(1), [this] { Beat(); });
}

SegmentDescriptor NodeActor::Describe() const {
  SegmentDescriptor descriptor;
  descriptor.id = segment_;
  descriptor.name = name();
  descriptor.size = segment_bytes_;
  descriptor.epoch = epoch_;
  descriptor.owner = client_;
  descriptor.host_id = name();
  descriptor.protocol = "tcp";
  descriptor.endpoint = name() + ":1";
  return descriptor;
}

void NodeActor::Beat() {
  const TimePoint now = world_.now();
  const NodeStep step = core_->Next(now);
  const auto again = [this] { world_.After(*this, Duration::zero(), [this] { Beat(); }); };
  switch (step.action) {
    case NodeAction::kWait:
      world_.After(*this, std::max(step.until - now, Millis(1)), [this] { Beat(); });
      return;
    case NodeAction::kPing:
      master_->Ask<Result<PingReply>>(
          kRpcTimeout,
          [client = client_, name = name()](MasterActor& m) { return m.Ping(client, name); },
          [this, now, again](const std::optional<Result<PingReply>>& reply) {
            OnPing(now, reply);
            again();
          });
      return;
    case NodeAction::kMount: {
      if (step.advance_epoch) ++epoch_.value;
      clock_term_ = core_->term();
      UpdateClock();
      world_.Trace(*this, [&] { return "mounts with epoch " + std::to_string(epoch_.value); });
      master_->Ask<Status>(
          kRpcTimeout,
          [client = client_, descriptor = Describe()](MasterActor& m) {
            return m.Mount(client, descriptor);
          },
          [this, again](std::optional<Status> reply) {
            core_->OnMount(world_.now(), reply ? *reply : NoAnswer());
            again();
          });
      return;
    }
    case NodeAction::kVerify:
      master_->Ask<bool>(
          kRpcTimeout, [descriptor = Describe()](MasterActor& m) { return m.Knows(descriptor); },
          [this, again](std::optional<bool> reply) {
            core_->OnVerify(world_.now(), reply ? Result<bool>(*reply) : Result<bool>(NoAnswer()));
            again();
          });
      return;
  }
}

// As HeartbeatLoop::Ping: another master has another clock, so that no write is admitted before the epoch has advanced.
void NodeActor::OnPing(TimePoint sent, const std::optional<Result<PingReply>>& reply) {
  core_->OnPing(sent, world_.now(), reply ? *reply : Result<PingReply>(NoAnswer()));
  if (core_->term() == clock_term_) return UpdateClock();
  clock_.reset();
  clock_term_ = Term{};
}

void NodeActor::UpdateClock() {
  if (core_->master_clock()) clock_ = core_->master_clock();
}

void NodeActor::Leave(Duration grace, Duration pause) {
  leaving_ = true;
  const auto end = [this, pause] {
    master_->Ask<Status>(
        kRpcTimeout,
        [client = client_, segment = segment_](MasterActor& m) {
          return m.Unmount(client, segment);
        },
        [this, pause](const std::optional<Status>&) {
          world_.Crash(*this);
          world_.After(pause, [this] { world_.Restart(*this); });
        });
  };
  world_.Trace(*this, [&] { return "leaves in " + std::to_string(ToMillis(grace)) + " ms"; });
  master_->Ask<Status>(
      kRpcTimeout,
      [client = client_, segment = segment_, grace](MasterActor& m) {
        return m.GracefulUnmount(client, segment, grace);
      },
      [this, grace, end](const std::optional<Status>& reply) {
        const bool agreed = reply && reply->ok();
        world_.After(*this, agreed ? grace : Duration::zero(), end);
      });
}

Status NodeActor::CheckTarget(const SegmentId& segment, AccessEpoch epoch) const {
  if (segment != segment_) return Status(ErrorCode::kSegmentNotFound, "an earlier life's segment");
  if (epoch != epoch_ && canary_ != Canary::kNoEpochCheck) {
    return Status(ErrorCode::kInvalidVersion, "epoch");
  }
  return Status::Ok();
}

ReadReply NodeActor::Read(const SegmentId& segment, AccessEpoch epoch, uint64_t offset,
                          uint64_t length, bool seal) const {
  ReadReply reply;
  reply.status = CheckTarget(segment, epoch);
  if (!reply.status.ok()) return reply;
  if (offset + length > segment_bytes_) {
    reply.status = Status(ErrorCode::kInvalidParams, "outside of the segment");
    return reply;
  }
  reply.pieces = memory_.Read(offset, length);
  if (seal) reply.seal = memory_.ReadSeal(offset + length);
  return reply;
}

Status NodeActor::Admit(const WriteChunk& chunk) const {
  RETURN_IF_ERROR(CheckTarget(chunk.segment, chunk.epoch));
  if (fenced_.count(chunk.grant.put_id.value) != 0) {
    return Status(ErrorCode::kInvalidVersion, "fenced");
  }
  if (canary_ == Canary::kNoWriteDeadline) return Status::Ok();
  if (!clock_) return Status(ErrorCode::kInvalidVersion, "the master's clock is not known");
  if (clock_->master_ms + ToMillis(world_.now() - clock_->at) + 1 > chunk.grant.deadline_ms) {
    return Status(ErrorCode::kInvalidVersion, "the grant ended");
  }
  return Status::Ok();
}

Status NodeActor::Write(const WriteChunk& chunk) {
  RETURN_IF_ERROR(Admit(chunk));
  const TimePoint admitted = admitted_.emplace(chunk.request, world_.now()).first->second;
  if (world_.now() - admitted > kMaxWrite && canary_ != Canary::kNoWriteDeadline) {
    return Status(ErrorCode::kTransferFail, "cut");
  }
  world_.Trace(*this, [&] {
    return "takes " + std::to_string(chunk.length) + " bytes at " + std::to_string(chunk.offset) +
           " of put " + std::to_string(chunk.grant.put_id.value) + ", epoch " +
           std::to_string(chunk.epoch.value);
  });
  memory_.Write(chunk.offset, chunk.length, chunk.token, chunk.at);
  if (chunk.seal) memory_.WriteSeal(chunk.seal_offset, *chunk.seal);
  return Status::Ok();
}

Status NodeActor::Fence(PutId put_id) {
  fenced_.insert(put_id.value);
  world_.Trace(*this, [&] { return "fences put " + std::to_string(put_id.value); });
  return Status::Ok();
}

}  // namespace mooncake::sim
