#include "tests/sim/master_actor.h"

namespace mooncake::sim {
namespace {

constexpr Duration kTick = Millis(10);

ObjectName Named(const std::string& key) { return ObjectName{kDefaultTenant, key}; }

}  // namespace

MasterActor::MasterActor(World& world, int id, Oracle& oracle, const MasterSetup& setup)
    : Actor(world, id, "master" + std::to_string(id)), oracle_(oracle), setup_(setup) {
  Start();
}

void MasterActor::Start() {
  if (setup_.election == nullptr) {
    Lead(term_ + 1);
  } else {
    Campaign();
  }
}

bool MasterActor::Leads() const {
  return core_ != nullptr && (setup_.election == nullptr || world_.now() < lead_until_);
}

void MasterActor::Campaign() {
  const TimePoint asked = world_.now();
  const uint64_t term = core_ == nullptr ? 0 : term_;
  world_.Call<uint64_t>(
      *this, *setup_.election, kLeadership,
      [election = setup_.election, id = id(), term] { return election->Campaign(id, term); },
      [this, asked, term](std::optional<uint64_t> won) {
        world_.After(*this, Millis(static_cast<int64_t>(world_.rng.Between(50, 250))),
                     [this] { Campaign(); });
        if (!won) return;
        if (*won == 0) return StepDown();
        if (*won != term) {
          // It was decided long ago, and may not be true any more.
          if (world_.now() - asked >= kLeadership || *won <= setup_.log->term) return;
          StepDown();
          Lead(*won);
        }
        lead_until_ = asked + kLeadership;
      });
}

void MasterActor::StepDown() {
  if (core_ == nullptr) return;
  world_.Trace(*this, [this] { return "is no master any more, term " + std::to_string(term_); });
  core_.reset();
  last_started_.clear();
  unsynced_.clear();
  waiting_.clear();  // nobody gets an answer
  snapshot_.reset();
}

void MasterActor::Lead(uint64_t term) {
  term_ = term;
  syncing_ = false;
  losses_seen_ = 0;
  core::CoreOptions options = setup_.options;
  if (setup_.canary == Canary::kShortLease) options.lease_ttl = Millis(1);
  core_ = std::make_unique<core::MetadataCore>(options, Term{term_}, world_.rng.Next());
  if (durable()) Restore();
  world_.After(*this, kTick, [this, term] {
    if (core_ != nullptr && term_ == term) Tick();
  });
}

// From a snapshot, however old, or none; and all of the log after it.
void MasterActor::Restore() {
  DurableLog& log = *setup_.log;
  log.term = term_;
  const bool lost = log.last() > 0 && setup_.lose_disk_permille > 0 &&
                    world_.rng.Chance(setup_.lose_disk_permille, 1000);
  if (lost) {
    log.Lose();
    oracle_.LossPossible();
  }
  core::Restorer restorer;
  uint64_t from = 0;
  const size_t chosen = world_.rng.Below(log.snapshots.size() + 1);
  const bool old_epoch = setup_.canary == Canary::kKeepOldEpoch;
  const auto apply = [&](core::Record record) {
    auto* segment = std::get_if<core::SegmentRecord>(&record);
    if (old_epoch && segment != nullptr) --segment->descriptor.epoch.value;
    restorer.Apply(std::move(record));
  };
  if (chosen < log.snapshots.size()) {
    from = log.snapshots[chosen].from;
    for (const core::Record& record : log.snapshots[chosen].records) apply(record);
  }
  for (const core::LogRecord& record : log.records) {
    if (record.sequence > from) apply(record.record);
  }
  core::RestoreArgs args;
  args.sequence = log.last();
  if (setup_.canary != Canary::kNoLeaseOnRestore) args.lease = setup_.options.lease_ttl;
  const bool alone = setup_.election == nullptr || setup_.canary == Canary::kNoQuietTime;
  if (!alone && term_ > 1) args.quiet = 2 * kLeadership;
  const core::RestoreReport report = core_->Restore(world_.now(), std::move(restorer), args);
  if (report.bad_records > 0) oracle_.Violation("restore: the log has records that make no sense");
  written_ = synced_ = args.sequence;
  core::SnapshotWalk all = core_->StartSnapshot();
  while (!core_->Step(world_.now(), all, 1000)) {
  }
  std::vector<core::VersionRecord> versions;
  for (core::Record& record : all.records) {
    if (auto* version = std::get_if<core::VersionRecord>(&record))
      versions.push_back(std::move(*version));
  }
  oracle_.Restored(term_, versions, !lost && setup_.options.durability == core::Durability::kSync,
                   setup_.election == nullptr ? Duration::zero() : kLeadership);
  restores_ += args.sequence > 0;
  versions_restored_ += report.versions;
  world_.Trace(*this, [&] {
    return "leads term " + std::to_string(term_) + ", log up to " + std::to_string(args.sequence) +
           " after " + std::to_string(from) + ", " + std::to_string(report.versions) + " versions";
  });
  if (!old_epoch) return;
  for (const SegmentInfo& info : core_->GetSegments({})) {
    SegmentDescriptor segment = info.descriptor;
    ++segment.epoch.value;
    core_->MountSegment(world_.now(), segment.owner, segment).Ignore("a planted bug");
  }
}

void MasterActor::OnCrash() {
  // Some of what was not synced may have reached the disk all the same.
  DurableLog& log = *setup_.log;
  if (core_ != nullptr && log.term == term_ && !unsynced_.empty()) {
    for (uint64_t n = world_.rng.Below(unsynced_.size() + 1); n > 0; --n) {
      log.records.push_back(std::move(unsynced_.front()));
      unsynced_.pop_front();
    }
  }
  StepDown();
  if (!durable()) oracle_.MasterLostAll();
}

uint64_t MasterActor::Written() {
  if (core_ == nullptr) return 0;
  const uint64_t after = core_->AnswerAfter();
  for (core::LogRecord& record : core_->TakeLog()) {
    written_ = record.sequence;
    unsynced_.push_back(std::move(record));
  }
  StartSync();
  switch (setup_.canary) {
    case Canary::kReuseBeforeDurable:
      core_->LogDurable(written_);
      return written_;  // the core would not wait any more
    case Canary::kAnswerBeforeDurable:
      return 0;
    default:
      return after;
  }
}

// All that was written until it starts becomes durable together.
void MasterActor::StartSync() {
  if (syncing_ || unsynced_.empty()) return;
  syncing_ = true;
  const bool slow = world_.rng.Chance(1, 50);
  const uint64_t us = world_.rng.Between(20, setup_.max_sync_us * (slow ? 20 : 1));
  world_.After(*this, std::chrono::microseconds(us), [this, until = written_, term = term_] {
    if (core_ != nullptr && term_ == term) Synced(until);
  });
}

void MasterActor::Synced(uint64_t until) {
  syncing_ = false;
  DurableLog& log = *setup_.log;
  if (log.term != term_) return StepDown();
  for (; !unsynced_.empty() && unsynced_.front().sequence <= until; unsynced_.pop_front())
    log.records.push_back(std::move(unsynced_.front()));
  synced_ = until;
  core_->LogDurable(setup_.canary == Canary::kReuseBeforeDurable ? written_ : until);
  std::vector<Waiting> ready;
  std::deque<Waiting> rest;
  for (Waiting& one : waiting_) {
    if (one.after <= synced_) {
      ready.push_back(std::move(one));
    } else {
      rest.push_back(std::move(one));
    }
  }
  waiting_ = std::move(rest);
  for (const Waiting& one : ready) one.give();
  StartSync();
}

void MasterActor::TakeSnapshot() {
  if (!snapshot_) {
    if (world_.rng.Chance(1, 400)) snapshot_ = core_->StartSnapshot();
    return;
  }
  const auto keys = static_cast<uint32_t>(world_.rng.Between(1, 4));
  if (!snapshot_->position.done && !core_->Step(world_.now(), *snapshot_, keys)) return;
  DurableLog& log = *setup_.log;
  if (snapshot_->until > synced_ || log.term != term_) return;
  log.snapshots.push_back({snapshot_->from, std::move(snapshot_->records)});
  snapshot_.reset();
}

void MasterActor::NoteLosses() {
  const core::Counters counters = core_->GetCounters();
  const uint64_t losses =
      counters.evicted_objects + counters.expired_clients + counters.replaced_segments;
  if (losses != losses_seen_) oracle_.LossPossible();
  losses_seen_ = losses;
}

void MasterActor::Tick() {
  core_->Tick(world_.now(), static_cast<uint32_t>(world_.rng.Between(1, 200)));
  NoteLosses();
  if (durable()) {
    TakeSnapshot();
    Written();
  }
  world_.After(*this, kTick, [this, term = term_] {
    if (core_ != nullptr && term_ == term) Tick();
  });
}

Result<PingReply> MasterActor::Ping(const ClientId& client, const std::string& address) {
  return core_->Ping(world_.now(), client, address);
}

Status MasterActor::Mount(const ClientId& client, const SegmentDescriptor& segment) {
  const bool known = !core_->GetSegments(std::span(&segment.id, 1)).empty();
  const Status status = core_->ReMountSegments(world_.now(), client, std::span(&segment, 1));
  if (known) return status;
  if (status.ok()) oracle_.SegmentForgotten(term_, segment.id);
  oracle_.LossPossible();  // an earlier life of that name is gone
  return status;
}

bool MasterActor::Knows(const SegmentDescriptor& segment) {
  for (const SegmentInfo& info : core_->GetSegments(std::span(&segment.id, 1))) {
    if (info.descriptor.epoch == segment.epoch) return true;
  }
  return false;
}

void MasterActor::TraceStart(const std::string& key, const PutStartReply& reply) {
  world_.Trace(*this, [&] {
    std::string text = "starts put " + std::to_string(reply.put_id.value) + " of " + key;
    for (const ReplicaDescriptor& replica : reply.replicas) {
      for (const Extent& extent : replica.extents) {
        text += " [segment " + extent.segment.ToString() + " epoch " +
                std::to_string(extent.epoch.value) + " at " + std::to_string(extent.offset) +
                " + " + std::to_string(extent.length) + "]";
      }
    }
    return text;
  });
}

void MasterActor::TraceDone(const std::string& what, const std::string& key, const Status& status) {
  world_.Trace(*this, [&] { return what + " " + key + ": " + status.ToString(); });
}

Result<PutStartReply> MasterActor::PutStart(const PutStartArgs& args, uint64_t token) {
  auto reply = core_->PutStart(world_.now(), args);
  NoteLosses();
  touched_ = {args.name.key};
  if (reply.ok()) {
    TraceStart(args.name.key, *reply);
    oracle_.Started(term_, args.name.key, *reply, args.size, token);
    last_started_[args.name.key] = reply->put_id;
  }
  return reply;
}

Status MasterActor::PutEnd(const PutEndArgs& args) {
  PutEndArgs used = args;
  if (setup_.canary == Canary::kEndWithoutPutId && last_started_.count(args.name.key) != 0) {
    used.put_id = last_started_[args.name.key];
  }
  const Status status =
      core_->PutEnd(world_.now(), ToMillis(world_.now().time_since_epoch()), used);
  TraceDone("ends put " + std::to_string(used.put_id.value) + " of", args.name.key, status);
  touched_ = {args.name.key};
  if (status.ok()) oracle_.Committed(term_, args.name.key, used.put_id);
  return status;
}

Status MasterActor::PutRevoke(const PutRevokeArgs& args) {
  PutRevokeArgs used = args;
  if (setup_.canary == Canary::kRevokeUnsettled) used.settled = true;
  const Status status = core_->PutRevoke(world_.now(), used);
  TraceDone((used.settled ? "revokes settled put " : "revokes put ") +
                std::to_string(used.put_id.value) + " of",
            args.name.key, status);
  touched_ = {args.name.key};
  return status;
}

Result<ReplicaList> MasterActor::Get(const std::string& key) {
  auto reply = core_->GetReplicaList(world_.now(), Named(key));
  if (reply.ok() && setup_.canary == Canary::kShortLease) reply->lease = Seconds(10);
  touched_ = {key};
  if (reply.ok()) oracle_.Leased(term_, *reply);
  return reply;
}

Status MasterActor::Remove(const std::string& key, bool force) {
  const Status status = core_->Remove(world_.now(), Named(key), force);
  TraceDone("removes", key, status);
  touched_ = {key};
  if (status.ok()) oracle_.Removed(term_, key, force);
  return status;
}

Status MasterActor::Rename(const std::string& from, const std::string& to, bool no_replace) {
  const Status status = core_->Rename(world_.now(), Named(from), Named(to), no_replace);
  TraceDone("renames " + from + " to", to, status);
  touched_ = {from, to};
  if (status.ok()) oracle_.Renamed(term_, from, to);
  return status;
}

Result<bool> MasterActor::Exist(const std::string& key, bool lease) {
  touched_ = {key};
  return core_->ExistKey(world_.now(), Named(key), lease);
}

Result<ObjectStat> MasterActor::Stat(const std::string& key) {
  touched_ = {key};
  return core_->Stat(world_.now(), Named(key));
}

Result<ListReply> MasterActor::List(const std::string& prefix, const std::string& delimiter) {
  ListArgs args;
  args.prefix = prefix;
  args.delimiter = delimiter;
  args.limit = 100;
  return core_->ListObjects(world_.now(), args);
}

Result<uint64_t> MasterActor::RemoveAll() {
  auto removed = core_->RemoveAll(world_.now(), "", true);
  oracle_.MasterLostAll();
  Written();
  return removed;
}

}  // namespace mooncake::sim
