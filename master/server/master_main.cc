// mooncake-master: options, start, wait for a signal, stop.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <glog/logging.h>

#include "master/ha/rocksdb_state_store.h"
#include "master/server/admin_http.h"
#include "master/server/keep_freed_memory.h"
#include "master/server/master_options.h"
#include "master/server/master_service.h"
#include "master/server/thrift_server.h"
#include "master/server/version.h"
#include "master/tenants/policy_etcd.h"
#include "master/tenants/policy_file.h"
#include "transfer/base/clock.h"
#include "transfer/base/config_reader.h"
#include "transfer/base/shutdown_signal.h"

namespace mooncake {
namespace {

constexpr char kProgram[] = "mooncake-master";
constexpr int kExitStopped = 0;
constexpr int kExitCannotStart = 1;
constexpr int kExitUsage = 2;
constexpr Duration kReportInterval = Seconds(10);
// Answers that wait for the log take two seconds of it, HTTP two more; the rest is for what is not in the log yet.
constexpr Duration kStopLimit = Seconds(6);

Status StartLog(const MasterOptions& options) {
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

// A second that no earlier start of a master can have taken, since this one was there when it began.
Term FreshTerm(const Clock& clock) {
  const Term at_start = TermNow(clock);
  // At most a second; signals are not lost meanwhile.
  while (TermNow(clock) == at_start) std::this_thread::sleep_for(Millis(10));
  return TermNow(clock);
}

// What a restart finds, and how fast: one line.
void LogRestored(const RestoreSummary& restored) {
  LOG(INFO) << "restored snapshot=" << (restored.snapshot.empty() ? "none" : restored.snapshot)
            << " snapshot_records=" << restored.snapshot_records
            << " log_records=" << restored.log_records << " segments=" << restored.state.segments
            << " objects=" << restored.state.versions
            << " dropped_with_their_segments=" << restored.state.lost_versions
            << " damaged_records=" << restored.state.bad_records
            << " unusable_snapshots=" << restored.unusable_snapshots
            << " log_holes=" << restored.holes << " ms=" << ToMillis(restored.took);
}

// Null: this master keeps none.
Result<std::unique_ptr<QuotaPolicyStore>> OpenQuotaPolicies(const MasterOptions& options,
                                                            const Clock& clock) {
  std::unique_ptr<QuotaPolicyStore> store;
  if (!options.core.multi_tenants) return store;
  if (options.quota_connector == "etcd") {
    auto etcd = PolicyEtcd::Create(
        {.endpoints = options.quota_uri, .cluster_id = options.cluster_id}, PostByCurl, clock);
    if (!etcd.ok()) return Annotate(etcd.status(), "--tenant_quota_connector_uri");
    store = std::move(etcd).value();
  } else if (!options.quota_uri.empty()) {
    store = std::make_unique<PolicyFile>(PolicyFileOptions{.path = options.quota_uri});
  } else {
    store = std::make_unique<PolicyFile>(PolicyFileOptions{
        .path = options.state_dir + "/tenant_quotas.yaml", .create_if_missing = true});
  }
  return store;
}

// All that serves. Members are destroyed in the reverse order: HTTP, RPC, service.
struct Running {
  std::unique_ptr<MasterService> service;
  std::unique_ptr<ThriftServer> rpc;
  std::unique_ptr<AdminHttp> http;

  ConnectionNumbers connections() const { return {rpc->connections(), rpc->refused()}; }
};

Status StartServing(const MasterOptions& options, const Clock& clock, Running& running) {
  MasterServiceOptions service_options;
  service_options.config = options.config;
  service_options.core = options.core;
  service_options.snapshots = options.snapshots;
  std::unique_ptr<StateStore> store;
  if (!options.state_dir.empty()) {
    auto opened = OpenRocksDbStateStore(options.state_dir);
    if (!opened.ok()) return Annotate(opened.status(), "--state_dir");
    store = std::move(opened).value();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<QuotaPolicyStore> policies, OpenQuotaPolicies(options, clock));
  service_options.term = FreshTerm(clock);
  ASSIGN_OR_RETURN(running.service, MasterService::Create(service_options, clock, std::move(store),
                                                          std::move(policies)));
  if (running.service->restored()) LogRestored(*running.service->restored());

  ThriftServerOptions rpc_options;
  rpc_options.address = {options.rpc_address, options.rpc_port};
  rpc_options.max_connections = options.max_connections;
  rpc_options.idle_timeout = options.rpc_idle_timeout;
  MasterService& service = *running.service;
  rpc_options.latencies = &service.latencies();
  auto rpc = ThriftServer::Start(
      rpc_options, service, [&service] { return service.term(); }, clock);
  if (!rpc.ok()) return Annotate(rpc.status(), "RPC (--rpc_address, --rpc_port)");
  running.rpc = std::move(rpc).value();

  if (options.metrics_port == 0) return Status::Ok();
  auto http = AdminHttp::Start({options.metrics_host, options.metrics_port}, service,
                               [&running] { return running.connections(); });
  if (!http.ok())
    return Annotate(http.status(),
                    "HTTP (--metrics_host, --metrics_port; --metrics_port=0 turns it off)");
  running.http = std::move(http).value();
  return Status::Ok();
}

int Serve(const MasterOptions& options, ShutdownSignal& signal) {
  const Clock& clock = SystemClock();
  Running running;
  const Status started = StartServing(options, clock, running);
  if (!started.ok()) {
    std::fprintf(stderr, "%s: cannot start: %s\n", kProgram, started.message().c_str());
    return kExitCannotStart;
  }
  LOG(INFO) << "ready rpc_address=" << running.rpc->address().ToString()
            << " metrics_address=" << (running.http ? running.http->address().ToString() : "off")
            << " term=" << running.service->term().value << " version=" << Version()
            << " pid=" << getpid();

  int which = 0;
  while ((which = signal.WaitFor(kReportInterval)) == 0) {
    if (options.enable_metric_reporting)
      LOG(INFO) << MetricsSummary(*running.service, running.connections());
  }
  LOG(INFO) << "stopping signal=" << which;
  running.service->BeginShutdown();
  running.rpc->Stop();
  running.http.reset();
  running.rpc.reset();
  running.service.reset();
  LOG(INFO) << "stopped";
  return kExitStopped;
}

// Serves in a thread of its own until a signal comes, and ends the process when that thread has not ended kStopLimit later: one in a
// storage that does not answer cannot be joined, be it the log's, a snapshot's, or one that serves an administrator. What is not in
// the log by then is as lost as after a crash. This thread, to which the kernel gives signals first, never waits for the storage.
int ServeUntilSignal(const MasterOptions& options) {
  ShutdownSignal signal;
  std::future<int> served = std::async(std::launch::async, [&] {
    const int status = Serve(options, signal);
    signal.Cancel();
    return status;
  });
  signal.Wait();
  if (served.wait_for(kStopLimit) == std::future_status::ready) return served.get();
  LOG(ERROR) << "ended after " << ToMillis(kStopLimit)
             << " ms without having stopped: the storage does not answer, or not fast enough";
  google::FlushLogFiles(google::GLOG_INFO);
  _exit(kExitStopped);
}

int Main(int argc, char** argv) {
  MasterOptions options;
  ConfigReader reader(kProgram,
                      "The metadata service of Mooncake Store: it knows every object, segment and "
                      "client, and touches no data.");
  DescribeMasterOptions(options, reader);
  const auto outcome = reader.Read(argc, argv);
  if (outcome.ok() && *outcome == ConfigOutcome::kHelp)
    return std::fputs(reader.Help().c_str(), stdout), kExitStopped;
  if (outcome.ok() && *outcome == ConfigOutcome::kVersion) {
    return std::printf("%s %s\n", kProgram, Version()), kExitStopped;
  }
  Status status = outcome.status();
  if (status.ok()) status = FinishMasterOptions(options);
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
  options.config = reader.Values();
  return ServeUntilSignal(options);
}

}  // namespace
}  // namespace mooncake

int main(int argc, char** argv) {
  mooncake::KeepFreedMemory();
  return mooncake::Main(argc, argv);
}
