#include "master/core/eviction/policy/queue_policy.h"

#include "transfer/base/check.h"

namespace mooncake::core {

bool QueuePolicy::Use(BlockId block) {
  const auto place = places_.find(block);
  if (place == places_.end()) return false;
  if (order_ == QueueOrder::kByUse) queue_.splice(queue_.end(), queue_, place->second);
  return true;
}

void QueuePolicy::Insert(BlockId block) {
  queue_.push_back(block);
  const bool is_new = places_.emplace(block, std::prev(queue_.end())).second;
  MC_CHECK(is_new) << "block " << block << " is held already";
}

BlockId QueuePolicy::Evict() {
  MC_CHECK(!queue_.empty());
  const BlockId block = queue_.front();
  queue_.pop_front();
  places_.erase(block);
  return block;
}

}  // namespace mooncake::core
