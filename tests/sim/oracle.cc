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

void Oracle::Leased(uint64_t term, const ReplicaList& list) {
  const auto found = puts_.find(list.put_id.value);
  // A version that the successor does not know is not leased by it; its readers are cut off by the new epoch.
  if (found == puts_.end() || (Outdated(term) && OpenOne(found->second.key) == nullptr)) return;
  const TimePoint until = world_.now() + list.lease;
  Put& put = found->second;
  put.leased_until = std::max(put.leased_until, until);
  for (const ReplicaDescriptor& replica : list.replicas) {
    for (const Extent& extent : replica.extents) {
      for (Put::Part& part : put.parts) {
        if (part.extent.segment == extent.segment && part.extent.offset == extent.offset)
          part.leased_until = std::max(part.leased_until, until);
      }
    }
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
}

void Oracle::Close(const std::string& key, Duration after) {
  auto& intervals = history_[key];
  if (intervals.empty() || intervals.back().to != kNever) return;
  intervals.back().to = world_.now() + after;
  intervals.back().ended = ++moment_;
}

const Oracle::Interval* Oracle::OpenOne(const std::string& key) const {
  const auto found = history_.find(key);
  if (found == history_.end() || found->second.empty()) return nullptr;
  return found->second.back().to == kNever ? &found->second.back() : nullptr;
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
  if (OpenOne(key) != nullptr) return;
  Open(key, put_id);
  Close(key, Seconds(1));
}

void Oracle::Removed(uint64_t term, const std::string& key, bool force) {
  if (Outdated(term)) return;
  const Interval* open = OpenOne(key);
  if (open != nullptr && !force && puts_.at(open->put_id.value).leased_until > world_.now())
    Violation("removed without force under a lease: " + Name(key, open->put_id));
  Close(key);
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
                      bool complete, Duration overlap) {
  term_ = term;
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
    if (complete && restored == names.end() && open != nullptr && open->began <= shown_[key] &&
        open->began > last_loss_moment_)
      Violation("P2: acknowledged, but lost by a restart: " + Name(key, open->put_id));
    Close(key, overlap);
    if (restored != names.end()) Open(key, restored->second);
  }
  for (auto& [id, put] : puts_) {
    if (known.count(id) == 0) put.EndLeases();
  }
}

void Oracle::MasterLostAll() {
  LossPossible();
  for (auto& [key, intervals] : history_) Close(key);
}

void Oracle::PutReturned(const std::string& key, PutId put_id, const Status& status) {
  const auto put = puts_.find(put_id.value);
  if (put == puts_.end()) return;
  if (status.ok() && !put->second.committed)
    Violation("P2: told OK, never committed: " + Name(key, put_id));
  if (status.ok() || Unknown(status)) return;
  put->second.refused = true;
  // "The put is gone" is true of one that was committed and then removed, as when an End was repeated.
  const auto& intervals = history_[key];
  const bool readable =
      !intervals.empty() && intervals.back().put_id == put_id && intervals.back().to == kNever;
  if (readable && last_loss_ < intervals.back().from)
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
  for (const Interval& interval : history_[key]) {
    if (interval.put_id == put_id && interval.to >= started) return;
  }
  Violation("P1: stale or uncommitted: " + Name(key, put_id));
}

void Oracle::NotFoundReturned(const std::string& key, TimePoint started) {
  const auto& intervals = history_[key];
  if (intervals.empty() || intervals.back().to != kNever) return;
  if (intervals.back().from >= started || last_loss_ >= intervals.back().from) return;
  Violation("P2: not found, though nothing removed it: " + Name(key, intervals.back().put_id));
}

}  // namespace mooncake::sim
