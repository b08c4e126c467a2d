#include "master/core/eviction/policy/hit_density_policy.h"

#include <algorithm>
#include <optional>

#include "transfer/base/check.h"

namespace mooncake::core {
HitDensityPolicy::HitDensityPolicy() : statistics_(ReuseClass::kUses, ReuseClass::kPlaces) {}

void HitDensityPolicy::PushWarmest(List& list, uint32_t at) {
  nodes_[at].colder = list.warmest;
  nodes_[at].warmer = kNone;
  (list.warmest == kNone ? list.coldest : nodes_[list.warmest].warmer) = at;
  list.warmest = at;
}

void HitDensityPolicy::Unlink(List& list, uint32_t at) {
  const Node& node = nodes_[at];
  (node.colder == kNone ? list.coldest : nodes_[node.colder].warmer) = node.warmer;
  (node.warmer == kNone ? list.warmest : nodes_[node.warmer].colder) = node.colder;
}

uint32_t HitDensityPolicy::NodeOf(BlockId block) {
  const auto [entry, is_new] = nodes_by_block_.try_emplace(block, kNone);
  if (!is_new) return entry->second;
  if (free_nodes_.empty()) {
    free_nodes_.push_back(static_cast<uint32_t>(nodes_.size()));
    nodes_.emplace_back();
  }
  entry->second = free_nodes_.back();
  free_nodes_.pop_back();
  return entry->second;
}

void HitDensityPolicy::StartChain(std::span<const BlockId> chain) {
  size_t known = 0;
  while (known < chain.size() && nodes_by_block_.contains(chain[known])) ++known;
  std::optional<ReuseClass::Beginning> beginning;
  if (known > 0) beginning = {.middle = UsesOf(chain[known / 2]), .last = UsesOf(chain[known - 1])};
  chain_place_ = ReuseClass::PlaceOf(chain.size() - known, beginning);
  chain_left_ = chain.size();
  chain_share_ = 1.0F / static_cast<float>(std::max<size_t>(chain.size(), 1));
}

size_t HitDensityPolicy::UsesOf(BlockId remembered) const {
  return ReuseClass::UsesOf(nodes_[nodes_by_block_.at(remembered)].of);
}

uint8_t HitDensityPolicy::PlaceNow() const {
  return chain_left_ == 0 ? ReuseClass::kEnd : chain_place_;
}

void HitDensityPolicy::Advance() {
  ++now_;
  if (chain_left_ == 0) chain_share_ = 1;  // a use that belongs to no chain
  if (chain_left_ > 0) --chain_left_;
  if (pace_.LearningIsDue(now_)) Learn();
  pace_.FadeIfDue(now_, held_, statistics_);
}

void HitDensityPolicy::Learn() {
  for (const auto& queue : queues_) {
    for (uint32_t at = queue.coldest; at != kNone; at = nodes_[at].warmer)
      statistics_.CountWaiting(nodes_[at].of, now_ - nodes_[at].used, nodes_[at].share);
  }
  for (uint32_t at = given_up_.coldest; at != kNone; at = nodes_[at].warmer)
    statistics_.CountWaiting(nodes_[at].of, now_ - nodes_[at].used, nodes_[at].share);
  statistics_.Learn();
  pace_.Learned(now_, held_);
}

bool HitDensityPolicy::Use(BlockId block) {
  Advance();
  const auto entry = nodes_by_block_.find(block);
  if (entry == nodes_by_block_.end() || !nodes_[entry->second].held) return false;
  const uint32_t at = entry->second;
  const Node& node = nodes_[at];
  statistics_.CountReuse(node.of, now_ - node.used, node.share);
  Unlink(queues_[node.of], at);
  Settle(at, ReuseClass::UsesOf(node.of) + 1);
  return true;
}

void HitDensityPolicy::Insert(BlockId block) {
  const bool remembered = nodes_by_block_.contains(block);
  const uint32_t at = NodeOf(block);
  size_t uses = 0;
  if (remembered) {
    const Node& node = nodes_[at];
    MC_CHECK(!node.held) << "block " << block << " is held already";
    statistics_.CountReuse(node.of, now_ - node.used, node.share);
    Unlink(given_up_, at);
    uses = ReuseClass::UsesOf(node.of) + 1;
  }
  nodes_[at].block = block;
  nodes_[at].held = true;
  ++held_;
  Settle(at, uses);
}

void HitDensityPolicy::Settle(uint32_t at, size_t uses) {
  Node& node = nodes_[at];
  node.used = now_;
  node.of = ReuseClass::Of(uses, PlaceNow());
  node.share = chain_share_;
  PushWarmest(queues_[node.of], at);
}

uint32_t HitDensityPolicy::Coldest() const {
  uint32_t coldest = kNone;
  for (const List& queue : queues_) {
    const uint32_t at = queue.coldest;
    if (at == kNone) continue;
    if (coldest == kNone || nodes_[at].used < nodes_[coldest].used) coldest = at;
  }
  return coldest;
}

// Only the ends of the queues are looked at. The coldest of a class has the lowest density where that falls with age, the
// warmest where it rises: then a part of the class stays until it pays, and the rest comes and goes (a loop that
// is larger than the cache, for one).
uint32_t HitDensityPolicy::LeastDense() const {
  uint32_t victim = kNone;
  double least = 0;
  for (const List& queue : queues_) {
    if (queue.coldest == kNone) continue;
    for (const uint32_t at : {queue.coldest, queue.warmest}) {
      const Node& node = nodes_[at];
      const double density = statistics_.Density(node.of, now_ - node.used);
      const bool older = victim != kNone && node.used < nodes_[victim].used;
      if (victim != kNone && (density > least || (density == least && !older))) continue;
      victim = at;
      least = density;
    }
  }
  return victim;
}

BlockId HitDensityPolicy::Evict() {
  MC_CHECK(held_ > 0);
  uint32_t victim = Coldest();
  if (!LearningPace::IsStrange(now_, now_ - nodes_[victim].used)) victim = LeastDense();
  Node& node = nodes_[victim];
  Unlink(queues_[node.of], victim);
  node.held = false;
  --held_;
  PushWarmest(given_up_, victim);
  Forget();
  return node.block;
}

void HitDensityPolicy::Forget() {
  if (nodes_by_block_.size() - held_ <= kRemembered * (held_ + 1)) return;
  const uint32_t at = given_up_.coldest;
  Node& node = nodes_[at];
  statistics_.CountForgotten(node.of, now_ - node.used, node.share);
  Unlink(given_up_, at);
  nodes_by_block_.erase(node.block);
  free_nodes_.push_back(at);
}

}  // namespace mooncake::core
