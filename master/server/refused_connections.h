// Connections that the server has no room for: each gets one frame that says so, and a moment to read it.
#pragma once

#include <poll.h>

#include <cstddef>
#include <vector>

#include "transfer/base/byte_span.h"
#include "transfer/base/time.h"

namespace mooncake {

// Closing at once would let the client's unread request reset the connection and destroy the answer on its way. Bounded in
// number and time. Not thread-safe.
class RefusedConnections {
 public:
  explicit RefusedConnections(std::vector<std::byte> frame);
  ~RefusedConnections();
  RefusedConnections(const RefusedConnections&) = delete;
  RefusedConnections& operator=(const RefusedConnections&) = delete;

  void Add(int fd, TimePoint now);
  // For poll(2).
  void AppendTo(std::vector<pollfd>& entries) const;
  bool empty() const { return waiting_.empty(); }
  // Reads and forgets what they sent; closes those that ended or had their time.
  void Drain(TimePoint now);

 private:
  struct Waiting {
    int fd;
    TimePoint until;
  };
  std::vector<std::byte> frame_;
  std::vector<Waiting> waiting_;
};

}  // namespace mooncake
