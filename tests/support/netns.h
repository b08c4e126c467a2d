// Network namespaces for tests: hosts on one machine, joined by cables that can be cut.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transfer/base/result.h"

namespace mooncake::testing {

// Two namespaces with a cable between them, gone with this object. Needs root and iproute2.
class NetworkPair {
 public:
  // kNotSupported when this system does not allow it: skip the test then.
  static Result<std::unique_ptr<NetworkPair>> Create();
  ~NetworkPair();
  NetworkPair(const NetworkPair&) = delete;
  NetworkPair& operator=(const NetworkPair&) = delete;

  // 0 or 1.
  const std::string& name(int side) const { return names_[side]; }
  const std::string& address(int side) const { return addresses_[side]; }

  // Packets stop; nobody is told.
  void Cut();
  void Mend();

  // Runs `work` in a thread of that namespace; what it starts (threads, processes) is there too.
  void RunIn(int side, const std::function<void()>& work) const;

 private:
  NetworkPair() = default;
  std::string names_[2];
  std::string addresses_[2];
  std::string links_[2];
};

}  // namespace mooncake::testing
