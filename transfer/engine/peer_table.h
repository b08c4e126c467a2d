// What a client remembers of each peer: its connection, and whether it has just proved to be away.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/base/mutex.h"
#include "transfer/base/result.h"
#include "transfer/transport/transport.h"

namespace mooncake {

enum class PeerLocality : uint8_t { kSameProcess = 0, kSameHost = 1, kRemote = 2 };

struct PeerTableOptions {
  // After a peer failed, calls to it are refused for this long, doubling with each further failure. One call
  // is let through when the time is over, the others follow if it succeeds.
  Duration first_backoff = Seconds(1);
  Duration longest_backoff = Seconds(5);
  size_t max_peers = 4096;  // then the connections of others are let go
  // A broken connection behind views is kept this long: longer than any lease of the objects looked at.
  Duration view_grace = Seconds(60);
};

// A connection and the transport it is of.
struct PeerPath {
  std::shared_ptr<Connection> connection;
  size_t transport = 0;
};

// Thread-safe.
class PeerTable {
 public:
  // `transports` and `clock` must outlive it.
  PeerTable(std::span<const std::unique_ptr<Transport>> transports, const Clock& clock,
            const PeerTableOptions& options);

  // The best working connection to the peer, made now if need be; `first_transport` leaves out better ones (for a retry
  // on another path). kTransferFail: no way there, or it failed a moment ago. kRpcTimeout. With
  // kAnyway a peer in its back-off is tried all the same.
  enum class Backoff : uint8_t { kRespect, kAnyway };
  Result<PeerPath> Get(const PeerAddress& peer, TimePoint deadline, size_t first_transport = 0,
                       Backoff backoff = Backoff::kRespect);

  // How a call on it went. A failure is "nobody answered": it starts or prolongs the peer's back-off.
  void OnAnswer(const PeerAddress& peer);
  void OnSilence(const PeerAddress& peer, const Status& why);
  // Bytes of `path` are looked at in place: its connection stays until view_grace after it broke.
  void KeepForViews(const PeerAddress& peer, const PeerPath& path);
  // `path` broke: the next Get() makes a new one.
  void Forget(const PeerAddress& peer, const PeerPath& path);

  // Lets go of connections that are not healthy, and of broken ones behind views when their time is over.
  void Prune();

  // Number of the nearest transport that can reach the peer, from `first` on; their count if none.
  size_t Nearest(const PeerAddress& peer, size_t first = 0) const;

  uint64_t refused_fast() const;
  uint64_t connects(size_t transport) const;

 private:
  struct Peer {
    Mutex mutex;
    CondVar dialled;
    bool dialling MC_GUARDED_BY(mutex) = false;
    // By transport; null: not connected.
    std::vector<std::shared_ptr<Connection>> connections MC_GUARDED_BY(mutex);
    int failures MC_GUARDED_BY(mutex) = 0;
    TimePoint retry_at MC_GUARDED_BY(mutex){};
    Status last_failure MC_GUARDED_BY(mutex);
    TimePoint last_used MC_GUARDED_BY(mutex){};
  };

  std::shared_ptr<Peer> Find(const PeerAddress& address);
  void EvictOne(const PeerAddress& except) MC_REQUIRES(mutex_);
  void PruneViewed() MC_EXCLUDES(mutex_);
  Status Admit(Peer& peer, const PeerAddress& address) MC_REQUIRES(peer.mutex);
  void Fail(Peer& peer, const Status& why) MC_REQUIRES(peer.mutex);
  Result<PeerPath> Dial(const PeerAddress& address, TimePoint deadline, size_t first_transport);

  const std::span<const std::unique_ptr<Transport>> transports_;
  const Clock& clock_;
  const PeerTableOptions options_;
  mutable SharedMutex mutex_;
  std::map<PeerAddress, std::shared_ptr<Peer>> peers_ MC_GUARDED_BY(mutex_);
  struct Viewed {
    std::shared_ptr<Connection> connection;
    TimePoint release = kNever;  // set when it was found broken
  };
  // Bounded by the number of connections to nodes of this host within view_grace, if Prune() is called.
  std::vector<Viewed> viewed_ MC_GUARDED_BY(mutex_);
  mutable Mutex counter_mutex_;
  uint64_t refused_fast_ MC_GUARDED_BY(counter_mutex_) = 0;
  std::vector<uint64_t> connects_ MC_GUARDED_BY(counter_mutex_);
};

}  // namespace mooncake
