#include "tests/sim/master_actor.h"

namespace mooncake::sim {
namespace {

constexpr Duration kTick = Millis(10);

}  // namespace

MasterActor::MasterActor(World& world, int id, Oracle& oracle, const MasterSetup& setup)
    : Actor(world, id, "master" + std::to_string(id)), oracle_(oracle), setup_(setup) {
  Start();
}

void MasterActor::Start() {
  skew_ = Seconds(static_cast<int64_t>(world_.rng.Below(2000)));
  if (setup_.election == nullptr) {
    Lead(term_ + 1);
  } else {
    Campaign();
  }
}

bool MasterActor::Leads() const {
  return core_ != nullptr && (setup_.election == nullptr || world_.now() < lead_until_ ||
                              setup_.canary == Canary::kAnswersWhenDeposed);
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
        if (*won == 0 && setup_.canary == Canary::kAnswersWhenDeposed) return;
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
  if (setup_.options.multi_tenants)
    MC_CHECK_OK(core_->SetQuota(kDefaultTenant, setup_.quota).status());
  segments_seen_ = core_->GetCounters().segments;
  world_.After(*this, kTick, [this, term] {
    if (core_ != nullptr && term_ == term) Tick();
  });
}

// A snapshot, however old, or none; and all of the log after it.
core::RestoreArgs MasterActor::ReadBack(core::Restorer& restorer) {
  DurableLog& log = *setup_.log;
  uint64_t from = 0;
  const size_t chosen = world_.rng.Below(log.snapshots.size() + 1);
  const auto apply = [&](core::Record record) {
    auto* segment = std::get_if<core::SegmentRecord>(&record);
    if (setup_.canary == Canary::kKeepOldEpoch && segment != nullptr)
      --segment->descriptor.epoch.value;
    restorer.Apply(std::move(record));
  };
  if (chosen < log.snapshots.size()) {
    from = log.snapshots[chosen].from;
    for (const core::Record& record : log.snapshots[chosen].records) apply(record);
    ++from_snapshots_;
  }
  for (const core::LogRecord& record : log.records) {
    if (record.sequence > from) apply(record.record);
  }
  world_.Trace(*this, [&] {
    return "leads term " + std::to_string(term_) + ", log up to " + std::to_string(log.last()) +
           " after " + std::to_string(from);
  });
  core::RestoreArgs args;
  args.sequence = log.last();
  if (setup_.canary != Canary::kNoLeaseOnRestore) args.lease = setup_.options.lease_ttl;
  const bool alone = setup_.election == nullptr || setup_.canary == Canary::kNoQuietTime;
  if (!alone && term_ > 1) args.quiet = 2 * kLeadership;
  return args;
}

void MasterActor::Restore() {
  DurableLog& log = *setup_.log;
  log.term = term_;
  const bool lost = log.last() > 0 && setup_.lose_disk_permille > 0 &&
                    world_.rng.Chance(setup_.lose_disk_permille, 1000);
  if (lost) log.Lose();
  core::Restorer restorer;
  const core::RestoreArgs args = ReadBack(restorer);
  const core::RestoreReport report = core_->Restore(Clock(), std::move(restorer), args);
  if (report.bad_records > 0) oracle_.Violation("restore: the log has records that make no sense");
  written_ = synced_ = args.sequence;
  restores_ += args.sequence > 0;
  successions_ += args.quiet > Duration::zero();
  versions_restored_ += report.versions;
  TellRestored(lost);
  if (setup_.canary != Canary::kKeepOldEpoch) return;
  for (const SegmentInfo& info : core_->GetSegments({})) {
    SegmentDescriptor segment = info.descriptor;
    ++segment.epoch.value;
    core_->MountSegment(Clock(), segment.owner, segment).Ignore("a planted bug");
  }
}

void MasterActor::TellRestored(bool disk_lost) {
  core::SnapshotWalk all = core_->StartSnapshot();
  while (!core_->Step(Clock(), all, 1000)) {
  }
  std::vector<core::VersionRecord> versions;
  for (core::Record& record : all.records) {
    if (auto* version = std::get_if<core::VersionRecord>(&record))
      versions.push_back(std::move(*version));
  }
  oracle_.Restored(term_, versions, disk_lost,
                   setup_.election == nullptr ? Duration::zero() : kLeadership);
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

uint64_t MasterActor::Written(uint64_t after) {
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

void MasterActor::GiveAfter(uint64_t sequence, std::function<void()> give) {
  if (sequence <= synced_) return Give(std::move(give));
  waiting_.push_back({sequence, std::move(give)});
}

void MasterActor::Give(std::function<void()> give) {
  if (world_.rng.Below(8) != 0) return give();
  world_.After(*this, std::chrono::microseconds(world_.rng.Between(1, 300)), std::move(give));
}

// All that was written until it starts becomes durable together.
void MasterActor::StartSync() {
  if (syncing_ || unsynced_.empty()) return;
  syncing_ = true;
  sync_moment_ = oracle_.Now();
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
  oracle_.Durable(term_, sync_moment_);
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
  for (Waiting& one : ready) Give(std::move(one.give));
  StartSync();
}

void MasterActor::TakeSnapshot() {
  if (!snapshot_) {
    if (world_.rng.Chance(1, 300)) snapshot_ = core_->StartSnapshot();
    return;
  }
  if (world_.rng.Below(setup_.snapshot_pause) != 0) return;
  const auto keys = static_cast<uint32_t>(world_.rng.Between(1, 4));
  if (!snapshot_->position.done && !core_->Step(Clock(), *snapshot_, keys)) return;
  DurableLog& log = *setup_.log;
  if (snapshot_->until > synced_ || log.term != term_) return;
  log.snapshots.push_back({snapshot_->from, std::move(snapshot_->records)});
  snapshot_.reset();
}

bool MasterActor::Has(const std::string& key, PutId put_id) const {
  const auto stat = core_->Stat(Clock(), ObjectName{kDefaultTenant, key});
  return stat.ok() && stat->put_id == put_id;
}

void MasterActor::NoteLosses() {
  const core::Counters counters = core_->GetCounters();
  const uint64_t losses = counters.evicted_objects + counters.expired_clients +
                          counters.replaced_segments + counters.lost_objects;
  if (losses == losses_seen_ && counters.segments == segments_seen_) return;
  losses_seen_ = losses;
  segments_seen_ = counters.segments;
  oracle_.Losses(term_, [this](const std::string& key, PutId id) { return Has(key, id); });
}

void MasterActor::Tick() {
  core_->Tick(Clock(), static_cast<uint32_t>(world_.rng.Between(1, 200)));
  NoteLosses();
  if (durable()) {
    TakeSnapshot();
    Written(0);
  }
  world_.After(*this, kTick, [this, term = term_] {
    if (core_ != nullptr && term_ == term) Tick();
  });
}

}  // namespace mooncake::sim
