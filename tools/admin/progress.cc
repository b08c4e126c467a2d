#include "tools/admin/progress.h"

#include <ostream>
#include <utility>

#include "tools/admin/human.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

constexpr Duration kPatience = Seconds(1);
constexpr Duration kRedraw = Millis(200);

}  // namespace

std::string ProgressLine(const std::string& what, uint64_t done, std::optional<uint64_t> total,
                         Duration elapsed) {
  std::string line = what + "  " + FormatSize(done);
  if (total) line += " of " + FormatSize(*total) + " (" + FormatShare(done, *total) + ")";
  const double seconds = static_cast<double>(elapsed.count()) / 1e9;
  if (seconds > 0)
    line += ", " + FormatSize(static_cast<uint64_t>(static_cast<double>(done) / seconds)) + "/s";
  return line;
}

Progress::Progress(std::ostream& out, bool enabled, std::string what, std::optional<uint64_t> total,
                   const Clock& clock)
    : out_(out),
      enabled_(enabled),
      what_(std::move(what)),
      total_(total),
      clock_(clock),
      start_(clock.Now()),
      drawn_(start_) {}

Progress::~Progress() {
  if (visible_) out_ << "\r\033[K" << std::flush;
}

void Progress::Add(uint64_t bytes) {
  done_ += bytes;
  if (!enabled_) return;
  const TimePoint now = clock_.Now();
  if (now - start_ < kPatience || now - drawn_ < kRedraw) return;
  out_ << "\r\033[K" << ProgressLine(what_, done_, total_, now - start_) << std::flush;
  drawn_ = now;
  visible_ = true;
}

}  // namespace mooncake::admin
