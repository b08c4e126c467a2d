// One line about long work, drawn over itself. Says nothing for the first second, and nothing at all unless asked to.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "transfer/base/clock.h"

namespace mooncake::admin {

// "get 'k'  1.2 GiB of 3 GiB (40.0%), 512 MiB/s".
std::string ProgressLine(const std::string& what, uint64_t done, std::optional<uint64_t> total,
                         Duration elapsed);

// Thread-compatible.
class Progress {
 public:
  // `enabled`: `out` is a terminal.
  Progress(std::ostream& out, bool enabled, std::string what, std::optional<uint64_t> total,
           const Clock& clock);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Add(uint64_t bytes);

 private:
  std::ostream& out_;
  const bool enabled_;
  const std::string what_;
  const std::optional<uint64_t> total_;
  const Clock& clock_;
  const TimePoint start_;
  TimePoint drawn_;
  uint64_t done_ = 0;
  bool visible_ = false;
};

}  // namespace mooncake::admin
