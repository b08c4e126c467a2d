#include "client/object_writer.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "client/write_slices.h"
#include "transfer/base/check.h"
#include "transfer/base/units.h"

namespace mooncake::internal {
namespace {

// What one window reserves before it writes: bounds memory here and the space that is tied up there.
constexpr size_t kWindowKeys = 512;
constexpr uint64_t kWindowBytes = 256 * kMiB;

// Many small parts are gathered first: a slice costs more than the copy.
constexpr uint64_t kGatherBytes = 1 * kMiB;

// Until when bytes may move: some of the call's time is kept for PutEnd or for cleaning up.
TimePoint BeforeCleanUp(TimePoint now, TimePoint deadline) {
  return deadline - std::clamp<Duration>((deadline - now) / 10, Duration::zero(), Seconds(2));
}

// How many of `jobs` go first. A key that comes twice begins another window: side by side, the second write would preempt the first.
size_t WindowOf(std::span<PutJob* const> jobs) {
  std::unordered_set<std::string_view> keys;
  uint64_t bytes = 0;
  size_t count = 0;
  for (const PutJob* job : jobs.first(std::min(jobs.size(), kWindowKeys))) {
    if (count > 0 && job->size > kWindowBytes - std::min(bytes, kWindowBytes)) break;
    if (!keys.insert(job->name.key).second) break;
    bytes += job->size;
    ++count;
  }
  return count;
}

}  // namespace

struct ObjectWriter::Write {
  PutJob* job = nullptr;
  PutSession session;
  WriteGrant grant;
  TimePoint grant_end{};
  std::optional<WriteSlices> maker;
  std::vector<size_t> first_slices;  // of each extent, and the end
  std::vector<std::byte> gathered;   // the object, when its parts are many and small
  ByteSpan whole;                    // of `gathered`
};

void ObjectWriter::Put(std::span<PutJob* const> jobs, const PutOptions& options,
                       TimePoint deadline) {
  while (!jobs.empty()) {
    const size_t count = WindowOf(jobs);
    PutWindow(jobs.first(count), options, deadline);
    jobs = jobs.subspan(count);
  }
}

void ObjectWriter::PutWindow(std::span<PutJob* const> jobs, const PutOptions& options,
                             TimePoint deadline) {
  std::vector<Write> writes = Reserve(jobs, options, deadline);
  WriteAll(writes, options, deadline);
  const TimePoint clean_up = std::max(deadline, clock_.Now() + kCleanUpTime);
  FenceAll(writes, clean_up);
  EndAll(writes, options, clean_up);
  RevokeAll(writes, std::max(deadline, clock_.Now() + kCleanUpTime));
  for (Write& write : writes) {
    MC_CHECK(write.session.phase() == PutSession::Phase::kDone);
    if (write.session.outcome().ok()) {
      write.job->result =
          PutResult{.version = write.session.put_id(), .replicas = write.session.replicas()};
    } else {
      write.job->result = write.session.outcome();
    }
  }
}

std::vector<ObjectWriter::Write> ObjectWriter::Reserve(std::span<PutJob* const> jobs,
                                                       const PutOptions& options,
                                                       TimePoint deadline) {
  std::vector<PutStartArgs> args;
  for (const PutJob* job : jobs) {
    args.push_back({.client = client_,
                    .name = job->name,
                    .size = job->size,
                    .mode = options.mode,
                    .config = options.config,
                    .expected = options.expected});
  }
  const TimePoint sent = clock_.Now();
  const std::vector<Result<PutStartReply>> replies = master_.BatchPutStart(args, deadline);
  MC_CHECK(replies.size() == jobs.size());
  std::vector<Write> writes;
  for (size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i].ok()) {
      jobs[i]->result = replies[i].status();
      continue;
    }
    const PutStartReply& reply = *replies[i];
    writes.push_back({.job = jobs[i],
                      .session = PutSession(reply, jobs[i]->size),
                      .grant = {.put_id = reply.put_id, .deadline_ms = reply.write_deadline_ms},
                      .grant_end = SaturatingAdd(sent, reply.grant)});
  }
  return writes;
}

std::span<const ByteSpan> ObjectWriter::PartsOf(Write& write) {
  const PutJob& job = *write.job;
  if (job.parts.size() <= 1 || job.size > kGatherBytes) return job.parts;
  write.gathered.reserve(job.size);
  for (const ByteSpan part : job.parts)
    write.gathered.insert(write.gathered.end(), part.begin(), part.end());
  write.whole = write.gathered;
  return {&write.whole, 1};
}

void ObjectWriter::PlanWrite(Write& write, const SegmentDirectory::Peers& peers, bool checksum,
                             std::vector<PeerSlice>& slices) {
  for (const PutWrite& extent : write.session.writes()) {
    if (peers.contains(extent.extent.segment)) continue;
    return write.session.Abandon(Status(
        ErrorCode::kTransferFail,
        "segment " + extent.extent.segment.ToString() + " left after the write was reserved"));
  }
  write.maker.emplace(write.grant, checksum);
  const std::span<const ByteSpan> parts = PartsOf(write);
  for (const PutWrite& extent : write.session.writes()) {
    write.first_slices.push_back(slices.size());
    for (Slice& slice : write.maker->Make(extent, parts)) {
      slices.push_back({.peer = &peers.at(extent.extent.segment), .slice = std::move(slice)});
    }
  }
  write.first_slices.push_back(slices.size());
}

