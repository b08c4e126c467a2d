// Collects the first fault found while a message is decoded. Private to wire*.cc.
#pragma once

#include <cstdint>
#include <string>

#include "transfer/base/status.h"
#include "transfer/base/time.h"

namespace mooncake::wire {

class Checker {
 public:
  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }

  void Fail(ErrorCode code, std::string message) {
    if (status_.ok()) status_ = Status(code, std::move(message));
  }
  void Add(const Status& status) {
    if (status_.ok()) status_ = status;
  }

  // The enumeration's value if it is in [low, high], which must be without gaps.
  template <typename E>
  E Enum(const char* what, int32_t value, E low, E high) {
    if (value < static_cast<int32_t>(low) || value > static_cast<int32_t>(high)) {
      Fail(ErrorCode::kInvalidParams,
           std::string(what) + " " + std::to_string(value) + " is not known");
      return low;
    }
    return static_cast<E>(value);
  }

  uint64_t Unsigned(const char* what, int64_t value, uint64_t limit) {
    if (value < 0 || static_cast<uint64_t>(value) > limit) {
      Fail(ErrorCode::kInvalidParams, std::string(what) + " " + std::to_string(value) +
                                          " is not in 0.." + std::to_string(limit));
      return 0;
    }
    return static_cast<uint64_t>(value);
  }

  Duration NotNegative(const char* what, int64_t ns) {
    if (ns < 0)
      Fail(ErrorCode::kInvalidParams,
           std::string(what) + " " + std::to_string(ns) + " ns is negative");
    return Duration(ns < 0 ? 0 : ns);
  }

 private:
  Status status_;
};

}  // namespace mooncake::wire
