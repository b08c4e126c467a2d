// Reading in a thread of its own while what was read is being used: at a restart the two take about as long.
#pragma once

#include <deque>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "transfer/base/mutex.h"

namespace mooncake {

// Batches from one thread to another, a few at a time. Thread-safe.
template <typename Item>
class BatchQueue {
 public:
  using Batch = std::vector<Item>;

  // Waits for room.
  void Push(Batch batch) {
    MutexLock lock(mutex_);
    while (batches_.size() >= kMost) changed_.Wait(mutex_);
    batches_.push_back(std::move(batch));
    changed_.NotifyAll();
  }
  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }
  // Waits for a batch. nullopt: closed, and nothing left.
  std::optional<Batch> Pop() {
    MutexLock lock(mutex_);
    while (batches_.empty() && !closed_) changed_.Wait(mutex_);
    if (batches_.empty()) return std::nullopt;
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.NotifyAll();
    return batch;
  }

 private:
  static constexpr size_t kMost = 4;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Batch> batches_ MC_GUARDED_BY(mutex_);
  bool closed_ MC_GUARDED_BY(mutex_) = false;
};

// `read(sink)` runs in another thread and calls sink(Item) for each item; `use(Item)` runs here, in the same order. What `read` returned.
template <typename Item, typename Read, typename Use>
auto ReadAhead(Read&& read, Use&& use) {
  constexpr size_t kBatchItems = 512;
  BatchQueue<Item> queue;
  auto reading = std::async(std::launch::async, [&] {
    std::vector<Item> batch;
    auto result = read([&](Item item) {
      batch.push_back(std::move(item));
      if (batch.size() == kBatchItems) queue.Push(std::exchange(batch, {}));
    });
    queue.Push(std::move(batch));
    queue.Close();
    return result;
  });
  while (auto batch = queue.Pop()) {
    for (Item& item : *batch) use(std::move(item));
  }
  return reading.get();
}

}  // namespace mooncake
