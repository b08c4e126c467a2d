#include "tools/bench/disturbance.h"

#include <chrono>
#include <thread>

namespace mooncake::bench {
namespace {

// Another thread that works, but not with the master: what sharing the machine costs by itself.
class BusyMachine final : public Disturbance {
 public:
  std::string Name() const override { return "a thread spins"; }
  uint64_t Room() const override { return 0; }
  bool EndsByItself() const override { return false; }
  Status Run(BenchedMaster&, MasterApi&, const std::atomic<bool>& stop) override {
    while (!stop.load()) {
    }
    return Status::Ok();
  }
};

// Always in the process: fast enough that every part of the table grows in the time of the bench.
class Growth final : public Disturbance {
 public:
  explicit Growth(uint64_t keys) : keys_(keys) {}
  std::string Name() const override { return "the table grows by " + std::to_string(keys_); }
  uint64_t Room() const override { return keys_ * 5 / 4; }
  bool EndsByItself() const override { return true; }
  Status Run(BenchedMaster& master, MasterApi&, const std::atomic<bool>&) override {
    return master.Fill("growth/", keys_);
  }

 private:
  const uint64_t keys_;
};

class Eviction final : public Disturbance {
 public:
  explicit Eviction(uint64_t keys) : keys_(keys) {}
  std::string Name() const override { return "puts evict"; }
  uint64_t Room() const override { return keys_; }
  bool EndsByItself() const override { return false; }
  Status Prepare(BenchedMaster& master, bool early) override {
    return early ? Status::Ok() : master.Fill("full/", keys_);
  }
  Status Run(BenchedMaster& master, MasterApi& api, const std::atomic<bool>& stop) override {
    for (uint64_t i = 0; !stop.load(); ++i) {
      RETURN_IF_ERROR(BenchedMaster::PutObject(
          api, {kDefaultTenant, BenchedMaster::KeyOf("evicting/", i)}, master.Deadline()));
    }
    return Status::Ok();
  }

 private:
  const uint64_t keys_;
};

class Removal final : public Disturbance {
 public:
  explicit Removal(uint64_t keys) : keys_(keys) {}
  std::string Name() const override { return "RemoveByRegex of " + std::to_string(keys_); }
  uint64_t Room() const override { return keys_ * 5 / 4; }
  bool EndsByItself() const override { return true; }
  Status Prepare(BenchedMaster& master, bool early) override {
    return early ? Status::Ok() : master.Fill("removed/", keys_);
  }
  Status Run(BenchedMaster& master, MasterApi& api, const std::atomic<bool>&) override {
    ASSIGN_OR_RETURN(const RemoveByRegexReply reply,
                     api.RemoveByRegex({.pattern = "^removed/"}, master.Deadline()));
    if (reply.removed == keys_) return Status::Ok();
    return Status(ErrorCode::kInternal,
                  "removed " + std::to_string(reply.removed) + " keys of " + std::to_string(keys_));
  }

 private:
  const uint64_t keys_;
};

class Expiry final : public Disturbance {
 public:
  Expiry(uint64_t replicas, JumpingClock& clock) : replicas_(replicas), clock_(clock) {}
  std::string Name() const override { return "expiry of a node with " + std::to_string(replicas_); }
  uint64_t Room() const override { return 0; }
  bool EndsByItself() const override { return true; }
  Status Prepare(BenchedMaster& master, bool early) override {
    if (!early) return Status::Ok();
    RETURN_IF_ERROR(master.Mount(kNode, "expiring", replicas_ * 5 / 4));
    mounted_ = clock_.Now();
    return master.Fill("expiring/", replicas_);
  }
  // The node mounted long before the bench did, so there is a time when it has expired and the bench has not.
  Status Run(BenchedMaster& master, MasterApi& api, const std::atomic<bool>& stop) override {
    const auto ping = [&] {
      return api.Ping(BenchedMaster::kClient, "bench", master.Deadline()).status();
    };
    RETURN_IF_ERROR(ping());
    const uint64_t before = Objects(master);
    clock_.Jump(mounted_ + kClientTtl - clock_.Now());
    RETURN_IF_ERROR(ping());
    while (!stop.load() && Objects(master) + replicas_ > before) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return Status::Ok();
  }

 private:
  static constexpr ClientId kNode{7, 8};
  static uint64_t Objects(BenchedMaster& master) { return master.local().core_counters().objects; }
  const uint64_t replicas_;
  JumpingClock& clock_;
  TimePoint mounted_{};
};

}  // namespace

std::vector<std::unique_ptr<Disturbance>> AllDisturbances(uint64_t keys, JumpingClock& clock) {
  std::vector<std::unique_ptr<Disturbance>> all;
  all.push_back(std::make_unique<BusyMachine>());
  all.push_back(std::make_unique<Growth>(keys));
  all.push_back(std::make_unique<Eviction>(keys));
  all.push_back(std::make_unique<Removal>(keys));
  all.push_back(std::make_unique<Expiry>(2 * keys, clock));
  return all;
}

}  // namespace mooncake::bench
