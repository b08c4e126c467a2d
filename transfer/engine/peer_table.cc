// Lock order: none of these locks is taken while another is held.
#include "transfer/engine/peer_table.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "transfer/base/units.h"

namespace mooncake {

PeerTable::PeerTable(std::span<const std::unique_ptr<Transport>> transports, const Clock& clock,
                     const PeerTableOptions& options)
    : transports_(transports), clock_(clock), options_(options), connects_(transports.size(), 0) {}

std::shared_ptr<PeerTable::Peer> PeerTable::Find(const PeerAddress& address) {
  {
    ReaderLock lock(mutex_);
    const auto found = peers_.find(address);
    if (found != peers_.end()) return found->second;
  }
  WriterLock lock(mutex_);
  auto& place = peers_[address];
  if (place == nullptr) {
    place = std::make_shared<Peer>();
    std::shared_ptr<Peer> added = place;
    if (peers_.size() > options_.max_peers) EvictOne(address);
    return added;
  }
  return place;
}

// Any other one: a table this full is a sign of addresses that come and go, and a wrong guess costs a dial.
void PeerTable::EvictOne(const PeerAddress& except) {
  auto victim = peers_.begin();
  if (victim->first == except) ++victim;
  if (victim != peers_.end()) peers_.erase(victim);
}

Status PeerTable::Admit(Peer& peer, const PeerAddress& address) {
  if (peer.failures == 0) return Status::Ok();
  const TimePoint now = clock_.Now();
  if (now < peer.retry_at) {
    return Status(ErrorCode::kTransferFail, "peer " + address.endpoint + " is left alone for " +
                                                FormatDuration(peer.retry_at - now) +
                                                " more after: " + peer.last_failure.message());
  }
  // This caller tries for all; the others are refused until it is known how that went, or for another while.
  peer.retry_at = now + options_.first_backoff;
  return Status::Ok();
}

void PeerTable::Fail(Peer& peer, const Status& why) {
  const int doublings = std::min(peer.failures, 10);
  ++peer.failures;
  peer.retry_at = clock_.Now() + std::min<Duration>(options_.first_backoff * (1 << doublings),
                                                    options_.longest_backoff);
  peer.last_failure = why;
}

Result<PeerPath> PeerTable::Get(const PeerAddress& address, TimePoint deadline,
                                size_t first_transport, Backoff backoff) {
  const std::shared_ptr<Peer> peer = Find(address);
  Status refusal;
  {
    MutexLock lock(peer->mutex);
    peer->connections.resize(transports_.size());
    while (true) {
      if (backoff == Backoff::kRespect) refusal = Admit(*peer, address);
      if (!refusal.ok()) break;
      for (size_t i = first_transport; i < transports_.size(); ++i) {
        auto& connection = peer->connections[i];
        if (connection == nullptr) continue;
        if (connection->healthy()) return PeerPath{connection, i};
        connection.reset();
      }
      if (!peer->dialling) break;
      const Duration left = deadline - clock_.Now();
      if (left <= Duration::zero()) {
        return Status(ErrorCode::kRpcTimeout,
                      "peer " + address.endpoint + ": still connecting at the deadline");
      }
      peer->dialled.WaitFor(peer->mutex, std::min<Duration>(left, Millis(100)));
    }
    if (refusal.ok()) peer->dialling = true;
  }
  if (!refusal.ok()) {
    MutexLock lock(counter_mutex_);
    ++refused_fast_;
    return refusal;
  }
  Result<PeerPath> path = Dial(address, deadline, first_transport);
  MutexLock lock(peer->mutex);
  peer->dialling = false;
  peer->dialled.NotifyAll();
  if (path.ok()) {
    peer->connections[path->transport] = path->connection;
    peer->failures = 0;
  } else if (path.code() == ErrorCode::kTransferFail) {
    Fail(*peer, path.status());
  }
  return path;
}

Result<PeerPath> PeerTable::Dial(const PeerAddress& address, TimePoint deadline,
                                 size_t first_transport) {
  Status last(ErrorCode::kTransferFail, "no transport reaches peer '" + address.endpoint +
                                            "' (protocol '" + address.protocol + "')");
  for (size_t i = first_transport; i < transports_.size(); ++i) {
    if (!transports_[i]->CanReach(address)) continue;
    Result<std::shared_ptr<Connection>> connection = transports_[i]->Connect(address, deadline);
    {
      MutexLock lock(counter_mutex_);
      ++connects_[i];
    }
    if (connection.ok()) return PeerPath{std::move(connection).value(), i};
    last = connection.status();
    if (clock_.Now() >= deadline) break;
  }
  return last;
}

void PeerTable::OnAnswer(const PeerAddress& address) {
  const std::shared_ptr<Peer> peer = Find(address);
  MutexLock lock(peer->mutex);
  peer->failures = 0;
}

void PeerTable::OnSilence(const PeerAddress& address, const Status& why) {
  const std::shared_ptr<Peer> peer = Find(address);
  MutexLock lock(peer->mutex);
  Fail(*peer, why);
}

void PeerTable::KeepForViews(const PeerAddress&, const PeerPath& path) {
  const auto is_it = [&](const Viewed& viewed) { return viewed.connection == path.connection; };
  {
    ReaderLock lock(mutex_);
    if (std::any_of(viewed_.begin(), viewed_.end(), is_it)) return;
  }
  WriterLock lock(mutex_);
  if (std::none_of(viewed_.begin(), viewed_.end(), is_it))
    viewed_.push_back({.connection = path.connection});
}

void PeerTable::PruneViewed() {
  std::vector<Viewed> released;  // ends outside the lock
  const TimePoint now = clock_.Now();
  WriterLock lock(mutex_);
  for (Viewed& viewed : viewed_) {
    if (viewed.release == kNever && !viewed.connection->healthy())
      viewed.release = now + options_.view_grace;
  }
  const auto due = std::stable_partition(
      viewed_.begin(), viewed_.end(), [&](const Viewed& viewed) { return now < viewed.release; });
  released.assign(std::make_move_iterator(due), std::make_move_iterator(viewed_.end()));
  viewed_.erase(due, viewed_.end());
}

void PeerTable::Forget(const PeerAddress& address, const PeerPath& path) {
  const std::shared_ptr<Peer> peer = Find(address);
  MutexLock lock(peer->mutex);
  if (path.transport < peer->connections.size() &&
      peer->connections[path.transport] == path.connection) {
    peer->connections[path.transport].reset();
  }
}

void PeerTable::Prune() {
  PruneViewed();
  std::vector<std::shared_ptr<Peer>> peers;
  {
    ReaderLock lock(mutex_);
    for (const auto& [address, peer] : peers_) peers.push_back(peer);
  }
  for (const auto& peer : peers) {
    std::vector<std::shared_ptr<Connection>> dropped;  // ends outside the lock
    MutexLock lock(peer->mutex);
    for (auto& connection : peer->connections) {
      if (connection != nullptr && !connection->healthy()) dropped.push_back(std::move(connection));
    }
  }
}

size_t PeerTable::Nearest(const PeerAddress& peer, size_t first) const {
  for (size_t i = first; i < transports_.size(); ++i) {
    if (transports_[i]->CanReach(peer)) return i;
  }
  return transports_.size();
}

uint64_t PeerTable::refused_fast() const {
  MutexLock lock(counter_mutex_);
  return refused_fast_;
}

uint64_t PeerTable::connects(size_t transport) const {
  MutexLock lock(counter_mutex_);
  return connects_[transport];
}

}  // namespace mooncake
