// A bound on what many connections hold together in large buffers.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace mooncake::wire {

// Thread-safe. Must outlive its charges.
class ByteBudget {
 public:
  explicit ByteBudget(size_t limit) : left_(limit) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  size_t left() const { return left_.load(); }

 private:
  friend class ByteCharge;
  bool Take(size_t bytes) {
    size_t left = left_.load();
    do {
      if (left < bytes) return false;
    } while (!left_.compare_exchange_weak(left, left - bytes));
    return true;
  }
  void Give(size_t bytes) { left_.fetch_add(bytes); }

  std::atomic<size_t> left_;  // a number by itself: orders nothing else
};

// What one buffer holds of a budget; gives it back at the end. Without a budget everything is allowed.
class ByteCharge {
 public:
  explicit ByteCharge(ByteBudget* budget = nullptr) : budget_(budget) {}
  ~ByteCharge() { Set(0); }
  ByteCharge(ByteCharge&& other) noexcept
      : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
  ByteCharge& operator=(ByteCharge&& other) noexcept {
    if (this == &other) return *this;
    Set(0);
    budget_ = other.budget_;
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }

  // Changes the charge to `bytes`. False, and unchanged, when the budget has not enough left.
  bool Set(size_t bytes) {
    if (budget_ == nullptr) return true;
    if (bytes > bytes_ && !budget_->Take(bytes - bytes_)) return false;
    if (bytes < bytes_) budget_->Give(bytes_ - bytes);
    bytes_ = bytes;
    return true;
  }

 private:
  ByteBudget* budget_;
  size_t bytes_ = 0;
};

}  // namespace mooncake::wire
