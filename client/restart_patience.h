// A master that has just been started again knows its objects before the nodes have told it that they are still there. Whoever asks
// meanwhile waits, for a while.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/base/status.h"

namespace mooncake::internal {

// Nodes that live are back within a ping interval; those that are not by then are more likely dead.
inline constexpr Duration kRestartPatience = Seconds(5);
inline constexpr Duration kRestartPause = Millis(50);

// ask(args) answers each of `args`; those that are answered kUnavailableInCurrentStatus are asked again until kRestartPatience is over,
// or `deadline`.
template <typename Arg, typename Ask>
auto AskThroughRestart(const Clock& clock, TimePoint deadline, std::span<const Arg> args,
                       Ask&& ask) {
  auto replies = ask(args);
  const int pauses = static_cast<int>(
      std::max<Duration>(Duration::zero(), std::min(kRestartPatience, deadline - clock.Now())) /
      kRestartPause);
  for (int pause = 0; pause < pauses; ++pause) {
    std::vector<size_t> waiting;
    std::vector<Arg> again;
    for (size_t i = 0; i < replies.size(); ++i) {
      if (replies[i].code() != ErrorCode::kUnavailableInCurrentStatus) continue;
      waiting.push_back(i);
      again.push_back(args[i]);
    }
    if (waiting.empty()) break;
    std::this_thread::sleep_for(kRestartPause);
    auto answers = ask(std::span<const Arg>(again));
    for (size_t i = 0; i < answers.size(); ++i) replies[waiting[i]] = std::move(answers[i]);
  }
  return replies;
}

}  // namespace mooncake::internal
