#include "master/core/eviction/policy/hit_density_policy.h"

#include <algorithm>
#include <bit>

#include "transfer/base/check.h"

namespace mooncake::core {
namespace {

// Learning looks at each block that is remembered, so it comes the less often the more there are.
constexpr uint64_t kLeastBetweenLearning = 512;
constexpr uint64_t kFewUses = 8192;
// What was seen so many turnovers of the cache ago weighs less and less.
constexpr uint64_t kFadeTurnovers = 8;
constexpr double kFadeKeeps = 0.8;
// So many times an age has to have passed before what is known of it counts.
constexpr uint64_t kTimesToTrust = 3;

}  // namespace

HitDensityPolicy::HitDensityPolicy() : statistics_(kUses, kPlaces) {}

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
  size_t uses = 0;
  for (; known < chain.size(); ++known) {
    const auto entry = nodes_by_block_.find(chain[known]);
    if (entry == nodes_by_block_.end()) break;
    uses = nodes_[entry->second].of / kPlaces;
  }
  const auto width = static_cast<size_t>(std::bit_width(chain.size() - known));
  chain_place_ = uses * kTails + std::clamp<size_t>(width, 3, 2 + kTails) - 3;
  chain_left_ = chain.size();
}

size_t HitDensityPolicy::PlaceNow() const { return chain_left_ == 0 ? kPlaces - 1 : chain_place_; }

void HitDensityPolicy::Advance() {
  ++now_;
  if (chain_left_ > 0) --chain_left_;
  if (now_ >= next_learning_) Learn();
  const uint64_t turnover = std::max<uint64_t>(held_, 1024);
  if (now_ - last_fading_ > kFadeTurnovers * turnover) {
    statistics_.Fade(kFadeKeeps);
    last_fading_ = now_;
  }
}

void HitDensityPolicy::Learn() {
  for (const auto& queue : queues_) {
    for (uint32_t at = queue.coldest; at != kNone; at = nodes_[at].warmer)
      statistics_.CountWaiting(nodes_[at].of, now_ - nodes_[at].used);
  }
  for (uint32_t at = given_up_.coldest; at != kNone; at = nodes_[at].warmer)
    statistics_.CountWaiting(nodes_[at].of, now_ - nodes_[at].used);
  statistics_.Learn();
  const uint64_t pause = std::max<uint64_t>(2 * kLeastBetweenLearning, held_ / 4);
  next_learning_ = now_ + (now_ < kFewUses ? kLeastBetweenLearning : pause);
}

bool HitDensityPolicy::Use(BlockId block) {
  Advance();
  const auto entry = nodes_by_block_.find(block);
  if (entry == nodes_by_block_.end() || !nodes_[entry->second].held) return false;
  const uint32_t at = entry->second;
  const Node& node = nodes_[at];
  statistics_.CountReuse(node.of, now_ - node.used);
  Unlink(queues_[node.of], at);
  Settle(at, node.of / kPlaces + 1);
  return true;
}

void HitDensityPolicy::Insert(BlockId block) {
  const bool remembered = nodes_by_block_.contains(block);
  const uint32_t at = NodeOf(block);
  size_t uses = 0;
  if (remembered) {
    const Node& node = nodes_[at];
    MC_CHECK(!node.held) << "block " << block << " is held already";
    statistics_.CountReuse(node.of, now_ - node.used);
    Unlink(given_up_, at);
    uses = node.of / kPlaces + 1;
  }
  nodes_[at].block = block;
  nodes_[at].held = true;
  ++held_;
  Settle(at, uses);
}

void HitDensityPolicy::Settle(uint32_t at, size_t uses) {
  Node& node = nodes_[at];
  node.used = now_;
  node.of = static_cast<uint8_t>(std::min(uses, kUses - 1) * kPlaces + PlaceNow());
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
  // Of ages that are a good part of all the time seen, few cases are known, and all from the beginning. There least
  // recently used is the better guess.
  uint32_t victim = Coldest();
  if ((now_ - nodes_[victim].used) <= now_ / kTimesToTrust) victim = LeastDense();
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
  statistics_.CountForgotten(node.of, now_ - node.used);
  Unlink(given_up_, at);
  nodes_by_block_.erase(node.block);
  free_nodes_.push_back(at);
}

}  // namespace mooncake::core
