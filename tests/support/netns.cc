#include "tests/support/netns.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "tests/support/process.h"
#include "transfer/base/check.h"

namespace mooncake::testing {
namespace {

constexpr char kPrefix[] = "mctest-";

Status Ip(const std::string& arguments) {
  ProcessOptions options;
  options.command = {"/bin/sh", "-c", "exec ip " + arguments};
  const RunResult run = Run(std::move(options));
  if (run.ended.ok()) return Status::Ok();
  return Status(ErrorCode::kNotSupported, "ip " + arguments + ": " + run.err);
}

// Those of test programs that were killed: their name ends in a process id that is no more.
void RemoveStale() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/run/netns", error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const pid_t owner = std::atoi(name.c_str() + sizeof(kPrefix) - 1);
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) {
      Ip("netns delete " + name).Ignore("another test may do the same at this moment");
    }
  }
}

}  // namespace

Result<std::unique_ptr<NetworkPair>> NetworkPair::Create() {
  static std::atomic<int> counter{0};  // pairs of this process have different names
  RemoveStale();
  const std::string id = std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1));
  std::unique_ptr<NetworkPair> pair(new NetworkPair);
  for (int side = 0; side < 2; ++side) {
    pair->names_[side] = kPrefix + id + (side == 0 ? "a" : "b");
    pair->links_[side] = side == 0 ? "mc0" : "mc1";
    pair->addresses_[side] = side == 0 ? "10.231.7.1" : "10.231.7.2";
    RETURN_IF_ERROR(Ip("netns add " + pair->names_[side]));
    RETURN_IF_ERROR(Ip("-n " + pair->names_[side] + " link set lo up"));
  }
  RETURN_IF_ERROR(Ip("-n " + pair->names_[0] + " link add mc0 type veth peer name mc1 netns " +
                     pair->names_[1]));
  for (int side = 0; side < 2; ++side) {
    RETURN_IF_ERROR(Ip("-n " + pair->names_[side] + " addr add " + pair->addresses_[side] +
                       "/24 dev " + pair->links_[side]));
    RETURN_IF_ERROR(Ip("-n " + pair->names_[side] + " link set " + pair->links_[side] + " up"));
  }
  return pair;
}

NetworkPair::~NetworkPair() {
  for (const std::string& name : names_) {
    if (!name.empty()) Ip("netns delete " + name).Ignore("it may not have been made");
  }
}

// A wrong hardware address on both sides: links, addresses and routes stay as they are, packets vanish, as behind a dead switch.
void NetworkPair::Cut() {
  for (int side = 0; side < 2; ++side) {
    MC_CHECK_OK(Ip("-n " + names_[side] + " neigh replace " + addresses_[1 - side] +
                   " lladdr 02:00:00:00:00:99 nud permanent dev " + links_[side]));
  }
}

void NetworkPair::Mend() {
  for (int side = 0; side < 2; ++side) {
    MC_CHECK_OK(Ip("-n " + names_[side] + " neigh delete " + addresses_[1 - side] + " dev " +
                   links_[side]));
  }
}

void NetworkPair::RunIn(int side, const std::function<void()>& work) const {
  std::thread inside([&] {
    const std::string path = "/run/netns/" + names_[side];
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    MC_CHECK(fd >= 0 && ::setns(fd, CLONE_NEWNET) == 0) << path << ": " << std::strerror(errno);
    ::close(fd);
    work();
  });
  inside.join();
}

}  // namespace mooncake::testing