void ObjectWriter::ReportWrite(Write& write, std::span<const PeerSlice> slices) {
  std::vector<Status> outcomes;
  std::vector<bool> unsent;
  for (size_t i = 0; i + 1 < write.first_slices.size(); ++i) {
    Status outcome;
    bool sent = false;
    for (size_t s = write.first_slices[i]; s < write.first_slices[i + 1]; ++s) {
      const Status& status = slices[s].slice.status;
      sent = sent || slices[s].sent;
      // An unknown outcome weighs more than a refusal: it needs the fence.
      if (!status.ok() && (outcome.ok() || IsUnknownOutcome(status.code()))) outcome = status;
    }
    outcomes.push_back(std::move(outcome));
    unsent.push_back(!sent);
  }
  write.session.OnWrites(outcomes, unsent);
}

void ObjectWriter::WriteAll(std::vector<Write>& writes, const PutOptions& options,
                            TimePoint deadline) {
  const TimePoint now = clock_.Now();
  std::vector<SegmentId> ids;
  TimePoint write_deadline = BeforeCleanUp(now, deadline);
  for (const Write& write : writes) {
    for (const PutWrite& extent : write.session.writes()) ids.push_back(extent.extent.segment);
    write_deadline = std::min(write_deadline, write.grant_end);
  }
  const Result<SegmentDirectory::Peers> peers = directory_.Resolve(ids, deadline);
  std::vector<PeerSlice> slices;
  for (Write& write : writes) {
    if (write.session.phase() != PutSession::Phase::kWriting) continue;
    if (peers.ok()) {
      PlanWrite(write, *peers, options.checksum, slices);
    } else {
      write.session.Abandon(Annotate(peers.status(), "looking up segments"));
    }
  }
  if (slices.empty()) return;
  data_.Execute(slices, write_deadline);
  for (Write& write : writes) {
    if (write.session.phase() == PutSession::Phase::kWriting) ReportWrite(write, slices);
  }
}

void ObjectWriter::FenceAll(std::vector<Write>& writes, TimePoint deadline) {
  for (Write& write : writes) {
    if (write.session.phase() != PutSession::Phase::kFencing) continue;
    const Result<SegmentDirectory::Peers> peers =
        directory_.Resolve(write.session.to_fence(), deadline);
    bool all = peers.ok();
    for (const SegmentId& segment : write.session.to_fence()) {
      if (!all) break;
      const auto peer = peers->find(segment);
      // One that does not answer costs the others their time: it is not asked again while it is a suspect.
      all = peer != peers->end() &&
            data_.Fence(peer->second, segment, write.session.put_id(), deadline).ok();
    }
    write.session.OnFences(all);
  }
}

void ObjectWriter::EndAll(std::vector<Write>& writes, const PutOptions& options,
                          TimePoint deadline) {
  for (int attempt = 0; attempt < PutSession::kMaxEnds; ++attempt) {
    std::vector<PutEndArgs> args;
    std::vector<Write*> ending;
    for (Write& write : writes) {
      if (write.session.phase() != PutSession::Phase::kEnding) continue;
      ending.push_back(&write);
      args.push_back({.client = client_,
                      .name = write.job->name,
                      .put_id = write.session.put_id(),
                      .attributes = options.attributes});
    }
    if (ending.empty()) return;
    // Each attempt gets a share of the time, so that a lost answer leaves some for the next.
    const TimePoint now = clock_.Now();
    const Duration left = std::max(deadline - now, Duration::zero());
    const std::vector<Status> ends =
        master_.BatchPutEnd(args, now + left / (PutSession::kMaxEnds - attempt));
    MC_CHECK(ends.size() == ending.size());
    for (size_t i = 0; i < ends.size(); ++i) ending[i]->session.OnEnd(ends[i]);
  }
}

void ObjectWriter::RevokeAll(std::vector<Write>& writes, TimePoint deadline) {
  std::vector<PutRevokeArgs> args;
  std::vector<Write*> revoking;
  for (Write& write : writes) {
    if (write.session.phase() != PutSession::Phase::kRevoking) continue;
    revoking.push_back(&write);
    args.push_back({.client = client_,
                    .name = write.job->name,
                    .put_id = write.session.put_id(),
                    .settled = write.session.settled()});
  }
  if (revoking.empty()) return;
  const std::vector<Status> revokes = master_.BatchPutRevoke(args, deadline);
  MC_CHECK(revokes.size() == revoking.size());
  for (size_t i = 0; i < revokes.size(); ++i) revoking[i]->session.OnRevoke(revokes[i]);
}

}  // namespace mooncake::internal
