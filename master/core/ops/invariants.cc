// What must hold between any two operations, said in words when it does not. Walks everything.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "master/core/checks.h"
#include "master/core/ops/ops.h"
#include "master/core/versions.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

using Bytes = std::map<uint32_t, uint64_t>;  // by slot

class Checker {
 public:
  Checker(const State& state, TimePoint now) : state_(state), now_(now) {}

  std::optional<std::string> Run() {
    CheckTenants();
    CheckTimedMaps();
    CheckSegments();
    CheckQueues();
    CheckBooks();
    CheckTotals();
    if (broken_.empty()) return std::nullopt;
    return broken_;
  }

 private:
  void Expect(bool holds, const std::string& words) {
    if (!holds && broken_.empty()) broken_ = words;
  }
  template <typename A, typename B>
  void ExpectEqual(const A& a, const B& b, const std::string& words) {
    Expect(static_cast<uint64_t>(a) == static_cast<uint64_t>(b),
           words + ": " + std::to_string(static_cast<uint64_t>(a)) + " and " +
               std::to_string(static_cast<uint64_t>(b)));
  }

  // `tenant` is charged for them; null: nobody is.
  void CheckExtents(std::span<const ExtentRef> extents, const Tenant* tenant, const Object* owner,
                    const std::string& whose) {
    for (const ExtentRef& extent : extents) {
      Expect(blocks_.insert({extent.slot, extent.block}).second, whose + " shares a block");
      const Segment& segment = state_.pool.at(extent.slot);
      ++extents_[extent.slot];
      if (!segment.live) continue;
      Expect(segment.allocator->IsLive(extent.block),
             whose + " has an extent that the allocator calls free");
      const uint64_t bytes = segment.allocator->BlockBytes(extent.block);
      used_[extent.slot] += bytes;
      if (tenant != nullptr) charged_[{extent.slot, tenant->number}] += bytes;
      Expect(bytes >= ExtentFootprint(extent.length),
             whose + " has an extent longer than its block");
      Expect(extent.offset + bytes <= segment.capacity(),
             whose + " has an extent beyond its segment");
      Expect(state_.pool.Owner(extent.slot, extent.block) == owner,
             whose + " has a block of another owner");
    }
  }

  // Each replica is whole, and no two share a segment.
  void CheckReplicas(std::span<const ExtentRef> extents, uint64_t size, const std::string& whose) {
    std::map<uint64_t, uint64_t> length;
    std::map<uint32_t, uint64_t> replica_of;
    for (const ExtentRef& extent : extents) {
      length[extent.replica] += extent.length;
      const auto [it, fresh] = replica_of.try_emplace(extent.slot, extent.replica);
      Expect(fresh || it->second == extent.replica, whose + " has two replicas in one segment");
    }
    for (const auto& [replica, sum] : length)
      ExpectEqual(sum, size, whose + ": length of a replica, and size");
    Expect(size == 0 || !extents.empty(), whose + " has bytes but no extents");
  }

  void CheckVersion(const Object& object, const std::string& whose) {
    ExtentRef scratch;
    const auto extents = object.extents(scratch);
    CheckExtents(extents, object.tenant, &object, whose);
    CheckReplicas(extents, object.size, whose);
    std::set<std::pair<uint64_t, uint32_t>> places;
    for (const ExtentRef& extent : extents) places.insert({extent.replica, extent.slot});
    for (const auto& [replica, slot] : places) ++replicas_[slot];
    ++versions_;
    hard_pins_ += object.hard_pin;
    under_replicated_ += object.under_replicated;
    if (object.soft_pin_until() != TimePoint{}) {
      ++soft_pins_;
      const auto* pin = state_.soft_pins.Find(object.put_id);
      Expect(pin != nullptr && pin->value == &object && pin->deadline == object.soft_pin_until(),
             whose + " has a soft pin without its timer");
    }
    if (object.renamed) {
      ++renamed_;
      const auto* renamed = state_.renamed.Find(object.put_id);
      Expect(renamed != nullptr && renamed->value == &object,
             whose + " was renamed, but is not known as such");
    }
    const bool queued = object.home != kNoSlot && !object.hard_pin && object.pending == nullptr;
    Expect(queued == (object.queue != Queue::kNone),
           whose + (queued ? " waits in no queue" : " waits in a queue"));
    queued_ += queued;
    Expect(put_ids_.insert(object.put_id).second, whose + " has the version of another");
    if (const Group* group = object.group()) {
      Expect(group->members.contains(const_cast<Object*>(&object)),
             whose + " is no member of its group");
      ++group_members_;
    }
  }

