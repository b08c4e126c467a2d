#include "master/core/persist/restore.h"

#include <algorithm>
#include <utility>

#include "master/core/persist/outcomes.h"
#include "master/core/quota.h"
#include "master/core/state.h"
#include "master/core/versions.h"
#include "transfer/base/check.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

class Builder {
 public:
  Builder(State& state, TimePoint now, const Restorer& restorer, const RestoreArgs& args)
      : state_(state), now_(now), restorer_(restorer), args_(args) {}

  RestoreReport Run() {
    report_.bad_records = restorer_.bad_records();
    for (const auto& [id, segment] : restorer_.segments()) {
      if (segment.descriptor.has_value()) Mount(*segment.descriptor);
    }
    for (const auto& [put_id, version] : restorer_.versions()) Consider(*version);
    // In the order in which they were written, which is about that of their last use.
    std::sort(chosen_.begin(), chosen_.end(), [](const Chosen& a, const Chosen& b) {
      return a.version->record.put_id < b.version->record.put_id;
    });
    for (size_t i = 0; i < chosen_.size(); ++i) {
      for (size_t e = 0; e < chosen_[i].extents.size(); ++e) claims_.push_back({i, e});
    }
    std::sort(claims_.begin(), claims_.end(), [this](const Claim& a, const Claim& b) {
      const ExtentRef& x = ExtentOf(a);
      const ExtentRef& y = ExtentOf(b);
      return x.slot != y.slot ? x.slot < y.slot : x.offset < y.offset;
    });
    while (DropOverlapping()) {
    }
    Reserve();
    for (Chosen& one : chosen_) Commit(one);
    return report_;
  }

  // Versions that were not taken over. Said to the log, or what follows could make them look sound one day.
  const std::vector<const VersionRecord*>& left_out() const { return left_out_; }

 private:
  struct Chosen {
    const Restorer::Version* version;
    ExtentList extents;
    bool dropped = false;
  };
  struct Claim {
    size_t chosen;
    size_t extent;
  };

  ExtentRef& ExtentOf(const Claim& claim) { return chosen_[claim.chosen].extents[claim.extent]; }

  void Mount(const SegmentDescriptor& descriptor) {
    if (state_.pool.FindByName(descriptor.name) != kNoSlot) {
      ++report_.bad_records;
      return;
    }
    const uint32_t slot = state_.pool.Mount(descriptor);
    state_.pool.at(slot).attached = false;
    state_.pool.at(slot).restored = true;
    state_.pool.SetStatus(slot, SegmentStatus::kUndefined);
    auto* owner = state_.clients.Find(descriptor.owner);
    if (owner == nullptr) {
      const TimePoint until = SaturatingAdd(now_, args_.quiet + state_.options.client_ttl);
      state_.clients.Insert(descriptor.owner, until, ClientState{.last_ping = now_});
      owner = state_.clients.Find(descriptor.owner);
    }
    ++owner->value.segments;
    owner->value.needs_remount = true;
    ++report_.segments;
  }

  void LeaveOut(const VersionRecord& record, uint64_t& count) {
    ++count;
    left_out_.push_back(&record);
  }

  // Takes its living replicas, if they make sense.
  void Consider(const Restorer::Version& version) {
    const VersionRecord& record = version.record;
    if (!(record.put_id < FirstPutIdOf(state_.term))) return LeaveOut(record, report_.bad_records);
    Chosen one{&version, {}, false};
    size_t begin = 0;  // of the replica at hand
    bool lives = true;
    for (size_t i = 0; i < record.extents.size(); ++i) {
      const PlacedExtent& extent = record.extents[i];
      if (i > 0 && extent.replica != record.extents[i - 1].replica) {
        begin = one.extents.size();
        lives = true;
      }
      const uint32_t slot = state_.pool.FindById(extent.segment);
      lives = lives && restorer_.Lives(version, i) && slot != kNoSlot;
      if (!lives) {
        one.extents.resize(begin);
        continue;
      }
      if (!Fits(slot, extent, std::span(one.extents).first(begin)))
        return LeaveOut(record, report_.bad_records);
      ExtentRef ref;
      ref.slot = slot;
      ref.offset = extent.offset;
      ref.length = extent.length & ((uint64_t{1} << 56) - 1);
      ref.replica = extent.replica;
      one.extents.push_back(ref);
    }
    if (one.extents.empty() && record.size > 0) return LeaveOut(record, report_.lost_versions);
    chosen_.push_back(std::move(one));
  }

