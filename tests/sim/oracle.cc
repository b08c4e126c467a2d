#include "tests/sim/oracle.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace mooncake::sim {
namespace {

std::string Name(const std::string& key, PutId put_id) {
  return "key " + key + ", put " + std::to_string(put_id.value);
}

// The caller knows only that it cannot know.
bool Unknown(const Status& status) {
  return status.code() == ErrorCode::kRpcTimeout || status.code() == ErrorCode::kRpcFail;
}

}  // namespace

void Oracle::Violation(const std::string& what) {
  if (!violation_) {
    violation_ =
        "at " + std::to_string(world_.now().time_since_epoch().count() / 1000) + " us: " + what;
  }
}

void Oracle::Started(uint64_t term, const std::string& key, const PutStartReply& reply,
                     uint64_t size, uint64_t token) {
  Put put{.key = key, .size = size, .token = token};
  for (const ReplicaDescriptor& replica : reply.replicas) {
    for (const Extent& extent : replica.extents) put.parts.push_back({extent, {}});
  }
  if (!puts_.emplace(reply.put_id.value, std::move(put)).second)
    return Violation("put id given twice: " + Name(key, reply.put_id));
  if (!Outdated(term)) CheckPlaces(key, reply.put_id);
}

// Bytes must not be given away while anybody holds a lease on what is in them.
void Oracle::CheckPlaces(const std::string& key, PutId put_id) {
  for (const Put::Part& part : puts_.at(put_id.value).parts) {
    const Extent& extent = part.extent;
    Places& places = places_[extent.segment];
    const uint64_t end = extent.offset + ExtentFootprint(extent.length);
    auto it = places.upper_bound(extent.offset);
    if (it != places.begin() && std::prev(it)->second.end > extent.offset) --it;
    while (it != places.end() && it->first < end) {
      const Put& before = puts_.at(it->second.put_id.value);
      if (before.PartLeasedUntil(extent.segment, it->first) > world_.now()) {
        Violation("P1: bytes of put " + std::to_string(it->second.put_id.value) + " of key " +
                  before.key + ", which is leased, were given to " + Name(key, put_id));
      }
      it = places.erase(it);
    }
    places[extent.offset] = {end, put_id};
  }
}

void Oracle::SegmentForgotten(uint64_t term, const SegmentId& segment) {
  if (!Outdated(term)) places_.erase(segment);
}

// A version that the successor does not know is not leased by it; its readers are cut off by the new epoch.
Oracle::Put* Oracle::Leasable(uint64_t term, PutId put_id) {
  const auto found = puts_.find(put_id.value);
  if (found == puts_.end() || (Outdated(term) && !found->second.has_name)) return nullptr;
  return &found->second;
}

void Oracle::Leased(uint64_t term, const ReplicaList& list) {
  Put* put = Leasable(term, list.put_id);
  if (put == nullptr) return;
  const TimePoint until = world_.now() + list.lease;
  put->leased_until = std::max(put->leased_until, until);
  for (const ReplicaDescriptor& replica : list.replicas) {
    for (const Extent& extent : replica.extents) {
      for (Put::Part& part : put->parts) {
        if (part.extent.segment == extent.segment && part.extent.offset == extent.offset)
          part.leased_until = std::max(part.leased_until, until);
      }
    }
  }
}

// Whoever renews may hold any replica that is leased now.
void Oracle::Renewed(uint64_t term, PutId put_id, Duration lease) {
  Put* put = Leasable(term, put_id);
  if (put == nullptr) return;
  const TimePoint now = world_.now();
  put->leased_until = std::max(put->leased_until, now + lease);
  for (Put::Part& part : put->parts) {
    if (part.leased_until > now) part.leased_until = std::max(part.leased_until, now + lease);
  }
}

TimePoint Oracle::Put::PartLeasedUntil(const SegmentId& segment, uint64_t offset) const {
  for (const Part& part : parts) {
    if (part.extent.segment == segment && part.extent.offset == offset) return part.leased_until;
  }
  return TimePoint{};
}

void Oracle::Put::EndLeases() {
  leased_until = TimePoint{};
  for (Part& part : parts) part.leased_until = TimePoint{};
}

void Oracle::Open(const std::string& key, PutId put_id) {
  history_[key].push_back({put_id, world_.now(), kNever, ++moment_, 0});
  Put& put = puts_.at(put_id.value);
  put.in_history = put.has_name = true;
}

void Oracle::Close(const std::string& key, Duration after) {
  auto& intervals = history_[key];
  if (intervals.empty() || intervals.back().to != kNever) return;
  intervals.back().to = world_.now() + after;
  intervals.back().ended = ++moment_;
  puts_.at(intervals.back().put_id.value).has_name = false;
}

