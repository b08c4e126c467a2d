#include "client/lease_keeper.h"

#include <algorithm>

#include "transfer/base/check.h"

namespace mooncake {
namespace {

// A lease is renewed when half of it is left: one lost renewal is made good.
TimePoint RenewalDue(TimePoint deadline, Duration length) { return deadline - length / 2; }

}  // namespace

HeldLease::~HeldLease() { keeper_->Release(entry_); }

bool HeldLease::Valid() const {
  if (entry_->lost.load(std::memory_order_relaxed)) return false;
  return keeper_->clock().Now().time_since_epoch().count() <
         entry_->deadline_ns.load(std::memory_order_relaxed);
}

LeaseKeeper::LeaseKeeper(MasterApi& master, const Clock& clock, ClientId client,
                         std::string address, Hooks hooks)
    : master_(master),
      clock_(clock),
      client_(client),
      address_(std::move(address)),
      hooks_(std::move(hooks)) {}

LeaseKeeper::~LeaseKeeper() { Stop(); }

void LeaseKeeper::Start(Duration client_ttl) {
  MC_CHECK(!thread_.joinable());
  if (client_ttl > Duration::zero())
    ping_interval_ = std::max(client_ttl / 3, Duration(Millis(100)));
  ping_due_ = clock_.Now() + ping_interval_;
  thread_ = std::thread([this] { Loop(); });
}

void LeaseKeeper::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<HeldLease> LeaseKeeper::Hold(LeaseRef ref, TimePoint granted_from,
                                             Duration length) {
  auto entry = std::make_shared<Entry>();
  entry->ref = std::move(ref);
  entry->length = length;
  const TimePoint deadline = SaturatingAdd(granted_from, length);
  entry->deadline_ns.store(deadline.time_since_epoch().count(), std::memory_order_relaxed);
  {
    MutexLock lock(mutex_);
    const TimePoint due = RenewalDue(deadline, length);
    Enqueue(entry, due);
    if (due < wake_) changed_.NotifyAll();
  }
  return std::shared_ptr<HeldLease>(new HeldLease(shared_from_this(), std::move(entry)));
}

void LeaseKeeper::Release(const std::shared_ptr<Entry>& entry) {
  MutexLock lock(mutex_);
  entry->released = true;
  if (entry->queued) queue_.erase(entry->position);
  entry->queued = false;
}

void LeaseKeeper::Enqueue(const std::shared_ptr<Entry>& entry, TimePoint due) {
  entry->position = queue_.emplace(due, entry);
  entry->queued = true;
}

void LeaseKeeper::Loop() {
  (void)pthread_setname_np(pthread_self(), "mc-leases");
  for (;;) {
    const TimePoint next = RenewDue();
    MutexLock lock(mutex_);
    if (stopping_) return;
    // A lease that was added meanwhile may be due before `next`.
    wake_ = queue_.empty() ? next : std::min(next, queue_.begin()->first);
    const Duration nap = wake_ == kNever ? Duration(Seconds(60)) : wake_ - clock_.Now();
    if (nap > Duration::zero()) (void)changed_.WaitFor(mutex_, nap);
    wake_ = TimePoint::min();  // awake: nobody needs to notify
    if (stopping_) return;
  }
}

TimePoint LeaseKeeper::RenewDue() {
  const TimePoint now = clock_.Now();
  PingIfDue(now);
  const std::vector<std::shared_ptr<Entry>> due = TakeDue(now);
  if (!due.empty()) Renew(due);
  MutexLock lock(mutex_);
  const TimePoint ping_due = ping_interval_ == Duration::zero() ? kNever : ping_due_;
  return queue_.empty() ? ping_due : std::min(ping_due, queue_.begin()->first);
}

void LeaseKeeper::PingIfDue(TimePoint now) {
  if (ping_interval_ == Duration::zero() || now < ping_due_) return;
  ping_due_ = now + ping_interval_;
  if (hooks_.also) hooks_.also();
  const TimePoint deadline = now + std::min(kCallTimeout, ping_interval_ / 2);
  const auto reply = master_.Ping(client_, address_, deadline);
  if (reply.ok() && hooks_.tell) hooks_.tell(deadline);
  // Nothing depends on it but the master's list of clients, and whoever wonders why calls fail.
  if (reply.ok() == master_answers_) return;
  master_answers_ = reply.ok();
  if (hooks_.on_master) hooks_.on_master(reply.status());
}

std::vector<std::shared_ptr<HeldLease::Entry>> LeaseKeeper::TakeDue(TimePoint now) {
  std::vector<std::shared_ptr<Entry>> due;
  MutexLock lock(mutex_);
  while (!queue_.empty() && due.size() < kMaxBatch) {
    // What is due soon goes along: fewer calls.
    const auto first = queue_.begin();
    if (first->first > now + (due.empty() ? Duration::zero() : first->second->length / 8)) break;
    due.push_back(first->second);
    due.back()->queued = false;
    queue_.erase(first);
  }
  return due;
}

void LeaseKeeper::Renew(const std::vector<std::shared_ptr<Entry>>& due) {
  std::vector<LeaseRef> refs;
  Duration shortest = kCallTimeout;
  for (const auto& entry : due) {
    refs.push_back(entry->ref);
    shortest = std::min(shortest, entry->length / 4);
  }
  const TimePoint sent = clock_.Now();
  const std::vector<Result<Duration>> grants = master_.BatchRenewLease(refs, sent + shortest);
  const TimePoint now = clock_.Now();
  MC_CHECK(grants.size() == due.size());
  MutexLock lock(mutex_);
  for (size_t i = 0; i < due.size(); ++i) {
    Entry& entry = *due[i];
    TimePoint next = now + std::max(entry.length / 8, Duration(Millis(10)));  // after a failure
    if (grants[i].ok()) {
      entry.length = *grants[i];
      const TimePoint deadline = SaturatingAdd(sent, *grants[i]);
      if (deadline.time_since_epoch().count() > entry.deadline_ns.load(std::memory_order_relaxed)) {
        entry.deadline_ns.store(deadline.time_since_epoch().count(), std::memory_order_relaxed);
      }
      next = std::max(RenewalDue(deadline, entry.length), now + Duration(Millis(1)));
    } else if (grants[i].code() == ErrorCode::kObjectNotFound) {
      entry.lost.store(true, std::memory_order_relaxed);
      continue;
    }
    if (!entry.released) Enqueue(due[i], next);
  }
}

}  // namespace mooncake
