#include "fuse/session.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include <glog/logging.h>

#include "fuse/invalidator.h"
#include "fuse/mount_point.h"
#include "fuse/ops/operations.h"
#include "fuse/worker_pool.h"

namespace mooncake::fs {
namespace {

constexpr int kFewestThreads = 4;
constexpr uint64_t kProbeBytes = 4096;
constexpr char kMaxRead[] = "max_read=1048576";

std::string KernelOptions(const MountOptions& options, const std::string& source) {
  std::string list = "subtype=mooncake,default_permissions,";
  list += kMaxRead;
  list += ",fsname=" + source;
  if (options.allow_other) list += ",allow_other";
  if (options.auto_unmount) list += ",auto_unmount";
  if (options.read_only) list += ",ro";
  for (const std::string& option : options.kernel_options) list += "," + option;
  return list;
}

int MostThreads(const MountOptions& options) {
  if (options.threads > 0) return static_cast<int>(options.threads);
  return std::max(32, 8 * static_cast<int>(std::thread::hardware_concurrency()));
}

class MountedSession final : public Session {
 public:
  MountedSession(FileSystem& file_system, const MountOptions& options, std::string mount_point,
                 std::string source)
      : options_(options),
        mount_point_(std::move(mount_point)),
        source_(std::move(source)),
        file_system_(file_system),
        device_(options.passthrough != PassthroughMode::kOff) {
    context_.device = &device_;
    context_.file_system = &file_system_;
  }
  ~MountedSession() override {
    file_system_.SetBacking(nullptr);
    file_system_.SetKernelCache(nullptr);
    invalidator_.reset();
    if (session_ == nullptr) return;
    if (mounted_) fuse_session_unmount(session_);
    fuse_session_destroy(session_);
  }

  Status Start();
  Status Run(std::function<void(const Status&)> on_ready) override;
  void Stop() override;
  std::string DescribeDataPath() const override { return data_path_; }

 private:
  Status LookAtMount() const;
  Status ProbePassthrough();

  const MountOptions options_;
  const std::string mount_point_;
  const std::string source_;
  FileSystem& file_system_;
  Device device_;
  MountContext context_;
  fuse_session* session_ = nullptr;
  bool mounted_ = false;
  std::string data_path_;  // set before on_ready
  std::unique_ptr<Invalidator> invalidator_;
  std::unique_ptr<WorkerPool> workers_;
};

Status MountedSession::Start() {
  std::string program = "mount.mooncake";
  std::string flag = "-o";
  std::string list = KernelOptions(options_, source_);
  std::string debug = "-d";
  std::vector<char*> argv = {program.data(), flag.data(), list.data()};
  if (options_.debug) argv.push_back(debug.data());
  argv.push_back(nullptr);
  fuse_args args = FUSE_ARGS_INIT(static_cast<int>(argv.size()) - 1, argv.data());
  const fuse_lowlevel_ops operations = MakeOperations();
  session_ =
      fuse_session_new(&args, &operations, sizeof operations, static_cast<DeviceUser*>(&context_));
  fuse_opt_free_args(&args);
  if (session_ == nullptr)
    return Status(ErrorCode::kInvalidParams, "libfuse refused the options " + list);
  if (fuse_session_mount(session_, mount_point_.c_str()) != 0) {
    return Status(
        ErrorCode::kInvalidParams,
        mount_point_ +
            ": could not mount; run as root, or install fuse3 and check that /dev/fuse is there");
  }
  mounted_ = true;
  if (!device_.Attach(session_))
    return Status(ErrorCode::kInternal, "libfuse refused the hooks for its device");
  invalidator_ = std::make_unique<Invalidator>(session_);
  file_system_.SetKernelCache(invalidator_.get());
  workers_ = std::make_unique<WorkerPool>(session_, kFewestThreads, MostThreads(options_));
  return Status::Ok();
}

// Asked as any program would, so it answers for INIT and for the threads too.
Status MountedSession::LookAtMount() const {
  struct stat info {};
  if (stat(mount_point_.c_str(), &info) != 0) {
    return Status(ErrorCode::kInternal,
                  mount_point_ + ": mounted, but does not answer: " + std::strerror(errno));
  }
  if (info.st_ino != kRootId) {
    return Status(ErrorCode::kInternal,
                  mount_point_ + ": something else was mounted over it meanwhile");
  }
  return Status::Ok();
}

// The kernel says in INIT that it knows passthrough; whether this process may use it shows only with a file.
Status MountedSession::ProbePassthrough() {
  std::string why = "switched off";
  if (options_.passthrough != PassthroughMode::kOff) {
    why = "this kernel does not offer it (Linux 6.9 does)";
    if (device_.passthrough()) {
      const auto slab = file_system_.state().slabs.MakeInMemory(kProbeBytes);
      if (slab && BackedSlab::Make(device_, slab)) {
        file_system_.SetBacking(&device_);
        data_path_ = "passthrough";
        return Status::Ok();
      }
      why = std::string("the kernel refuses its files: ") + std::strerror(errno) +
            "; it needs CAP_SYS_ADMIN";
    }
  }
  data_path_ = "direct I/O, passthrough: " + why;
  if (options_.passthrough != PassthroughMode::kRequire) return Status::Ok();
  return Status(ErrorCode::kInvalidParams,
                "passthrough=require: " + why + "; or use passthrough=auto");
}

Status MountedSession::Run(std::function<void(const Status&)> on_ready) {
  std::thread look([this, on_ready = std::move(on_ready)] {
    Status ready = LookAtMount();
    if (ready.ok()) ready = ProbePassthrough();
    on_ready(ready);
    if (!ready.ok()) Stop();
  });
  const int error = workers_->Run();
  look.join();
  if (error != 0)
    return Status(ErrorCode::kInternal,
                  std::string("the FUSE device failed: ") + std::strerror(error));
  return Status::Ok();
}

void MountedSession::Stop() {
  LazyUnmount(mount_point_);
  workers_->Stop();
}

}  // namespace

Result<std::unique_ptr<Session>> Session::Mount(FileSystem& file_system,
                                                const MountOptions& options,
                                                const std::string& mount_point,
                                                const std::string& source) {
  auto session = std::make_unique<MountedSession>(file_system, options, mount_point, source);
  RETURN_IF_ERROR(session->Start());
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace mooncake::fs
