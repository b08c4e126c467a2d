// mooncake-storenode: options, start, wait for a signal, stop.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include <glog/logging.h>

#include "master/api/remote_master.h"
#include "storenode/node/rdma_data_server.h"
#include "storenode/node/segment_probe.h"
#include "storenode/node/store_node.h"
#include "storenode/node/storenode_options.h"
#include "storenode/node/tcp_data_server.h"
#include "transfer/base/clock.h"
#include "transfer/base/config_reader.h"
#include "transfer/base/shutdown_signal.h"
#include "transfer/transport/tcp/tcp_transport.h"

namespace mooncake {
namespace {

constexpr char kProgram[] = "mooncake-storenode";
constexpr int kExitStopped = 0;
constexpr int kExitCannotStart = 1;
constexpr int kExitUsage = 2;

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

Result<std::unique_ptr<StoreNode>> StartNode(const StoreNodeOptions& options,
                                             const ShutdownSignal& signal, const Clock& clock) {
  ASSIGN_OR_RETURN(const HostPort master, ParseHostPort(options.master_address));
  StoreNodeParts parts{
      .master = MakeRemoteMaster({.address = master}, clock),
      .serve = options.protocol == "rdma" ? RdmaDataServerFactory() : TcpDataServerFactory(),
      .probe = MakeSegmentProbe(MakeTcpTransport({.max_streams = 1}, clock), clock),
      .cancelled = [&signal] { return signal.received() != 0; },
  };
  return StoreNode::Create(options, std::move(parts), clock);
}

// Readers keep their replicas for a while. A second signal ends the process meanwhile.
void Leave(StoreNode& node, Duration grace) {
  const Status status = node.BeginLeaving(grace);
  if (!status.ok()) {
    LOG(WARNING) << "leaves at once, the master did not agree to a grace: " << status;
    return;
  }
  LOG(INFO) << "leaving grace=" << FormatDuration(grace);
  std::this_thread::sleep_for(grace);
}

int Serve(const StoreNodeProgramOptions& program_options) {
  const StoreNodeOptions& options = program_options.node;
  ShutdownSignal signal;
  Result<std::unique_ptr<StoreNode>> node = StartNode(options, signal, SystemClock());
  if (!node.ok() && signal.received() != 0) {
    LOG(INFO) << "stopped before it was ready signal=" << signal.received();
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
  const int which = signal.Wait();  // before the line is begun, which takes its time from then
  LOG(INFO) << "stopping signal=" << which;
  if (program_options.unmount_grace > Duration::zero())
    Leave(**node, program_options.unmount_grace);
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
  return Serve(options);
}

}  // namespace
}  // namespace mooncake

int main(int argc, char** argv) { return mooncake::Main(argc, argv); }
