#include "storenode/node/store_node.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <glog/logging.h>

#include "storenode/memory/shm_region.h"
#include "storenode/node/heartbeat_loop.h"
#include "storenode/node/local_address.h"
#include "transfer/base/machine.h"

namespace mooncake {
namespace {

constexpr Duration kUnmountTimeout = Seconds(2);
constexpr Duration kDrainTimeout = Seconds(5);
constexpr Duration kCancelPoll = Millis(100);
constexpr size_t kMaxNameBytes = 255;
constexpr AccessEpoch kFirstEpoch{1};

// What others have to connect to, if the address listened on does not say.
Result<std::string> AdvertisedHost(const StoreNodeOptions& options) {
  if (!options.advertised_host.empty()) return options.advertised_host;
  ASSIGN_OR_RETURN(const HostPort listen, ParseHostPort(options.listen, true));
  if (!IsWildcardHost(listen.host) || options.master_address.empty()) return listen.host;
  Result<std::string> host = LocalAddressTowards(options.master_address);
  if (!host.ok())
    return Annotate(host.status(),
                    "cannot tell which of this machine's addresses to advertise; name one");
  return host;
}

Result<std::string> NodeName(const StoreNodeOptions& options, const std::string& endpoint) {
  if (!options.name.empty()) return options.name;
  ASSIGN_OR_RETURN(const HostPort bound, ParseHostPort(endpoint));
  ASSIGN_OR_RETURN(const std::string host, HostName());
  return host + ":" + std::to_string(bound.port);
}

class StoreNodeImpl final : public StoreNode {
 public:
  StoreNodeImpl(const StoreNodeOptions& options, StoreNodeParts parts, const Clock& clock)
      : options_(options),
        parts_(std::move(parts)),
        clock_(clock),
        pid_(getpid()),
        served_(clock, master_clock_) {}
  ~StoreNodeImpl() override { Stop(); }

  Status Start();

  SegmentDescriptor segment() const override { return heartbeat_->segments().front(); }
  bool mounted() const override { return heartbeat_->mounted(); }
  ServedSegments& served() override { return served_; }
  Status BeginLeaving(Duration grace) override {
    return parts_.master->GracefulUnmountSegment(descriptor_.owner, descriptor_.id, grace,
                                                 clock_.Now() + kUnmountTimeout);
  }
  void Stop() override;

 private:
  Status Lend();
  Status Serve();
  Status JoinMaster();
  bool Cancelled() const { return parts_.cancelled && parts_.cancelled(); }