  // No two replicas share a segment; ends with an alignment's rounding, as the allocator has it.
  bool Fits(uint32_t slot, const PlacedExtent& extent, std::span<const ExtentRef> others) const {
    const auto same = [&](const ExtentRef& other) { return other.slot == slot; };
    return extent.offset + ExtentFootprint(extent.length) <=
               state_.pool.at(slot).allocator->capacity() &&
           std::none_of(others.begin(), others.end(), same);
  }

  // Of two that claim the same bytes the older one was written over. True when something was dropped.
  bool DropOverlapping() {
    bool dropped = false;
    const Claim* last = nullptr;
    for (const Claim& claim : claims_) {
      if (chosen_[claim.chosen].dropped) continue;
      const ExtentRef& extent = ExtentOf(claim);
      if (last != nullptr && ExtentOf(*last).slot == extent.slot &&
          ExtentOf(*last).offset + ExtentFootprint(ExtentOf(*last).length) > extent.offset) {
        Chosen& older = chosen_[std::min(last->chosen, claim.chosen)];
        older.dropped = dropped = true;
        LeaveOut(older.version->record, report_.bad_records);
        if (claim.chosen < last->chosen) continue;
      }
      last = &claim;
    }
    return dropped;
  }

  void Reserve() {
    std::vector<uint32_t> holes(state_.pool.slot_count(), SegmentAllocator::kNoHandle);
    for (uint32_t slot = 0; slot < holes.size(); ++slot)
      holes[slot] = state_.pool.at(slot).allocator->First();
    for (const Claim& claim : claims_) {
      if (chosen_[claim.chosen].dropped) continue;
      ExtentRef& extent = ExtentOf(claim);
      MC_CHECK(state_.pool.Claim(holes[extent.slot], extent)) << "claims overlap";
    }
  }

  void Commit(Chosen& one) {
    if (one.dropped) return;
    const VersionRecord& record = one.version->record;
    Object* object = state_.table.Insert(record.tenant, record.key);
    NewVersion version;
    version.put_id = record.put_id;
    version.size = record.size;
    version.created_ms = record.created_ms;
    version.extents = std::move(one.extents);
    version.replicas_wanted = record.replicas_wanted;
    version.attributes = record.attributes;
    version.hard_pin = record.hard_pin;
    version.group = record.group;
    Charge(state_, *object->tenant, version.extents);
    core::Commit(state_, *object, std::move(version), now_);
    if (args_.lease > Duration::zero()) Touch(state_, *object, now_);
    ++report_.versions;
  }

  State& state_;
  const TimePoint now_;
  const Restorer& restorer_;
  const RestoreArgs args_;
  RestoreReport report_;
  std::vector<Chosen> chosen_;
  std::vector<Claim> claims_;
  std::vector<const VersionRecord*> left_out_;
};

}  // namespace

RestoreReport Restore(State& state, TimePoint now, const Restorer& restorer,
                      const RestoreArgs& args) {
  MC_CHECK(state.table.size() == 0 && state.pool.slot_count() == 0) << "not a new state";
  state.journal.Pause();
  state.quiet_until = SaturatingAdd(now, args.quiet);
  state.restored_upto = args.sequence;
  if (args.lease > Duration::zero())
    state.old_leases_end = SaturatingAdd(state.quiet_until, args.lease);
  Builder builder(state, now, restorer, args);
  const RestoreReport report = builder.Run();
  state.counters.leases_granted = 0;
  state.journal.Resume(args.sequence);
  if (!state.journal.on()) return report;
  for (const VersionRecord* record : builder.left_out()) {
    state.journal.Append(NameGoneRecord{record->tenant, record->key, record->put_id});
  }
  return report;
}

}  // namespace mooncake::core
