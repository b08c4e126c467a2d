#include "master/core/eviction/reuse_model.h"

#include <algorithm>

#define XXH_INLINE_ALL  // used here only
#include <xxhash.h>

namespace mooncake::core {

uint64_t ReuseHash(std::string_view tenant, std::string_view key) {
  return XXH3_64bits_withSeed(key.data(), key.size(), XXH3_64bits(tenant.data(), tenant.size()));
}

ReuseModel::ReuseModel() : misses_(kMisses) {}

uint8_t ReuseModel::Used(TimePoint now, uint64_t hash, uint8_t of) {
  return Record(now, hash, ReuseClass::UsesOf(of) + 1, place_, share_);
}

void ReuseModel::Missed(uint64_t hash) {
  misses_[hash % kMisses] = {static_cast<uint32_t>(hash >> 32), place_, share_};
}

uint8_t ReuseModel::Written(TimePoint now, uint64_t hash) {
  const Miss& miss = misses_[hash % kMisses];
  const bool asked = miss.tag == static_cast<uint32_t>(hash >> 32);
  const auto before = memory_.Find(hash);
  return Record(now, hash, before ? *before + size_t{1} : 0, asked ? miss.place : place_,
                asked ? miss.share : share_);
}

uint8_t ReuseModel::Record(TimePoint now, uint64_t hash, size_t uses, uint8_t place, float share) {
  clock_.CountUse(now);
  const uint8_t of = ReuseClass::Of(uses, place);
  memory_.Remember(hash, uses);
  if (!sample_.Contains(hash)) return of;
  if (const auto before = sample_.Record(hash, {clock_.uses(), of, share})) {
    statistics_.CountReuse(before->of, clock_.uses() - before->at, before->share);
  } else if (const auto forgotten = sample_.Overflow()) {
    statistics_.CountForgotten(forgotten->of, clock_.uses() - forgotten->at, forgotten->share);
  }
  return of;
}

void ReuseModel::LearnIfDue(uint64_t objects) {
  const uint64_t uses = clock_.uses();
  if (!pace_.LearningIsDue(uses)) return;
  clock_.SetHorizon(2 * kRemembered * std::max(objects, kFewObjects));
  memory_.MakeRoom(2 * kRemembered * objects);
  sample_.Aim(kRemembered * (objects + 1));
  sample_.ForEach([&](const ReuseSample::Use& use) {
    statistics_.CountWaiting(use.of, uses - use.at, use.share);
  });
  statistics_.Learn();
  pace_.Learned(uses, objects);
  pace_.FadeIfDue(uses, objects, statistics_);
}

}  // namespace mooncake::core
