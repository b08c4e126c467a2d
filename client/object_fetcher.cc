#include "client/object_fetcher.h"

#include <algorithm>
#include <string>

#include "client/store_client.h"
#include "transfer/base/crc32c.h"
#include "transfer/base/units.h"

namespace mooncake::internal {
namespace {

// A replica with others behind it gets this much time, so that one dead node costs one such wait.
constexpr Duration kPatience = Seconds(1);

// Pieces of large extents: several of them are under way at once, on several connections.
constexpr uint64_t kMaxPieceBytes = 16 * kMiB;

TimePoint RoundDeadline(TimePoint now, TimePoint deadline, uint64_t bytes, bool others_left) {
  if (!others_left) return deadline;
  return std::min(deadline, SaturatingAdd(now, kPatience + TimeToMove(bytes)));
}

// Unlike CheckSeal, a superseded version is good here: whoever reads holds a lease on exactly this version.
Status MatchSeal(std::span<const std::byte, kSealBytes> bytes, PutId put_id, uint64_t length,
                 Seal& seal) {
  RETURN_IF_ERROR(DecodeSeal(bytes, seal));
  if (seal.put_id == put_id && seal.length == length) return Status::Ok();
  return Status(ErrorCode::kReplicaIsGone,
                "the seal names put " + std::to_string(seal.put_id.value) + " of " +
                    std::to_string(seal.length) + " bytes, not put " +
                    std::to_string(put_id.value) + " of " + std::to_string(length));
}

}  // namespace

struct ObjectFetcher::Attempt {
  FetchJob* job = nullptr;
  std::vector<size_t> order;  // of the replicas
  size_t next = 0;            // in `order`
  const ReplicaDescriptor* replica = nullptr;
  std::vector<ReadPiece> pieces;
  size_t first_slice = 0;
  size_t first_scratch = 0;
};

std::vector<size_t> ObjectFetcher::Order(const ReplicaList& info,
                                         const SegmentDirectory::Peers& peers) {
  const TimePoint now = clock_.Now();
  std::vector<ReplicaView> views(info.replicas.size());
  for (size_t i = 0; i < views.size(); ++i) {
    ReplicaView& view = views[i];
    view.locality = Locality::kSameProcess;
    view.reachable = info.replicas[i].status == ReplicaStatus::kComplete;
    for (const Extent& extent : info.replicas[i].extents) {
      const auto peer = peers.find(extent.segment);
      if (peer == peers.end()) {
        view.reachable = false;
        break;
      }
      view.locality = std::max(view.locality, data_.LocalityOf(peer->second));
      view.suspect = view.suspect || data_.SuspectUntil(extent.segment) > now;
      view.load += data_.LoadOf(extent.segment);
    }
  }
  return OrderReplicas(views, turn_.fetch_add(1, std::memory_order_relaxed));
}

// Plans the read of the next replica; false if that replica cannot be tried.
bool ObjectFetcher::Begin(Attempt& attempt) {
  FetchJob& job = *attempt.job;
  attempt.replica = &job.info->replicas[attempt.order[attempt.next++]];
  Result<std::vector<ReadPiece>> pieces =
      PlanRead(*attempt.replica, job.info->size, job.range, kMaxPieceBytes);
  if (!pieces.ok()) {
    job.status = pieces.status();
    return false;
  }
  attempt.pieces = std::move(*pieces);
  return true;
}

Status ObjectFetcher::Finish(const Attempt& attempt, std::span<const PeerSlice> slices) const {
  const FetchJob& job = *attempt.job;
  for (size_t i = 0; i < attempt.pieces.size(); ++i)
    RETURN_IF_ERROR(slices[attempt.first_slice + i].slice.status);
  for (size_t i = 0; i < attempt.pieces.size(); ++i) {
    const ReadPiece& piece = attempt.pieces[i];
    if (!piece.seal) continue;
    const Extent& extent = attempt.replica->extents[piece.extent];
    const MutableByteSpan seal_bytes = slices[attempt.first_slice + i].slice.buffers[2];
    Seal seal;
    RETURN_IF_ERROR(MatchSeal(std::span<const std::byte, kSealBytes>(seal_bytes.data(), kSealBytes),
                              job.info->put_id, extent.length, seal));
    if (!seal.has_crc || !piece.whole) continue;
    const uint64_t start = piece.object_offset + piece.length - extent.length - job.range.offset;
    if (Crc32c(job.buffer.subspan(start, extent.length)) != seal.data_crc) {
      return Status(ErrorCode::kChecksumMismatch,
                    "put " + std::to_string(job.info->put_id.value) + ", extent of " +
                        std::to_string(extent.length) + " bytes in segment " +
                        extent.segment.ToString());
    }
  }
  return Status::Ok();
}

void ObjectFetcher::RunRound(std::vector<Attempt>& attempts, const SegmentDirectory::Peers& peers,
                             TimePoint deadline) {
  constexpr size_t kScratch = kMaxSkippedBytes + kSealBytes;
  size_t seals = 0;
  for (const Attempt& attempt : attempts) {
    for (const ReadPiece& piece : attempt.pieces) seals += piece.seal ? 1 : 0;
  }
  std::vector<std::byte> scratch(seals * kScratch);
  std::vector<PeerSlice> slices;
  uint64_t bytes = 0;
  size_t used = 0;
  bool others_left = false;
  for (Attempt& attempt : attempts) {
    const FetchJob& job = *attempt.job;
    attempt.first_slice = slices.size();
    others_left = others_left || attempt.next < attempt.order.size();
    for (const ReadPiece& piece : attempt.pieces) {
      const Extent& extent = attempt.replica->extents[piece.extent];
      PeerSlice item{.peer = &peers.at(extent.segment),
                     .slice = {.op = SliceOp::kRead,
                               .segment = extent.segment,
                               .epoch = extent.epoch,
                               .offset = piece.segment_offset}};
      item.slice.buffers[0] =
          job.buffer.subspan(piece.object_offset - job.range.offset, piece.length);
      if (piece.seal) {
        const MutableByteSpan spare = MutableByteSpan(scratch).subspan(used++ * kScratch, kScratch);
        item.slice.buffers[1] = spare.subspan(kSealBytes, piece.skipped);
        item.slice.buffers[2] = spare.first(kSealBytes);
      }
      bytes += item.slice.length();
      slices.push_back(std::move(item));
    }
  }
  data_.Execute(slices, RoundDeadline(clock_.Now(), deadline, bytes, others_left));
  for (Attempt& attempt : attempts) attempt.job->status = Finish(attempt, slices);
}

void ObjectFetcher::Fetch(std::span<FetchJob> jobs, TimePoint deadline) {
  std::vector<SegmentId> ids;
  for (const FetchJob& job : jobs) {
    for (const ReplicaDescriptor& replica : job.info->replicas) {
      for (const Extent& extent : replica.extents) ids.push_back(extent.segment);
    }
  }
  const Result<SegmentDirectory::Peers> peers = directory_.Resolve(ids, deadline);
  std::vector<Attempt> pending;
  for (FetchJob& job : jobs) {
    job.status = Status::Ok();
    if (job.range.length == 0) continue;
    job.status = peers.ok()
                     ? Status(ErrorCode::kTransferFail, "the segments of every replica are gone")
                     : Annotate(peers.status(), "looking up segments");
    if (peers.ok()) pending.push_back({.job = &job, .order = Order(*job.info, *peers)});
  }
  // Each round tries one replica of each job that is not done; bounded by the number of replicas.
  while (!pending.empty()) {
    std::vector<Attempt> round;
    std::vector<Attempt> later;
    for (Attempt& attempt : pending) {
      while (attempt.next < attempt.order.size()) {
        if (!Begin(attempt)) continue;
        round.push_back(std::move(attempt));
        break;
      }
    }
    if (round.empty()) return;
    RunRound(round, *peers, deadline);
    const bool late = clock_.Now() >= deadline;
    for (Attempt& attempt : round) {
      if (!attempt.job->status.ok() && !late) later.push_back(std::move(attempt));
    }
    pending = std::move(later);
  }
}

Result<ObjectFetcher::InPlace> ObjectFetcher::View(const ReplicaList& info, TimePoint deadline) {
  std::vector<SegmentId> ids;
  for (const ReplicaDescriptor& replica : info.replicas) {
    if (replica.extents.size() == 1) ids.push_back(replica.extents[0].segment);
  }
  ASSIGN_OR_RETURN(const SegmentDirectory::Peers peers, directory_.Resolve(ids, deadline));
  Status failure(ErrorCode::kNotSupported, "no replica is one extent in memory of this host");
  for (const size_t i : Order(info, peers)) {
    const ReplicaDescriptor& replica = info.replicas[i];
    if (replica.extents.size() != 1) continue;
    const Extent& extent = replica.extents[0];
    const PeerAddress& peer = peers.at(extent.segment);
    if (data_.LocalityOf(peer) == Locality::kRemote) continue;
    Result<ByteSpan> bytes = data_.View(peer, extent, ExtentFootprint(extent.length), deadline);
    if (!bytes.ok()) {
      failure = bytes.status();
      continue;
    }
    Seal seal;
    const Status match = MatchSeal(bytes->last<kSealBytes>(), info.put_id, extent.length, seal);
    if (match.ok())
      return InPlace{.peer = peer, .extent = extent, .bytes = bytes->first(extent.length)};
    failure = match;
  }
  return failure;
}

bool ObjectFetcher::StillThere(const InPlace& view, PutId put_id) {
  const Result<ByteSpan> again =
      data_.View(view.peer, view.extent, ExtentFootprint(view.extent.length), clock_.Now());
  if (!again.ok() || again->data() != view.bytes.data()) return false;
  Seal seal;
  return MatchSeal(again->last<kSealBytes>(), put_id, view.extent.length, seal).ok();
}

}  // namespace mooncake::internal