  void CheckObject(const Object& object, const std::string& whose) {
    Expect(state_.table.Find(*object.tenant, object.key()) == &object,
           whose + " is not found by its name");
    Expect(object.has_version() || object.pending != nullptr,
           whose + " has neither version nor write");
    if (!object.has_version())
      Expect(object.queue == Queue::kNone, whose + " waits for eviction without a version");
    if (object.pending == nullptr) return;
    const PendingPut& put = *object.pending;
    CheckExtents(put.extents, object.tenant, nullptr, "the write on " + whose);
    CheckReplicas(put.extents, put.size, "the write on " + whose);
    const auto* timer = state_.writes.Find(put.put_id);
    Expect(timer != nullptr && timer->value == &object, "the write on " + whose + " has no timer");
    Expect(put_ids_.insert(put.put_id).second,
           "the write on " + whose + " has the put id of another");
    ++writes_;
  }

  void CheckTenants() {
    uint64_t objects = 0;
    for (const auto& [name, tenant] : state_.table.tenants()) {
      std::set<const Object*> all(tenant->readable.begin(), tenant->readable.end());
      for (const Object* object : tenant->readable) {
        const std::string whose = "key " + Quote(object->key()) + " of tenant " + Quote(name);
        Expect(object->has_version(), whose + " is indexed without a version");
        if (object->has_version()) CheckVersion(*object, whose);
        CheckObject(*object, whose);
      }
      for (const Object* object : tenant->writing) {
        const std::string whose = "key " + Quote(object->key()) + " of tenant " + Quote(name);
        Expect(object->pending != nullptr, whose + " is indexed without a write");
        if (all.insert(object).second) CheckObject(*object, whose);
      }
      ExpectEqual(tenant->objects, all.size(),
                  "objects of tenant " + Quote(name) + ", and indexed");
      objects += tenant->objects;
      uint64_t members = 0;
      for (const auto& [group_name, group] : tenant->groups) {
        Expect(!group->members.empty(), "group " + Quote(group_name) + " is empty");
        members += group->members.size();
      }
      ExpectEqual(members, std::exchange(group_members_, 0),
                  "members of groups of tenant " + Quote(name));
    }
    ExpectEqual(state_.table.size(), objects, "objects in the table, and of all tenants");
  }

  uint64_t LiveBytes(std::span<const ExtentRef> extents) const {
    uint64_t bytes = 0;
    for (const ExtentRef& extent : extents) {
      if (state_.pool.live(extent.slot)) bytes += extent.length;
    }
    return bytes;
  }

