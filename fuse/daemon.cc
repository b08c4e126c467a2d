#include "fuse/daemon.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include <glog/logging.h>

#include "fuse/logging.h"
#include "fuse/mount_point.h"
#include "fuse/session.h"
#include "fuse/start_pipe.h"
#include "transfer/base/clock.h"
#include "transfer/base/shutdown_signal.h"

namespace mooncake::fs {
namespace {

constexpr Duration kStartBound = Seconds(30);
constexpr uint64_t kLeastSize = 64 * kMiB;

int Fail(const Status& status, int code) {
  std::fprintf(stderr, "mount.mooncake: %s\n", status.message().c_str());
  return code;
}

uint64_t TotalMemory() {
  struct sysinfo info {};
  return sysinfo(&info) == 0 ? uint64_t{info.totalram} * info.mem_unit : 16 * kLeastSize;
}

// Ends the mount when a signal comes.
class StopOnSignal {
 public:
  StopOnSignal(ShutdownSignal& signal, Session& session)
      : signal_(signal), thread_([&signal, &session] {
          const int which = signal.Wait();
          if (which == 0) return;
          LOG(INFO) << "unmounting signal=" << which;
          session.Stop();
        }) {}
  ~StopOnSignal() {
    signal_.Cancel();
    thread_.join();
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  ShutdownSignal& signal_;
  std::thread thread_;
};

// Every slab is an open file. The number of files that this process may have open now.
size_t RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

FsOptions FsOptionsOf(const MountOptions& options) {
  FsOptions out;
  out.timeout = options.timeout;
  out.entry_timeout = options.entry_timeout;
  out.attr_timeout = options.attr_timeout;
  out.read_only = options.read_only;
  out.fetch_most = std::min(out.fetch_most, options.cache_size / 2);
  out.defaults.uid = getuid();
  out.defaults.gid = getgid();
  out.defaults.directory_time_ns = SystemClock().WallNow().ns;
  return out;
}

// Everything that runs in the process that serves.
Status Serve(const MountOptions& options, const std::string& mount_point,
             const StoreOpener& open_store, StartPipe& pipe) {
  ShutdownSignal signal;
  ASSIGN_OR_RETURN(OpenedStore store, open_store(options));
  ASSIGN_OR_RETURN(std::unique_ptr<SlabPool> slabs,
                   SlabPool::Create({.memory_bytes = options.write_space + options.cache_size,
                                     .spill_dir = options.spill_dir,
                                     .huge_pages = options.huge_pages}));
  LOG(INFO) << "slabs: " << slabs->Describe();
  FileSystem file_system({.client = *store.client,
                          .slabs = std::move(slabs),
                          .probe = MakeProcProbe(),
                          .options = FsOptionsOf(options),
                          .cache_bytes = options.cache_size,
                          .cache_files = RaiseFileLimit() / 2,
                          .views_in_place = store.in_process},
                         SystemClock());
  ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                   Session::Mount(file_system, options, mount_point, store.address));
  StopOnSignal stop(signal, *session);
  Status ready_status;
  const Status served = session->Run([&](const Status& ready) {
    ready_status = ready;
    if (!ready.ok()) return;
    LOG(INFO) << "ready mount=" << mount_point << " store=\"" << store.description << "\" data=\""
              << session->DescribeDataPath() << "\"";
    pipe.ReportReady("mounted " + mount_point + ": " + store.description);
  });
  RETURN_IF_ERROR(ready_status);
  LOG(INFO) << "unmounted mount=" << mount_point;
  return served;
}

int RunChild(const MountOptions& options, const std::string& mount_point,
             const StoreOpener& open_store, StartPipe& pipe) {
  Logging logging(options.foreground, options.log_file);
  const Status served =
      logging.status().ok() ? Serve(options, mount_point, open_store, pipe) : logging.status();
  if (served.ok()) return 0;
  LOG(ERROR) << served;
  pipe.ReportFailure(served.message());
  return options.foreground ? Fail(served, kExitFailed) : kExitFailed;
}

}  // namespace

void FillDefaults(MountOptions& options) {
  const uint64_t memory = TotalMemory();
  if (options.size == 0) options.size = std::max(memory / 4, kLeastSize) / kMiB * kMiB;
  if (options.write_space == 0) options.write_space = std::max(memory / 8, kLeastSize);
  if (options.cache_size == 0) options.cache_size = std::max(memory / 8, kLeastSize);
}

int RunMount(int argc, char** argv, const StoreOpener& open_store) {
  auto line = ParseCommandLine({argv + 1, argv + argc});
  if (!line.ok()) return Fail(line.status(), kExitUsage);
  if (line->action == CommandLine::Action::kHelp) {
    std::fputs(HelpText().c_str(), stdout);
    return 0;
  }
  if (line->action == CommandLine::Action::kVersion) {
    std::printf("mount.mooncake %s\n", MC_VERSION);
    return 0;
  }
  MountOptions options = line->options;
  FillDefaults(options);
  const auto mount_point = PrepareMountPoint(options.mount_point, options.nonempty);
  if (!mount_point.ok()) return Fail(mount_point.status(), kExitFailed);
  if (options.fake) return 0;
  auto pipe = StartPipe::Fork(options.foreground);
  if (!pipe.ok()) return Fail(pipe.status(), kExitFailed);
  if (pipe->side() == StartPipe::Side::kChild)
    return RunChild(options, *mount_point, open_store, *pipe);
  const auto started = pipe->Wait(kStartBound);
  if (!started.ok()) {
    // A child that had to be killed may have mounted already.
    if (started.code() == ErrorCode::kRpcTimeout && IsOurMount(*mount_point))
      LazyUnmount(*mount_point);
    return Fail(started.status(), kExitFailed);
  }
  std::printf("%s\n", started->c_str());
  return 0;
}

}  // namespace mooncake::fs