const Oracle::Interval* Oracle::OpenOne(const std::string& key) const {
  const auto found = history_.find(key);
  if (found == history_.end() || found->second.empty()) return nullptr;
  return found->second.back().to == kNever ? &found->second.back() : nullptr;
}

bool Oracle::HeldSince(const std::string& key, TimePoint started) const {
  if (OpenOne(key) == nullptr) return false;
  const auto& intervals = history_.at(key);
  // A version that takes the place of another one begins in the moment after its end.
  for (size_t i = intervals.size(); i-- > 0;) {
    if (intervals[i].from < started) return true;
    if (i == 0 || intervals[i - 1].ended + 1 != intervals[i].began) return false;
  }
  return false;
}

bool Oracle::HadName(const std::string& key, PutId put_id, TimePoint started) const {
  const auto found = history_.find(key);
  if (found == history_.end()) return false;
  const auto held = [&](const Interval& interval) {
    return (put_id == kNoPut || interval.put_id == put_id) && interval.to >= started;
  };
  return std::any_of(found->second.rbegin(), found->second.rend(), held);
}

std::vector<std::string> Oracle::KeysUnder(const std::string& prefix) const {
  std::vector<std::string> keys;
  for (auto it = history_.lower_bound(prefix); it != history_.end(); ++it) {
    if (it->first.compare(0, prefix.size(), prefix) != 0) break;
    keys.push_back(it->first);
  }
  return keys;
}

void Oracle::Committed(uint64_t term, const std::string& key, PutId put_id) {
  const auto put = puts_.find(put_id.value);
  if (put == puts_.end())
    return Violation("P1: a put that never began was committed: " + Name(key, put_id));
  if (put->second.committed) return;  // a repeated End
  put->second.committed = true;
  if (put->second.refused)
    Violation("P3: committed after its writer was told that it failed: " + Name(key, put_id));
  if (put->second.key != key) Violation("P1: committed under another key: " + Name(key, put_id));
  if (!Outdated(term)) {
    Close(key);
    return Open(key, put_id);
  }
  // Only a new key may be acknowledged and shown without the log, as long as the old master answers at all.
  if (sync_ || OpenOne(key) != nullptr) return;
  Open(key, put_id);
  Close(key, Seconds(1));
}

void Oracle::Removed(uint64_t term, const std::string& key, bool force) {
  if (Outdated(term)) return;
  if (!force) CheckUnleased(term, key);
  Close(key);
}

void Oracle::CheckUnleased(uint64_t term, const std::string& key) {
  const Interval* open = OpenOne(key);
  if (Outdated(term) || open == nullptr) return;
  if (puts_.at(open->put_id.value).leased_until > world_.now())
    Violation("removed without force under a lease: " + Name(key, open->put_id));
}

void Oracle::Losses(uint64_t term, const std::function<bool(const std::string&, PutId)>& has) {
  if (Outdated(term)) return;
  // What went with its segment needs nobody's leave, so that a predecessor may go on to show it: nothing takes its place meanwhile.
  const Duration after = std::max(overlap_end_ - world_.now(), Duration::zero());
  for (auto& [key, intervals] : history_) {
    const Interval* open = OpenOne(key);
    if (open != nullptr && !has(key, open->put_id)) Close(key, after);
  }
}

void Oracle::Renamed(uint64_t term, const std::string& from, const std::string& to) {
  const Interval* source = OpenOne(from);
  if (Outdated(term) || from == to || source == nullptr) return;
  const PutId put_id = source->put_id;
  Close(from);
  Close(to);
  Open(to, put_id);
}

void Oracle::Shown(uint64_t term, const std::string& key, uint64_t moment) {
  if (!Outdated(term)) shown_[key] = std::max(shown_[key], moment);
}

// The version has its name again, or still.
void Oracle::CheckRestored(const core::VersionRecord& version) {
  const std::string& key = version.key;
  const PutId put_id = version.put_id;
  const Interval* last = nullptr;
  for (const Interval& interval : history_[key]) {
    if (interval.put_id == put_id) last = &interval;
  }
  if (last == nullptr)
    return Violation("P1: restored what never had the name: " + Name(key, put_id));
  if (last->to != kNever && last->ended <= shown_[key])
    Violation("P1: restored, though it was known to be gone: " + Name(key, put_id));
  for (const core::PlacedExtent& extent : version.extents) {
    const Places& places = places_[extent.segment];
    auto it = places.upper_bound(extent.offset + ExtentFootprint(extent.length) - 1);
    for (; it != places.begin() && std::prev(it)->second.end > extent.offset; --it) {
      const PutId owner = std::prev(it)->second.put_id;
      if (owner != put_id)
        Violation("P1: restored, though its bytes were given to put " +
                  std::to_string(owner.value) + ": " + Name(key, put_id));
    }
  }
}