  void CheckTimedMaps() {
    uint64_t discarded_bytes = 0;
    uint64_t detached_bytes = 0;
    state_.discarded.ForEach([&](PutId id, const auto& item) {
      CheckExtents(item.value.extents, item.value.tenant, nullptr,
                   "discarded put " + std::to_string(id.value));
      ++nameless_[item.value.tenant->number];
      discarded_bytes += LiveBytes(item.value.extents);
    });
    for (const Journal::Held& held : state_.journal.held()) {
      CheckExtents(held.extents, nullptr, nullptr, "space held for the log");
      for (const ExtentRef& extent : held.extents) {
        const Segment& segment = state_.pool.at(extent.slot);
        if (segment.live) held_[extent.slot] += segment.allocator->BlockBytes(extent.block);
      }
    }
    state_.detached.ForEach([&](PutId id, const auto& item) {
      CheckExtents(item.value.extents, item.value.tenant, nullptr,
                   "detached version " + std::to_string(id.value));
      ++nameless_[item.value.tenant->number];
      detached_bytes += LiveBytes(item.value.extents);
      Expect(put_ids_.insert(id).second,
             "detached version " + std::to_string(id.value) + " still has a name");
    });
    ExpectEqual(state_.pool.nameless(Nameless::kDiscarded), discarded_bytes,
                "discarded bytes, counted and summed");
    ExpectEqual(state_.pool.nameless(Nameless::kDetached), detached_bytes,
                "detached bytes, counted and summed");
    ExpectEqual(state_.writes.size(), writes_, "timers of writes, and writes");
    ExpectEqual(state_.soft_pins.size(), soft_pins_, "timers of soft pins, and soft pins");
    ExpectEqual(state_.renamed.size(), renamed_, "versions known as renamed, and renamed ones");
    state_.leaving.ForEach([&](const SegmentId& id, const auto& item) {
      const Segment& segment = state_.pool.at(item.value);
      Expect(segment.live && segment.descriptor.id == id &&
                 segment.status == SegmentStatus::kGracefullyUnmounting,
             "segment " + id.ToString() + " has a timer but is not leaving");
    });
    state_.quarantined.ForEach([&](const SegmentId& id, const auto& item) {
      const Segment& segment = state_.pool.at(item.value);
      Expect(segment.live && segment.descriptor.id == id && segment.quarantined,
             "segment " + id.ToString() + " has a timer but no quarantine");
    });
  }

  void CheckSegments() {
    std::map<ClientId, uint64_t> owned;
    for (uint32_t slot = 0; slot < state_.pool.slot_count(); ++slot) {
      const Segment& segment = state_.pool.at(slot);
      const std::string whose = "segment " + Quote(segment.descriptor.name);
      ExpectEqual(segment.extents, extents_[slot], whose + ": extents, counted and found");
      ExpectEqual(segment.replicas, replicas_[slot], whose + ": replicas, counted and found");
      ExpectEqual(segment.held, held_[slot], whose + ": bytes held for the log, counted and found");
      total_held_ += segment.held;
      if (segment.live) {
        ++owned[segment.descriptor.owner];
        capacity_ += segment.capacity();
        total_used_ += segment.used();
      }
      if (!segment.live) continue;
      ExpectEqual(segment.used(), used_[slot], whose + ": bytes used, and bytes of its extents");
      uint64_t at = 0;
      for (const SegmentAllocator::Range& range : segment.allocator->Ranges()) {
        ExpectEqual(range.offset, at, whose + ": offset of a block, and end of the one before");
        at = range.offset + range.bytes;
      }
      ExpectEqual(at, segment.allocator->capacity(),
                  whose + ": end of the last block, and capacity");
    }
    state_.clients.ForEach([&](const ClientId& id, const auto& item) {
      ExpectEqual(item.value.segments, owned[id],
                  "client " + id.ToString() + ": segments, counted and found");
      owned.erase(id);
    });
    for (const auto& [id, count] : owned)
      ExpectEqual(count, 0, "client " + id.ToString() + " is unknown, segments");
  }

