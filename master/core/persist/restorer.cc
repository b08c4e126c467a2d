#include "master/core/persist/restorer.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "master/core/checks.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

bool IsName(const std::string& tenant, const std::string& key) {
  return !tenant.empty() && CheckName({tenant, key}).ok();
}

// As far as a record can be judged alone; whether its extents fit their segments is seen in the end.
bool IsSound(const VersionRecord& record) {
  if (!IsName(record.tenant, record.key) || record.put_id == kNoPut) return false;
  if (record.size > kMaxObjectBytes || record.group.size() > kMaxKeyBytes) return false;
  if (record.attributes.has_value() && !CheckAttributes(*record.attributes).ok()) return false;
  if (record.replicas_wanted == 0 || record.replicas_wanted > kMaxReplicas) return false;
  uint64_t length = record.size;  // of the replica so far
  for (size_t i = 0; i < record.extents.size(); ++i) {
    const PlacedExtent& extent = record.extents[i];
    const bool next = i == 0 || extent.replica != record.extents[i - 1].replica;
    if (next && (length != record.size || extent.replica >= kMaxReplicas)) return false;
    if (next && i > 0 && extent.replica < record.extents[i - 1].replica) return false;
    if (next) length = 0;
    if (extent.length == 0 || extent.length > record.size - length) return false;
    if (extent.offset % kExtentAlignment != 0 || extent.offset > kMaxSegmentBytes) return false;
    length += extent.length;
  }
  return length == record.size && (record.size > 0 || record.extents.empty());
}
bool IsSound(const NameGoneRecord& record) { return record.put_id != kNoPut; }
bool IsSound(const PrefixRenamedRecord& record) {
  return !record.tenant.empty() && !record.from.empty() && !record.to.empty() &&
         CheckTenant(record.tenant).ok();
}
bool IsSound(const SegmentRecord& record) {
  return CheckSegment(record.descriptor.owner, record.descriptor).ok();
}
bool IsSound(const SegmentGoneRecord& record) { return !record.id.IsNil(); }

}  // namespace

bool Restorer::Apply(Record record) {
  return std::visit(
      [this](auto& value) {
        if (!IsSound(value)) {
          ++bad_records_;
          return false;
        }
        Take(std::move(value));
        return true;
      },
      record);
}

bool Restorer::Lives(const Version& version, size_t index) const {
  const auto segment = segments_.find(version.record.extents[index].segment);
  return segment != segments_.end() && segment->second.descriptor.has_value() &&
         segment->second.life == version.lives[index];
}

bool Restorer::Lives(const Version& version) const {
  const auto& extents = version.record.extents;
  if (extents.empty()) return version.record.size == 0;
  bool whole = true;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i > 0 && extents[i].replica != extents[i - 1].replica) {
      if (whole) return true;
      whole = true;
    }
    whole = whole && Lives(version, i);
  }
  return whole;
}

void Restorer::ForgetVersions() {
  names_.clear();
  versions_.clear();
}

void Restorer::Forget(PutId put_id) {
  const auto found = versions_.find(put_id);
  if (found == versions_.end()) return;
  names_.erase(found->second.get());
  versions_.erase(found);
}

void Restorer::Enter(Version* version) {
  // A snapshot comes in order of names.
  if (!names_.empty() && ByName()(*names_.rbegin(), version)) {
    names_.insert(names_.end(), version);
    return;
  }
  const auto [place, fresh] = names_.insert(version);
  if (fresh) return;
  Version* const loser = *place;
  names_.erase(place);
  names_.insert(version);
  versions_.erase(loser->record.put_id);
}

void Restorer::Take(VersionRecord record) {
  std::unique_ptr<Version>& slot = versions_[record.put_id];
  if (slot != nullptr) names_.erase(slot.get());
  auto version = std::make_unique<Version>();
  for (const PlacedExtent& extent : record.extents)
    version->lives.push_back(segments_[extent.segment].life);
  version->record = std::move(record);
  slot = std::move(version);
  Enter(slot.get());
}

void Restorer::Take(const NameGoneRecord& record) { Forget(record.put_id); }

void Restorer::Take(const PrefixRenamedRecord& record) {
  std::vector<PutId> moved;
  for (auto it = names_.lower_bound(Name{record.tenant, record.from});
       it != names_.end() && (*it)->record.tenant == record.tenant &&
       (*it)->record.key.compare(0, record.from.size(), record.from) == 0;
       ++it) {
    moved.push_back((*it)->record.put_id);
  }
  for (const PutId put_id : moved) {
    // Another one that moved may have taken its place.
    const auto found = versions_.find(put_id);
    if (found == versions_.end()) continue;
    Version* const version = found->second.get();
    std::string key = record.to + version->record.key.substr(record.from.size());
    // One that was lost did not take part, and must not take the place of one that is there. Nor did one whose new name is taken: a
    // snapshot knew it already, but it is younger than this; the log will name it again.
    const auto taken = names_.find(Name{version->record.tenant, key});
    if (!Lives(*version) || key.size() > kMaxKeyBytes ||
        (taken != names_.end() && Lives(**taken))) {
      Forget(put_id);
      continue;
    }
    names_.erase(version);
    version->record.key = std::move(key);
    Enter(version);
  }
}

void Restorer::Take(SegmentRecord record) {
  segments_[record.descriptor.id].descriptor = std::move(record.descriptor);
}

void Restorer::Take(const SegmentGoneRecord& record) {
  SegmentState& segment = segments_[record.id];
  segment.descriptor.reset();
  ++segment.life;
}

}  // namespace mooncake::core