  const StoreNodeOptions options_;
  const StoreNodeParts parts_;
  const Clock& clock_;
  const pid_t pid_;
  MasterClockEstimate master_clock_;
  ServedSegments served_;
  SegmentDescriptor descriptor_;  // fixed after Start, but for the epoch: see heartbeat_
  std::unique_ptr<DataServer> server_;
  std::unique_ptr<HeartbeatLoop> heartbeat_;
  Mutex stop_mutex_;
  bool stopped_ MC_GUARDED_BY(stop_mutex_) = false;
};

Status StoreNodeImpl::Start() {
  RETURN_IF_ERROR(Lend());
  RETURN_IF_ERROR(Serve());
  return JoinMaster();
}

Status StoreNodeImpl::Lend() {
  descriptor_.id = RandomId<SegmentId>();
  descriptor_.owner = RandomId<ClientId>();
  descriptor_.size = options_.segment_size;
  descriptor_.epoch = kFirstEpoch;
  descriptor_.host_id = options_.host_id.empty() ? MachineId() : options_.host_id;
  descriptor_.protocol = options_.protocol;
  if (options_.local_socket) descriptor_.local_socket = "@mooncake-" + descriptor_.id.ToString();
  const auto progress = [this, next = kGiB](uint64_t done) mutable {
    if (done >= next) {
      LOG(INFO) << "touching memory done=" << FormatSize(done)
                << " of=" << FormatSize(options_.segment_size);
      next = done + std::max(kGiB, options_.segment_size / 20);
    }
    return !Cancelled();
  };
  ASSIGN_OR_RETURN(std::shared_ptr<ShmRegion> region,
                   ShmRegion::Create({.name = descriptor_.id.ToString(),
                                      .segment = descriptor_.id,
                                      .data_size = options_.segment_size,
                                      .epoch = kFirstEpoch,
                                      .huge_pages = options_.huge_pages,
                                      .prefault = options_.prefault,
                                      .progress = progress}));
  return served_.Add({.id = descriptor_.id,
                      .epoch = kFirstEpoch,
                      .memory = region->data(),
                      .keep_alive = region,
                      .epoch_word = &region->header().epoch,
                      .region_fd = region->fd(),
                      .region_bytes = region->mapped_size()});
}

// Bind first, then tell the master: the port that it hears is one that answers (F091).
Status StoreNodeImpl::Serve() {
  ASSIGN_OR_RETURN(const std::string advertised, AdvertisedHost(options_));
  ASSIGN_OR_RETURN(server_, parts_.serve({.listen = options_.listen,
                                          .advertised_host = advertised,
                                          .local_socket = descriptor_.local_socket,
                                          .host_id = descriptor_.host_id,
                                          .segment = descriptor_.id,
                                          .epoch = kFirstEpoch},
                                         served_, clock_));
  descriptor_.endpoint = server_->endpoint();
  ASSIGN_OR_RETURN(descriptor_.name, NodeName(options_, descriptor_.endpoint));
  return Status::Ok();
}

Status StoreNodeImpl::JoinMaster() {
  heartbeat_ = std::make_unique<HeartbeatLoop>(
      HeartbeatParts{.master = *parts_.master,
                     .served = served_,
                     .master_clock = master_clock_,
                     .clock = clock_,
                     .probe = parts_.probe},
      HeartbeatOptions{.node = descriptor_.owner,
                       .address = descriptor_.name + " " + descriptor_.endpoint,
                       .core = options_.core,
                       .seed = RandomWord()},
      std::vector<SegmentDescriptor>{descriptor_});
  heartbeat_->Start();
  const TimePoint deadline = clock_.Now() + options_.master_wait;
  for (;;) {
    const TimePoint now = clock_.Now();
    const Status status = heartbeat_->WaitMounted(std::min(deadline, now + kCancelPoll));
    if (status.ok()) return status;
    if (Cancelled())
      return Status(ErrorCode::kUnavailableInCurrentStatus, "stopped while waiting for the master");
    const bool no_answer =
        status.code() == ErrorCode::kRpcFail || status.code() == ErrorCode::kRpcTimeout;
    if (!no_answer && status.code() != ErrorCode::kInvalidVersion) return status;
    if (clock_.Now() < deadline) continue;
    return Annotate(
        status,
        "no master answered at " + options_.master_address + " within " +
            FormatDuration(options_.master_wait) +
            "; start it, or correct the address (--master), or wait longer (--master_wait)");
  }
}

void StoreNodeImpl::Stop() {
  // In a forked child the threads are not there, and the memory is the parent's.
  if (getpid() != pid_) {
    (void)server_.release();
    (void)heartbeat_.release();
    return;
  }
  {
    MutexLock lock(stop_mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  if (heartbeat_ != nullptr) {
    const bool known = heartbeat_->mounted();
    heartbeat_->Stop();
    if (known) {
      const Status status = parts_.master->UnmountSegment(descriptor_.owner, descriptor_.id,
                                                          clock_.Now() + kUnmountTimeout);
      if (!status.ok()) LOG(WARNING) << "the master was not told of the unmount: " << status;
    }
  }
  if (server_ != nullptr) server_->Stop();
  served_.Remove(descriptor_.id, clock_.Now() + kDrainTimeout)
      .Ignore("the memory goes with the last access");
}

}  // namespace

Status StoreNodeOptions::Validate() const {
  const auto invalid = [](std::string message) {
    return Status(ErrorCode::kInvalidParams, std::move(message));
  };
  if (name.size() > kMaxNameBytes) {
    return invalid("name has " + std::to_string(name.size()) + " bytes: at most " +
                   std::to_string(kMaxNameBytes));
  }
  if (segment_size < kMinSegmentBytes || segment_size > kMaxSegmentBytes) {
    return invalid("segment_size " + FormatSize(segment_size) + ": must be between " +
                   FormatSize(kMinSegmentBytes) + " and " + FormatSize(kMaxSegmentBytes));
  }
  if (protocol != "tcp" && protocol != "rdma") {
    return invalid("protocol '" + protocol + "': tcp or rdma");
  }
  if (const auto address = ParseHostPort(listen, true); !address.ok()) {
    return Annotate(address.status(), "listen '" + listen + "'");
  }
  if (master_wait < Duration::zero()) return invalid("master_wait must not be negative");
  return Status::Ok();
}

Result<std::unique_ptr<StoreNode>> StoreNode::Create(const StoreNodeOptions& options,
                                                     StoreNodeParts parts, const Clock& clock) {
  RETURN_IF_ERROR(options.Validate());
  auto node = std::make_unique<StoreNodeImpl>(options, std::move(parts), clock);
  RETURN_IF_ERROR(node->Start());
  return std::unique_ptr<StoreNode>(std::move(node));
}

}  // namespace mooncake
