// mooncake-storenode: options, start, wait for a signal, stop.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <glog/logging.h>

#include "master/api/remote_master.h"
#include "storenode/node/segment_probe.h"
#include "storenode/node/store_node.h"
#include "storenode/node/storenode_options.h"
#include "storenode/node/tcp_data_server.h"
#include "transfer/base/clock.h"
#include "transfer/base/config_reader.h"
#include "transfer/transport/tcp/tcp_transport.h"

namespace mooncake {
namespace {

constexpr char kProgram[] = "mooncake-storenode";
constexpr int kExitStopped = 0;
constexpr int kExitCannotStart = 1;
constexpr int kExitUsage = 2;

// A handler has no other way to reach the program. Written before the handlers are installed, and by the handler.
std::atomic<int> stop_event{-1};
std::atomic<int> stop_signal{0};

// A handler and an event rather than sigwait: a signal that is sent to one thread in particular reaches it here too (F104).
void OnSignal(int signal) {
  const int saved = errno;
  int none = 0;
  if (!stop_signal.compare_exchange_strong(none, signal))
    _exit(128 + signal);  // somebody is impatient
  const uint64_t one = 1;
  (void)!write(stop_event.load(), &one, sizeof(one));
  errno = saved;
}

void InstallSignals() {
  stop_event.store(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

void WaitForSignal() {
  while (stop_signal.load() == 0) {
    pollfd entry{.fd = stop_event.load(), .events = POLLIN, .revents = 0};
    (void)poll(&entry, 1, -1);
  }
}

Status StartLog(const StoreNodeProgramOptions& options) {
  FLAGS_v = static_cast<int32_t>(options.verbosity);
  FLAGS_logtostderr = options.log_dir.empty();
  FLAGS_log_dir = options.log_dir;
  FLAGS_logbuflevel = -1;  // the ready line must not wait for a buffer
  if (!options.log_dir.empty() && access(options.log_dir.c_str(), W_OK | X_OK) != 0) {
    return Status(ErrorCode::kInvalidParams,
                  "log_dir " + options.log_dir + ": " + std::strerror(errno) +
                      "; create the folder, or choose another --log_dir");
  }
  google::InitGoogleLogging(kProgram);
  return Status::Ok();
}

Result<std::unique_ptr<StoreNode>> StartNode(const StoreNodeOptions& options, const Clock& clock) {
  ASSIGN_OR_RETURN(const HostPort master, ParseHostPort(options.master_address));
  StoreNodeParts parts{
      .master = MakeRemoteMaster({.address = master}, clock),
      .serve = TcpDataServerFactory(),
      .probe = MakeSegmentProbe(MakeTcpTransport({.max_streams = 1}, clock), clock),
      .cancelled = [] { return stop_signal.load() != 0; },
  };
  return StoreNode::Create(options, std::move(parts), clock);
}

int Serve(const StoreNodeOptions& options) {
  InstallSignals();
  Result<std::unique_ptr<StoreNode>> node = StartNode(options, SystemClock());
  if (!node.ok() && stop_signal.load() != 0) {
    LOG(INFO) << "stopped before it was ready signal=" << stop_signal.load();
    return kExitStopped;
  }
  if (!node.ok()) {
    std::fprintf(stderr, "%s: cannot start: %s\n", kProgram, node.message().c_str());
    return kExitCannotStart;
  }
  const SegmentDescriptor segment = (*node)->segment();
  LOG(INFO) << "ready name=" << segment.name << " endpoint=" << segment.endpoint
            << " size=" << segment.size << " master=" << options.master_address
            << " segment=" << segment.id.ToString()
            << " local_socket=" << (segment.local_socket.empty() ? "off" : segment.local_socket)
            << " host_id=" << segment.host_id << " version=" << MC_VERSION << " pid=" << getpid();
  WaitForSignal();
  LOG(INFO) << "stopping signal=" << stop_signal.load();
  (*node)->Stop();
  node->reset();
  LOG(INFO) << "stopped";
  return kExitStopped;
}

int Main(int argc, char** argv) {
  StoreNodeProgramOptions options;
  ConfigReader reader(
      kProgram, "A store node of Mooncake Store: lends memory of this machine to the cluster.");
  DescribeStoreNodeOptions(options, reader);
  const auto outcome = reader.Read(argc, argv);
  if (outcome.ok() && *outcome == ConfigOutcome::kHelp) {
    std::fputs(reader.Help().c_str(), stdout);
    return kExitStopped;
  }
  if (outcome.ok() && *outcome == ConfigOutcome::kVersion) {
    std::printf("%s %s\n", kProgram, MC_VERSION);
    return kExitStopped;
  }
  Status status = outcome.status();
  if (status.ok()) status = FinishStoreNodeOptions(options);
  if (!status.ok()) {
    std::fprintf(stderr, "%s: %s\n", kProgram, status.message().c_str());
    return kExitUsage;
  }
  status = StartLog(options);
  if (!status.ok()) {
    std::fprintf(stderr, "%s: cannot start: %s\n", kProgram, status.message().c_str());
    return kExitCannotStart;
  }
  for (const std::string& warning : reader.warnings()) LOG(WARNING) << warning;
  return Serve(options.node);
}

}  // namespace
}  // namespace mooncake

int main(int argc, char** argv) { return mooncake::Main(argc, argv); }
