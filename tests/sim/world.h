// One virtual clock, one event queue, one source of chance. Processes live in it as actors: they can be frozen (their events
// wait), crashed (their events are dropped) and cut off (their messages are lost). No threads, no real time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "transfer/base/rng.h"
#include "transfer/base/status.h"
#include "transfer/base/time.h"

namespace mooncake::sim {

class World;

// Of a request whose answer did not come in time.
inline Status NoAnswer() { return Status(ErrorCode::kRpcTimeout, "no answer"); }

// A process. Events are scheduled on behalf of one life of it.
class Actor {
 public:
  Actor(World& world, int id, std::string name) : world_(world), id_(id), name_(std::move(name)) {}
  virtual ~Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  int id() const { return id_; }
  const std::string& name() const { return name_; }
  uint64_t life() const { return life_; }
  bool up() const { return up_; }
  bool frozen() const { return frozen_; }

  // Called by World.
  virtual void OnCrash() = 0;    // lose what a process loses
  virtual void OnRestart() = 0;  // start again

 protected:
  World& world_;

 private:
  friend class World;
  const int id_;
  const std::string name_;
  uint64_t life_ = 1;
  bool up_ = true;
  bool frozen_ = false;
  std::vector<std::function<void()>> timers_;    // what came due while frozen
  std::vector<std::function<void()>> messages_;  // what arrived while frozen
};

// How unkind the network is, in thousandths and microseconds.
struct NetFaults {
  uint32_t drop_permille = 0;
  uint32_t repeat_permille = 0;
  uint64_t max_delay_us = 500;
  uint32_t slow_permille = 0;  // of messages that take up to slow_us instead
  uint64_t slow_us = 0;
  uint32_t stray_permille =
      0;  // of requests that go to a master other than the one that answered last
};

class World {
 public:
  explicit World(uint64_t seed) : rng(seed), now_(TimePoint(Seconds(1000))) {}

  Rng rng;
  NetFaults net;

  TimePoint now() const { return now_; }

  // Runs `event` of this life of `actor` after `delay`.
  void After(Actor& actor, Duration delay, std::function<void()> event);
  // An event of nobody: faults, checkers.
  void After(Duration delay, std::function<void()> event);

  // Delivers (perhaps never, perhaps twice) to whatever life `to` has then.
  enum class Repeats : uint8_t { kAllowed, kNever };
  void Send(Actor& from, Actor& to, std::function<void()> deliver,
            Repeats repeats = Repeats::kAllowed);

  // A call and its answer. `serve` runs at `to`, maybe twice; `done` runs at `from` exactly once unless `from` dies: with the
  // answer, or with nothing after `timeout`.
  template <typename Reply>
  void Call(Actor& from, Actor& to, Duration timeout, std::function<Reply()> serve,
            std::function<void(std::optional<Reply>)> done, Repeats repeats = Repeats::kAllowed) {
    CallLater<Reply>(
        from, to, timeout,
        [serve = std::move(serve)](const std::function<void(Reply)>& answer) { answer(serve()); },
        std::move(done), repeats);
  }
  // The same for an answer that is not given at once: `serve` gets what sends it.
  template <typename Reply>
  void CallLater(Actor& from, Actor& to, Duration timeout,
                 std::function<void(std::function<void(Reply)>)> serve,
                 std::function<void(std::optional<Reply>)> done,
                 Repeats repeats = Repeats::kAllowed) {
    auto pending = std::make_shared<std::function<void(std::optional<Reply>)>>(std::move(done));
    const auto finish = [pending](std::optional<Reply> reply) {
      if (!*pending) return;
      auto callback = std::move(*pending);
      *pending = nullptr;
      callback(std::move(reply));
    };
    Send(
        from, to,
        [this, &from, &to, life = from.life(), serve = std::move(serve), finish] {
          serve([this, &from, &to, life, finish](Reply answer) {
            auto reply = std::make_shared<Reply>(std::move(answer));
            Send(to, from, [&from, life, reply, finish] {
              if (from.life() == life) finish(*reply);  // else it asked in an earlier life
            });
          });
        },
        repeats);
    After(from, timeout, [finish] { finish(std::nullopt); });
  }

  // The next message takes so long; unless it is lost.
  void DelayNext(Duration delay) { next_delay_ = delay; }

  void Freeze(Actor& actor);
  void Resume(Actor& actor);
  void Crash(Actor& actor);
  void Restart(Actor& actor);
  // Messages between the two are lost, in both directions.
  void Cut(const Actor& a, const Actor& b) { cuts_.insert(Pair(a, b)); }
  void Mend(const Actor& a, const Actor& b) { cuts_.erase(Pair(a, b)); }
  void MendAll() { cuts_.clear(); }

  // False when no event is left or the next one lies after `end`; the clock then stands at `end`.
  bool Step(TimePoint end);

  uint64_t events() const { return events_; }
  // Folds something that happened into the digest.
  void Note(uint64_t what) {
    digest_ =
        (digest_ ^ what) * 0x100000001b3 + static_cast<uint64_t>(now_.time_since_epoch().count());
  }
  uint64_t digest() const { return digest_; }

  // A line for whoever repeats a failing seed; `what` is asked for only then.
  std::function<void(const std::string&)> tracer;
  template <typename F>
  void Trace(const Actor& actor, F&& what) const {
    if (!tracer) return;
    tracer(std::to_string(now_.time_since_epoch().count() / 1000) + " " + actor.name() + " " +
           what());
  }

  uint64_t dropped = 0, repeated = 0, frozen = 0, crashed = 0, cut = 0;

 private:
  struct Event {
    Actor* actor;  // null: nobody's
    uint64_t life;
    std::function<void()> run;
  };
  static std::pair<int, int> Pair(const Actor& a, const Actor& b) {
    return {std::min(a.id(), b.id()), std::max(a.id(), b.id())};
  }
  void Push(Duration delay, Event event);
  Duration Delay();

  TimePoint now_;
  std::optional<Duration> next_delay_;
  uint64_t sequence_ = 0;
  uint64_t events_ = 0;
  uint64_t digest_ = 0xcbf29ce484222325;
  std::map<std::pair<TimePoint, uint64_t>, Event> queue_;
  std::set<std::pair<int, int>> cuts_;
};

}  // namespace mooncake::sim
