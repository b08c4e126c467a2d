// Keeps leases alive in the background, for all open readers, views and long reads of a client, and tells the master now and
// then that the client lives.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "master/api/master_api.h"
#include "transfer/base/clock.h"
#include "transfer/base/mutex.h"

namespace mooncake {

class LeaseKeeper;

// A lease on one version, renewed until destruction. Thread-safe.
class HeldLease {
 public:
  ~HeldLease();
  HeldLease(const HeldLease&) = delete;
  HeldLease& operator=(const HeldLease&) = delete;

  // True while the bytes of the version are certain to be in their place. Once false it may become true again only if the
  // master confirms that the version was never given up, so what was read before stays right.
  bool Valid() const;

 private:
  friend class LeaseKeeper;
  struct Entry {
    LeaseRef ref;
    // Written by the keeper's thread, read by Valid(): relaxed, each word stands for itself.
    std::atomic<int64_t> deadline_ns{0};
    std::atomic<bool> lost{false};  // the master said that the version is gone
    Duration length{};              // of the last grant; the keeper's thread only, after Hold
    bool queued = false;            // guarded by the keeper's mutex
    bool released = false;          // guarded by the keeper's mutex
    std::multimap<TimePoint, std::shared_ptr<Entry>>::iterator position{};  // if queued
  };
  HeldLease(std::shared_ptr<LeaseKeeper> keeper, std::shared_ptr<Entry> entry)
      : keeper_(std::move(keeper)), entry_(std::move(entry)) {}

  const std::shared_ptr<LeaseKeeper> keeper_;
  const std::shared_ptr<Entry> entry_;
};

// Owns one thread from Start to Stop. Thread-safe. Held by shared_ptr, so that a reader may outlive its client: its lease
// then ends by itself.
class LeaseKeeper : public std::enable_shared_from_this<LeaseKeeper> {
 public:
  static constexpr size_t kMaxBatch = 1024;  // leases in one renewal
  static constexpr Duration kCallTimeout =
      Seconds(2);  // of a renewal or ping; shorter leases get less

  // `master` and `clock` must outlive Stop(). `address` is for people.
  struct Hooks {
    // With each ping: other work that is due now and then. Must not block.
    std::function<void()> also;
    // After a ping that was answered: what else the master may be told. Until `deadline`, leases wait for it.
    std::function<void(TimePoint deadline)> tell;
    std::function<void(const Status&)> on_master;  // see ClientOptions
  };
  LeaseKeeper(MasterApi& master, const Clock& clock, ClientId client, std::string address,
              Hooks hooks);
  LeaseKeeper(MasterApi& master, const Clock& clock, ClientId client, std::string address)
      : LeaseKeeper(master, clock, client, std::move(address), Hooks()) {}
  ~LeaseKeeper();

  void Start(Duration client_ttl);
  // No lease is renewed afterwards; waits for a call in progress, at most kCallTimeout. Idempotent.
  void Stop() MC_EXCLUDES(mutex_);

  // `granted_from`: before the request that granted it was sent.
  std::shared_ptr<HeldLease> Hold(LeaseRef ref, TimePoint granted_from, Duration length)
      MC_EXCLUDES(mutex_);

  // One round of what the thread does: renews what is due at `clock.Now()`. Returns when the next round is due.
  TimePoint RenewDue() MC_EXCLUDES(mutex_);

  const Clock& clock() const { return clock_; }

 private:
  friend class HeldLease;
  using Entry = HeldLease::Entry;
  using Queue = std::multimap<TimePoint, std::shared_ptr<Entry>>;

  void Release(const std::shared_ptr<Entry>& entry) MC_EXCLUDES(mutex_);
  void Loop() MC_EXCLUDES(mutex_);
  void PingIfDue(TimePoint now) MC_EXCLUDES(mutex_);
  std::vector<std::shared_ptr<Entry>> TakeDue(TimePoint now) MC_EXCLUDES(mutex_);
  void Renew(const std::vector<std::shared_ptr<Entry>>& due) MC_EXCLUDES(mutex_);
  void Enqueue(const std::shared_ptr<Entry>& entry, TimePoint due) MC_REQUIRES(mutex_);

  MasterApi& master_;
  const Clock& clock_;
  const ClientId client_;
  const std::string address_;
  const Hooks hooks_;
  std::thread thread_;
  Duration ping_interval_{};    // 0 = no pings; fixed in Start
  TimePoint ping_due_{};        // the keeper's thread only
  bool master_answers_ = true;  // the keeper's thread only
  Mutex mutex_;
  CondVar changed_;
  Queue queue_ MC_GUARDED_BY(mutex_);             // by the time of the next renewal
  TimePoint wake_ MC_GUARDED_BY(mutex_){kNever};  // until when the thread sleeps
  bool stopping_ MC_GUARDED_BY(mutex_) = false;
};

}  // namespace mooncake
