// The least that a TCP round trip on loopback can cost: a bare socket, a thread that answers, nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "transfer/base/result.h"
#include "transfer/base/unique_fd.h"

namespace mooncake::bench {

// One connection. A call sends `up` bytes and waits for `down` bytes. Thread-compatible.
class TcpEcho {
 public:
  static Result<std::unique_ptr<TcpEcho>> Create(uint64_t up, uint64_t down);
  ~TcpEcho();

  Status Call();

 private:
  TcpEcho(UniqueFd client, UniqueFd server, uint64_t up, uint64_t down);

  UniqueFd client_;
  UniqueFd server_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::thread thread_;
};

}  // namespace mooncake::bench