  void CheckQueues() {
    uint64_t waiting = 0;
    for (uint32_t slot = 0; slot < state_.pool.slot_count(); ++slot) {
      for (size_t q = 0; q < state_.pool.at(slot).queues.size(); ++q) {
        const Object* colder = nullptr;
        for (const Object* o = state_.pool.at(slot).queues[q].coldest(); o != nullptr;
             o = o->warmer) {
          const std::string whose = "key " + Quote(o->key());
          Expect(o->home == slot && o->queue == static_cast<Queue>(q),
                 whose + " waits in a wrong queue");
          Expect(o->colder == colder, whose + " is linked wrongly");
          Expect((o->soft_pin_until() != TimePoint{}) == (q >= 2),
                 whose + " waits among the wrong kind");
          Expect(o->leased == (q % 2 == 1),
                 whose + " was " + (o->leased ? "" : "not ") + "read, unlike its queue");
          colder = o;
          ++waiting;
        }
      }
    }
    ExpectEqual(waiting, queued_, "objects waiting in queues, and objects that should");
  }

  void CheckBooks() {
    uint64_t charged = 0;
    uint64_t quotas = 0;
    uint64_t effective = 0;
    for (const auto& [name, tenant] : state_.table.tenants()) {
      const TenantBooks& books = tenant->books;
      const std::string whose = "tenant " + Quote(name);
      uint64_t sum = 0;
      for (uint32_t slot = 0; slot < state_.pool.slot_count(); ++slot) {
        const std::vector<uint64_t>& counted = state_.pool.at(slot).charged;
        const uint64_t here = tenant->number < counted.size() ? counted[tenant->number] : 0;
        const auto found = charged_.find({slot, tenant->number});
        const uint64_t bytes = found == charged_.end() ? 0 : found->second;
        ExpectEqual(here, bytes, whose + ": bytes charged in a segment, counted and found");
        sum += bytes;
      }
      ExpectEqual(books.charged, sum, whose + ": bytes charged, counted and found");
      ExpectEqual(books.nameless, nameless_[tenant->number],
                  whose + ": nameless versions, counted and found");
      Expect(tenant->objects + books.nameless + books.requested > 0, whose + " has nothing");
      charged += books.charged;
      quotas += books.requested > 0;
      effective += books.effective;
      Expect(books.effective <= books.requested, whose + " has more than was asked for it");
    }
    ExpectEqual(charged + state_.pool.held(), state_.pool.used(),
                "bytes charged to tenants or held for the log, and bytes used");
    ExpectEqual(state_.quota_count, quotas, "quotas, counted and found");
    Expect(effective <= state_.pool.capacity(), "the effective quotas exceed the capacity");
  }

  void CheckTotals() {
    const Counters& c = state_.counters;
    ExpectEqual(c.objects, versions_, "versions, counted and found");
    ExpectEqual(c.hard_pinned_objects, hard_pins_, "hard pins, counted and found");
    ExpectEqual(c.under_replicated_objects, under_replicated_,
                "under-replicated objects, counted and found");
    ExpectEqual(state_.pool.capacity(), capacity_, "capacity, counted and summed");
    ExpectEqual(state_.pool.used(), total_used_, "used bytes, counted and summed");
    ExpectEqual(state_.pool.held(), total_held_, "bytes held for the log, counted and summed");
  }

  const State& state_;
  [[maybe_unused]] const TimePoint now_;
  std::string broken_;
  std::set<std::pair<uint32_t, uint32_t>> blocks_;
  std::set<PutId> put_ids_;
  Bytes used_;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> charged_;  // by slot and number of the tenant
  std::map<uint32_t, uint64_t> nameless_;                      // by number of the tenant
  Bytes extents_;
  Bytes held_;
  Bytes replicas_;
  uint64_t versions_ = 0;
  uint64_t writes_ = 0;
  uint64_t hard_pins_ = 0;
  uint64_t soft_pins_ = 0;
  uint64_t renamed_ = 0;
  uint64_t under_replicated_ = 0;
  uint64_t queued_ = 0;
  uint64_t group_members_ = 0;
  uint64_t capacity_ = 0;
  uint64_t total_used_ = 0;
  uint64_t total_held_ = 0;
};

}  // namespace

std::optional<std::string> CheckInvariants(const State& state, TimePoint now) {
  return Checker(state, now).Run();
}

}  // namespace mooncake::core
