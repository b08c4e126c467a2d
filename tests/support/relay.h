// A loopback TCP relay in front of a server: the wire that tests cut, freeze and let go.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transfer/base/mutex.h"
#include "transfer/base/unique_fd.h"

namespace mooncake::testing {

// Thread-safe.
class Relay {
 public:
  // Forwards to `target` what comes to `listen` (both HOST:PORT).
  explicit Relay(const std::string& target, const std::string& listen = "127.0.0.1:0");
  ~Relay();

  const std::string& address() const { return address_; }  // where to connect to

  // Streams that exist now forward nothing any more, yet stay open: a firewall that lost its state, a frozen peer.
  void FreezeStreams();
  // New streams are accepted and forward nothing either, until Thaw().
  void FreezeNewStreams(bool frozen) { freeze_new_ = frozen; }
  // Every stream is closed once it has forwarded this many bytes towards the client (server). 0: never. Applies to
  // the next `streams` streams only.
  void CutNext(int streams, uint64_t after_bytes_to_client, uint64_t after_bytes_to_server);
  void CloseStreams();

  int accepted() const { return accepted_; }

 private:
  struct Pipe;
  void AcceptLoop();

  std::string target_;
  std::string address_;
  UniqueFd listener_;
  UniqueFd wake_;
  std::atomic<bool> freeze_new_{false};
  std::atomic<int> accepted_{0};
  std::atomic<int> cuts_left_{0};
  std::atomic<uint64_t> cut_to_client_{0};
  std::atomic<uint64_t> cut_to_server_{0};
  Mutex mutex_;
  std::vector<std::shared_ptr<Pipe>> pipes_ MC_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ MC_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace mooncake::testing
