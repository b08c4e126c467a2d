// A real etcd of one or more members, on free ports of loopback, with its data in a temporary folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace mooncake::testing {

class EtcdCluster {
 public:
  // Serves when it is made; aborts the test program when that fails. `flags` go to each member.
  explicit EtcdCluster(size_t members = 1, std::vector<std::string> flags = {});

  size_t size() const { return members_.size(); }
  // Of all, "127.0.0.1:20001,127.0.0.1:20002".
  std::string endpoints() const;
  std::string endpoint(size_t member) const;
  Process& process(size_t member) { return *members_[member].process; }

  // Starts a member that was killed, on its port and data; WaitReady says when it serves.
  void Start(size_t member);
  void WaitReady(size_t member);
  // The key is gone when it returns.
  void Erase(const std::string& key);
  // The key has this value, whatever was there.
  void Put(const std::string& key, const std::string& value);

 private:
  struct Member {
    uint16_t client_port = 0;
    uint16_t peer_port = 0;
    std::unique_ptr<Process> process;
  };
  bool TryStartAll();

  const TempFolder folder_;
  const std::vector<std::string> flags_;
  std::vector<Member> members_;
};

}  // namespace mooncake::testing
