#include "client/object_writer.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "client/restart_patience.h"
#include "client/write_slices.h"
#include "transfer/base/check.h"
#include "transfer/base/units.h"

namespace mooncake::internal {
namespace {

// What one window reserves before it writes: bounds memory here and the space that is tied up there.
constexpr size_t kPutsAtOnce = 512;
constexpr uint64_t kWindowBytes = 256 * kMiB;

// Many small parts are gathered first: a slice costs more than the copy.
constexpr uint64_t kGatherBytes = 1 * kMiB;

// Until when bytes may move: some of the call's time is kept for PutEnd or for cleaning up.
TimePoint BeforeCleanUp(TimePoint now, TimePoint deadline) {
  return deadline - std::clamp<Duration>((deadline - now) / 10, Duration::zero(), Seconds(2));
}

// Failures of the way to a node, not of the write itself.
bool IsPathFailure(ErrorCode code) {
  return code == ErrorCode::kTransferFail || code == ErrorCode::kRpcTimeout ||
         code == ErrorCode::kSegmentNotFound || code == ErrorCode::kInvalidVersion;
}

// How many of `jobs` go first. A key that comes twice begins another window: side by side, the second write would preempt the first.
size_t WindowOf(std::span<PutJob* const> jobs) {
  std::unordered_set<std::string_view> keys;
  uint64_t bytes = 0;
  size_t count = 0;
  for (const PutJob* job : jobs.first(std::min(jobs.size(), kPutsAtOnce))) {
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
  std::vector<size_t> first_slices;     // of each extent, and the end
  std::vector<std::byte> gathered;      // the object, when its parts are many and small
  ByteSpan whole;                       // of `gathered`
  bool path_failed = false;             // bytes did not get there; another attempt may
  std::vector<SegmentId> bad_segments;  // of those, the ones to keep away from
};

void ObjectWriter::Put(std::span<PutJob* const> jobs, const PutOptions& options,
                       TimePoint deadline) {
  while (!jobs.empty()) {
    const auto window = jobs.first(WindowOf(jobs));
    const Failed failed = PutWindow(window, options, deadline);
    if (!failed.jobs.empty() && clock_.Now() < deadline) PutAgain(failed, options, deadline);
    jobs = jobs.subspan(window.size());
  }
}

// Elsewhere, if it was a node that failed: until the master has noticed that it is gone, it goes on choosing it.
void ObjectWriter::PutAgain(const Failed& failed, const PutOptions& options, TimePoint deadline) {
  PutOptions elsewhere = options;
  std::vector<std::string>& excluded = elsewhere.config.excluded_segments;
  for (std::string& name : directory_.NamesOf(failed.segments)) excluded.push_back(std::move(name));
  std::vector<Result<PutResult>> first;
  for (const PutJob* job : failed.jobs) first.push_back(job->result);
  (void)PutWindow(failed.jobs, elsewhere, deadline);
  for (size_t i = 0; i < failed.jobs.size(); ++i) {
    // That there is no room without the failed nodes is not what went wrong.
    Result<PutResult>& result = failed.jobs[i]->result;
    if (result.code() == ErrorCode::kNoAvailableHandle) result = std::move(first[i]);
  }
}

ObjectWriter::Failed ObjectWriter::PutWindow(std::span<PutJob* const> jobs,
                                             const PutOptions& options, TimePoint deadline) {
  std::vector<Write> writes = Reserve(jobs, options, deadline);
  WriteAll(writes, options, deadline);
  // What was written is ended before anybody waits for the fence of what was not.
  EndAll(writes, options, std::max(deadline, clock_.Now() + kCleanUpTime));
  const TimePoint now = clock_.Now();
  FenceAll(writes, std::clamp(deadline, now + kCleanUpTime, now + kFencePatience));
  RevokeAll(writes, std::max(deadline, clock_.Now() + kCleanUpTime));
  Failed failed;
  for (Write& write : writes) {
    const PutSession& session = write.session;
    MC_CHECK(session.phase() == PutSession::Phase::kDone);
    if (session.outcome().ok()) {
      write.job->result = PutResult{.version = session.put_id(), .replicas = session.replicas()};
      continue;
    }
    write.job->result = session.outcome();
    if (!session.forgotten() && !(session.revoked() && write.path_failed)) continue;
    failed.jobs.push_back(write.job);
    failed.segments.insert(failed.segments.end(), write.bad_segments.begin(),
                           write.bad_segments.end());
  }
  std::sort(failed.segments.begin(), failed.segments.end());
  failed.segments.erase(std::unique(failed.segments.begin(), failed.segments.end()),
                        failed.segments.end());
  return failed;
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
  const std::vector<Result<PutStartReply>> replies = AskThroughRestart(
      clock_, deadline, std::span<const PutStartArgs>(args),
      [&](std::span<const PutStartArgs> asked) { return master_.BatchPutStart(asked, deadline); });
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
    write.path_failed = true;
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
    if (IsPathFailure(outcome.code())) write.path_failed = true;
    // A segment that only has another epoch by now is as good as any.
    if (IsPathFailure(outcome.code()) && outcome.code() != ErrorCode::kInvalidVersion) {
      write.bad_segments.push_back(write.session.writes()[i].extent.segment);
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
