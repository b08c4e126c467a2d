#include "client/key_reader.h"

#include <algorithm>
#include <string>

#include "client/restart_patience.h"
#include "transfer/base/check.h"
#include "transfer/base/units.h"

namespace mooncake::internal {
namespace {

constexpr size_t kWindowKeys = 512;
constexpr int kAttempts = 2;
// Reads of more than this, or of several keys, may take a while: their leases are renewed meanwhile (F050).
constexpr uint64_t kLongReadBytes = 1 * kMiB;

// One read with the version that the master named in this attempt.
struct Version {
  KeyRead* read = nullptr;
  ReplicaList info;
  ByteRange range;
  MutableByteSpan buffer;
  std::shared_ptr<HeldLease> lease;  // null: short read
};

std::vector<Result<ReplicaList>> AskReplicas(ClientContext& context,
                                             std::span<const ObjectName> names,
                                             TimePoint deadline) {
  return AskThroughRestart(context.clock, deadline, names, [&](std::span<const ObjectName> asked) {
    return context.master->BatchGetReplicaList(asked, deadline);
  });
}

// Asks the master for all, and the readers for their buffers. Reads that end here have their result.
std::vector<Version> Prepare(ClientContext& context, std::span<KeyRead* const> reads,
                             TimePoint deadline) {
  std::vector<ObjectName> names;
  for (const KeyRead* read : reads) names.push_back(read->name);
  std::vector<Result<ReplicaList>> replies = AskReplicas(context, names, deadline);
  MC_CHECK(replies.size() == reads.size());
  std::vector<Version> versions;
  for (size_t i = 0; i < replies.size(); ++i) {
    KeyRead& read = *reads[i];
    if (!replies[i].ok()) {
      read.result = replies[i].status();
      continue;
    }
    const ByteRange range = CutRange(read.range, replies[i]->size);
    const Result<MutableByteSpan> buffer = read.provide(range.length);
    if (!buffer.ok()) {
      read.result = buffer.status();
      continue;
    }
    MC_CHECK(buffer->size() == range.length);
    versions.push_back(
        {.read = &read, .info = std::move(*replies[i]), .range = range, .buffer = *buffer});
  }
  return versions;
}

void HoldLeases(ClientContext& context, std::vector<Version>& versions, TimePoint sent) {
  uint64_t bytes = 0;
  for (const Version& version : versions) bytes += version.range.length;
  if (versions.size() == 1 && bytes <= kLongReadBytes) return;
  for (Version& version : versions) {
    version.lease = context.leases->Hold(
        {.name = version.read->name, .put_id = version.info.put_id}, sent, version.info.lease);
  }
}

// One attempt; the reads that are worth another one.
std::vector<KeyRead*> ReadOnce(ClientContext& context, std::span<KeyRead* const> reads,
                               TimePoint deadline) {
  const TimePoint sent = context.clock.Now();
  std::vector<Version> versions = Prepare(context, reads, deadline);
  HoldLeases(context, versions, sent);
  std::vector<FetchJob> jobs;
  for (const Version& version : versions) {
    jobs.push_back({.info = &version.info, .range = version.range, .buffer = version.buffer});
  }
  context.fetcher.Fetch(jobs, deadline);
  const TimePoint now = context.clock.Now();
  std::vector<KeyRead*> again;
  for (size_t i = 0; i < versions.size(); ++i) {
    const Version& version = versions[i];
    const bool leased =
        version.lease ? version.lease->Valid() : now < SaturatingAdd(sent, version.info.lease);
    Status status = jobs[i].status;
    // Whatever the seals said: past the lease, the bytes behind them may have been changing during the read.
    if (status.ok() && !leased && version.range.length > 0) {
      status = Status(ErrorCode::kLeaseExpired,
                      "the lease of " + FormatDuration(version.info.lease) + " ended before " +
                          FormatSize(version.range.length) + " were read");
    }
    if (status.ok()) {
      version.read->result = version.range.length;
    } else {
      version.read->result = status;
      if (MayRetryRead(status.code())) again.push_back(version.read);
    }
  }
  return again;
}

}  // namespace

bool MayRetryRead(ErrorCode code) {
  return code == ErrorCode::kTransferFail || code == ErrorCode::kReplicaIsGone ||
         code == ErrorCode::kLeaseExpired || code == ErrorCode::kSegmentNotFound ||
         code == ErrorCode::kInvalidVersion || code == ErrorCode::kChecksumMismatch ||
         code == ErrorCode::kRpcTimeout;
}

void ReadKeys(ClientContext& context, std::span<KeyRead* const> reads, TimePoint deadline) {
  for (size_t start = 0; start < reads.size(); start += kWindowKeys) {
    const auto window = reads.subspan(start, std::min(kWindowKeys, reads.size() - start));
    std::vector<KeyRead*> pending(window.begin(), window.end());
    for (int attempt = 0; attempt < kAttempts && !pending.empty(); ++attempt) {
      if (attempt > 0 && context.clock.Now() >= deadline) break;
      pending = ReadOnce(context, pending, deadline);
    }
  }
}

Result<LeasedVersion> LeaseKey(ClientContext& context, const ObjectName& name, TimePoint deadline) {
  const TimePoint sent = context.clock.Now();
  std::vector<Result<ReplicaList>> replies = AskReplicas(context, {&name, 1}, deadline);
  MC_CHECK(replies.size() == 1);
  ASSIGN_OR_RETURN(ReplicaList info, std::move(replies[0]));
  LeasedVersion version{.info = std::move(info)};
  version.lease =
      context.leases->Hold({.name = name, .put_id = version.info.put_id}, sent, version.info.lease);
  return version;
}

}  // namespace mooncake::internal
