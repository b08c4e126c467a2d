#include "master/core/eviction/reuse_sample.h"

#include <algorithm>

namespace mooncake::core {

uint32_t ReuseSample::NewNode(uint64_t hash) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(nodes_.size()));
    nodes_.emplace_back();
  }
  const uint32_t at = free_.back();
  free_.pop_back();
  nodes_[at].hash = hash;
  nodes_[at].live = true;
  by_hash_[hash] = at;
  return at;
}

void ReuseSample::Unlink(uint32_t at) {
  const Node& node = nodes_[at];
  (node.older == kNone ? oldest_ : nodes_[node.older].newer) = node.newer;
  (node.newer == kNone ? newest_ : nodes_[node.newer].older) = node.older;
}

void ReuseSample::PushNewest(uint32_t at) {
  nodes_[at].older = newest_;
  nodes_[at].newer = kNone;
  (newest_ == kNone ? oldest_ : nodes_[newest_].newer) = at;
  newest_ = at;
}

void ReuseSample::Drop(uint32_t at) {
  Unlink(at);
  by_hash_.erase(nodes_[at].hash);
  nodes_[at].live = false;
  free_.push_back(at);
}

std::optional<ReuseSample::Use> ReuseSample::Record(uint64_t hash, Use use) {
  const auto known = by_hash_.find(hash);
  if (known == by_hash_.end()) {
    const uint32_t at = NewNode(hash);
    nodes_[at].use = use;
    PushNewest(at);
    return std::nullopt;
  }
  const uint32_t at = known->second;
  const Use before = nodes_[at].use;
  Unlink(at);
  nodes_[at].use = use;
  PushNewest(at);
  return before;
}

std::optional<ReuseSample::Use> ReuseSample::Overflow() {
  if (size() <= wanted_) return std::nullopt;
  const Use oldest = nodes_[oldest_].use;
  Drop(oldest_);
  return oldest;
}

void ReuseSample::Aim(uint64_t keys) {
  const uint32_t before = shift_;
  while (shift_ < kMaxShift && (keys >> shift_) > kMost) ++shift_;
  while (shift_ > 0 && (keys >> (shift_ - 1)) < kMost / 2) --shift_;
  wanted_ = std::clamp<uint64_t>(keys >> shift_, 1024, kMost);
  if (shift_ <= before) return;
  for (uint32_t at = 0; at < nodes_.size(); ++at) {
    if (nodes_[at].live && !Contains(nodes_[at].hash)) Drop(at);
  }
}

}  // namespace mooncake::core
