// Runs work on threads. The pool is bounded in threads and in queue.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace mooncake {

// Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;
  // Queues `work`; when the queue is full the caller runs it itself (back-pressure, never a loss).
  virtual void Run(std::function<void()> work) = 0;
};

// Fixed threads named `name` (15 bytes shown by the OS). The destructor finishes what was queued.
std::unique_ptr<Executor> MakeThreadPool(std::string name, int threads, size_t max_queued = 4096);

}  // namespace mooncake
