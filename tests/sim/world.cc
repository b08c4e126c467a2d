#include "tests/sim/world.h"

#include <algorithm>
#include <utility>

namespace mooncake::sim {

void World::Push(Duration delay, Event event) {
  queue_.emplace(std::pair{now_ + std::max(delay, Duration::zero()), ++sequence_},
                 std::move(event));
}

void World::After(Actor& actor, Duration delay, std::function<void()> event) {
  Push(delay, Event{&actor, actor.life_, std::move(event)});
}

void World::After(Duration delay, std::function<void()> event) {
  Push(delay, Event{nullptr, 0, std::move(event)});
}

Duration World::Delay() {
  if (next_delay_) return *std::exchange(next_delay_, std::nullopt);
  const bool slow = net.slow_permille > 0 && rng.Chance(net.slow_permille, 1000);
  return std::chrono::microseconds(
      rng.Between(5, std::max<uint64_t>(6, slow ? net.slow_us : net.max_delay_us)));
}

void World::Send(Actor& from, Actor& to, std::function<void()> deliver, Repeats repeats) {
  const bool is_cut = cuts_.count(Pair(from, to)) != 0;
  const bool lost = net.drop_permille > 0 && rng.Chance(net.drop_permille, 1000);
  if (is_cut || lost) {
    ++dropped;
    return;
  }
  const int copies = repeats == Repeats::kAllowed && net.repeat_permille > 0 &&
                             rng.Chance(net.repeat_permille, 1000)
                         ? 2
                         : 1;
  repeated += static_cast<uint64_t>(copies - 1);
  for (int i = 0; i < copies; ++i) Push(Delay(), Event{&to, 0, deliver});
}

void World::Freeze(Actor& actor) {
  if (!actor.up_ || actor.frozen_) return;
  actor.frozen_ = true;
  ++frozen;
  Trace(actor, [] { return "freezes"; });
  Note(1000 + static_cast<uint64_t>(actor.id_));
}

void World::Resume(Actor& actor) {
  if (!actor.frozen_) return;
  actor.frozen_ = false;
  Trace(actor, [] { return "resumes"; });
  // Timers first and in order; messages in any order, as they waited in sockets of their own.
  std::vector<std::function<void()>> timers;
  std::vector<std::function<void()>> messages;
  timers.swap(actor.timers_);
  messages.swap(actor.messages_);
  for (auto& event : messages) {
    const Duration wait = std::chrono::microseconds(rng.Below(3000));
    Push(wait, Event{&actor, actor.life_, std::move(event)});
  }
  for (auto& event : timers) Push(Duration::zero(), Event{&actor, actor.life_, std::move(event)});
}

void World::Crash(Actor& actor) {
  if (!actor.up_) return;
  actor.up_ = false;
  actor.frozen_ = false;
  actor.timers_.clear();
  actor.messages_.clear();
  ++actor.life_;
  ++crashed;
  Trace(actor, [] { return "crashes"; });
  Note(2000 + static_cast<uint64_t>(actor.id_));
  actor.OnCrash();
}

void World::Restart(Actor& actor) {
  if (actor.up_) return;
  actor.up_ = true;
  Trace(actor, [] { return "restarts"; });
  ++actor.life_;
  actor.OnRestart();
}

bool World::Step(TimePoint end) {
  if (queue_.empty() || queue_.begin()->first.first > end) {
    now_ = std::max(now_, end);
    return false;
  }
  auto node = queue_.extract(queue_.begin());
  now_ = node.key().first;
  Event& event = node.mapped();
  ++events_;
  if (event.actor != nullptr) {
    // Life 0: a message, for whichever life is there.
    if (!event.actor->up_ || (event.life != 0 && event.life != event.actor->life_)) return true;
    if (event.actor->frozen_) {
      auto& backlog = event.life == 0 ? event.actor->messages_ : event.actor->timers_;
      backlog.push_back(std::move(event.run));
      return true;
    }
  }
  event.run();
  return true;
}

}  // namespace mooncake::sim
