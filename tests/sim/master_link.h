// How a client or node finds the master: it asks the one that answered last, goes on to the next one when that fails, and refuses
// answers of older terms than it has seen.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/sim/master_actor.h"
#include "tests/sim/world.h"

namespace mooncake::sim {

using Masters = std::vector<std::unique_ptr<MasterActor>>;

class MasterLink {
 public:
  MasterLink(World& world, Actor& owner, Masters& masters)
      : world_(world), owner_(owner), masters_(masters) {}

  // The owner started again: it remembers nothing.
  void Reset() { seen_ = 0; }

  template <typename Reply>
  void Ask(Duration timeout, std::function<Reply(MasterActor&)> op,
           std::function<void(std::optional<Reply>)> done) {
    // Now and then another one is asked, as after a lost connection.
    const bool stray = masters_.size() > 1 && world_.rng.Chance(world_.net.stray_permille, 1000);
    const size_t asked = stray ? world_.rng.Below(masters_.size()) : at_;
    MasterActor& master = *masters_[asked];
    world_.CallLater<Answer<Reply>>(
        owner_, master, timeout,
        [&master, op = std::move(op)](std::function<void(Answer<Reply>)> answer) {
          master.Serve<Reply>([&master, op] { return op(master); }, std::move(answer));
        },
        [this, asked, done = std::move(done)](std::optional<Answer<Reply>> answer) {
          if (!answer || !answer->reply || answer->term < seen_) {
            if (at_ == asked) at_ = (asked + 1) % masters_.size();
            return done(std::nullopt);
          }
          seen_ = answer->term;
          at_ = asked;
          done(std::move(answer->reply));
        });
  }

 private:
  World& world_;
  Actor& owner_;
  Masters& masters_;
  size_t at_ = 0;
  uint64_t seen_ = 0;
};

}  // namespace mooncake::sim