void Oracle::Restored(uint64_t term, const std::vector<core::VersionRecord>& versions,
                      bool disk_lost, Duration overlap) {
  term_ = term;
  overlap_end_ = world_.now() + overlap;
  std::map<std::string, PutId> names;
  std::set<uint64_t> known;
  for (const core::VersionRecord& version : versions) {
    CheckRestored(version);
    names[version.key] = version.put_id;
    known.insert(version.put_id.value);
  }
  for (auto& [key, intervals] : history_) {
    const auto restored = names.find(key);
    const Interval* open = OpenOne(key);
    if (restored != names.end() && open != nullptr && open->put_id == restored->second) continue;
    const bool durable = open != nullptr && open->began <= durable_;
    const bool acknowledged = open != nullptr && sync_ && open->began <= shown_[key];
    if (!disk_lost && restored == names.end() && (durable || acknowledged))
      Violation((durable ? "P2: durable, but lost by a restart: "
                         : "P2: acknowledged, but lost by a restart: ") +
                Name(key, open->put_id));
    Close(key, overlap);
    if (restored != names.end()) Open(key, restored->second);
  }
  for (auto& [id, put] : puts_) {
    if (known.count(id) == 0) put.EndLeases();
  }
  durable_ = moment_;
}

void Oracle::MasterLostAll() {
  for (auto& [key, intervals] : history_) Close(key);
}

void Oracle::PutReturned(const std::string& key, PutId put_id, const Status& status) {
  const auto put = puts_.find(put_id.value);
  if (put == puts_.end()) return;
  if (status.ok() && !put->second.in_history)
    Violation("P2: told OK, never committed: " + Name(key, put_id));
  if (status.ok() || Unknown(status)) return;
  put->second.refused = true;
  // "The put is gone" is true of one that was committed and then removed, as when an End was repeated.
  if (put->second.has_name)
    Violation("P3: told '" + status.ToString() + "' but readable: " + Name(key, put_id));
}

void Oracle::GetReturned(const std::string& key, TimePoint started, PutId put_id, uint64_t size,
                         const std::vector<Piece>& pieces) {
  ++reads_checked_;
  const auto put = puts_.find(put_id.value);
  if (put == puts_.end()) return Violation("P1: read a put that never began: " + Name(key, put_id));
  if (put->second.size != size) Violation("P1: wrong size: " + Name(key, put_id));
  uint64_t at = 0;
  for (const Piece& piece : pieces) {
    if (piece.token != put->second.token || piece.at != at) {
      return Violation("P1: foreign, torn or misplaced bytes at " + std::to_string(at) + " of " +
                       Name(key, put_id) + ": token " + std::to_string(piece.token) + " at " +
                       std::to_string(piece.at) + ", wanted token " +
                       std::to_string(put->second.token));
    }
    at += piece.length;
  }
  if (at != size)
    return Violation("P1: " + std::to_string(at) + " bytes read of " + std::to_string(size));
  if (!HadName(key, put_id, started)) Violation("P1: stale or uncommitted: " + Name(key, put_id));
}

void Oracle::NotFoundReturned(const std::string& key, TimePoint started) {
  if (!HeldSince(key, started)) return;
  Violation("P2: not found, though nothing removed it: " + Name(key, OpenOne(key)->put_id));
}

void Oracle::FoundReturned(const std::string& key, TimePoint started) {
  if (!HadName(key, kNoPut, started)) Violation("P1: found, though it was gone: key " + key);
}

void Oracle::StatReturned(const std::string& key, TimePoint started, const ObjectStat& stat) {
  if (!HadName(key, stat.put_id, started)) {
    Violation("P1: stat is stale: " + Name(key, stat.put_id));
  } else if (puts_.at(stat.put_id.value).size != stat.size) {
    Violation("P1: stat has a wrong size: " + Name(key, stat.put_id));
  }
}

void Oracle::ListReturned(const std::string& prefix, TimePoint started, const ListReply& reply) {
  std::set<std::string> listed;
  for (const ListEntry& entry : reply.entries) {
    StatReturned(entry.key, started, entry.stat);
    listed.insert(entry.key);
  }
  for (const std::string& key : KeysUnder(prefix)) {
    if (listed.count(key) == 0 && HeldSince(key, started))
      Violation("P2: not listed, though nothing removed it: key " + key);
  }
}

}  // namespace mooncake::sim
