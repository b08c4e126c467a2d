// A cluster of real processes: a master, store nodes, mounts, the admin tool, and clients of this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/store_client.h"
#include "tests/support/process.h"
#include "transfer/base/units.h"

namespace mooncake::testing {

struct MasterSpec {
  std::vector<std::string> flags = {};  // beside address and ports
  std::string host = "127.0.0.1";
  std::string net_namespace = {};
};

struct NodeSpec {
  std::string name;
  uint64_t size = 64 * kMiB;
  std::vector<std::string> flags = {};
  std::string listen_host = "127.0.0.1";
  std::string net_namespace = {};
  std::string protocol = "tcp";
};

struct MountSpec {
  std::string folder;                     // made if it is not there
  std::vector<std::string> options = {};  // for -o
  std::string net_namespace = {};
  bool embedded = false;
};

// A mount in the foreground, by its process; unmounted with this object.
class MountProcess {
 public:
  explicit MountProcess(std::string folder, ProcessOptions options);
  ~MountProcess();
  MountProcess(MountProcess&&) = default;

  const std::string& folder() const { return folder_; }
  std::string operator/(const std::string& name) const { return folder_ + "/" + name; }
  Process& process() { return process_; }
  // Of an embedded store: its RPC port, as it printed it.
  std::string rpc_address() const;
  // umount(8), then the end of the process.
  std::optional<Ended> Unmount();

 private:
  std::string folder_;
  Process process_;
};

// Start functions return when what they started is ready, and abort the test program when it does not become so: the
// message has its log. Thread-compatible.
class ClusterProcess {
 public:
  explicit ClusterProcess(MasterSpec spec = {});

  const std::string& address() const { return address_; }  // HOST:PORT of the master
  Process& master() { return *master_; }
  // kill -9, and a new one at the same address.
  void RestartMaster();
  void StartMaster();

  // The process lives in this object; a node of the same name is replaced (killed if it lives).
  Process& StartNode(const NodeSpec& spec);
  Process& node(const std::string& name);
  // Its "ready" line.
  const std::string& node_line(const std::string& name) const;

  std::unique_ptr<MountProcess> Mount(const MountSpec& spec);
  std::unique_ptr<Client> Connect(ClientOptions options = {});
  // mooncake-admin with --master.
  RunResult Admin(std::vector<std::string> arguments, const std::string& input = "");

  // Waits until the master lists so many segments.
  bool WaitForSegments(size_t count, Duration limit = Seconds(20));
  // Waits until something can be stored and read back: all parts have found each other.
  bool WaitForService(Duration limit = Seconds(20));

 private:
  struct Node {
    std::string name;
    std::string ready_line;
    std::unique_ptr<Process> process;
  };
  MasterSpec spec_;
  std::string address_;
  std::unique_ptr<Process> master_;
  std::vector<Node> nodes_;
};

// Bytes that tell whose they are: a function of key and version, so that any reader can check them. `size` at least 0.
std::string ValueFor(const std::string& key, uint64_t version, size_t size);
// The version whose bytes these are; nullopt: those of no version of this key, or cut.
std::optional<uint64_t> VersionOf(const std::string& key, const std::string& value);

}  // namespace mooncake::testing
