// Time counted in uses. An object remembers when it was used last as a TimePoint; this tells how many uses of any objects
// have passed since, so that a quiet night makes nothing look old.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transfer/base/time.h"

namespace mooncake::core {

// Keeps a bounded number of marks (time, uses until then) and interpolates between them. Times must not go back.
class UseClock {
 public:
  void CountUse(TimePoint now);
  uint64_t uses() const { return uses_; }
  // Uses since `then`; of what lies before the oldest mark, the uses since that mark.
  uint64_t Since(TimePoint then) const;
  // Marks that lie further back than so many uses are not wanted any more.
  void SetHorizon(uint64_t uses) { horizon_ = uses; }

 private:
  struct Mark {
    TimePoint time;
    uint64_t uses;
  };
  static constexpr size_t kMarks = 4096;
  void MakeRoom();

  uint64_t uses_ = 0;
  uint64_t step_ = 1;  // uses between two marks
  uint64_t horizon_ = UINT64_MAX;
  std::vector<Mark> marks_;  // oldest first
};

}  // namespace mooncake::core
