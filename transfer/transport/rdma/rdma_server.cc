#include "transfer/transport/rdma/rdma_server.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <system_error>
#include <thread>
#include <utility>

#include <rdma/rdma_cma.h>

#include "transfer/base/mutex.h"
#include "transfer/base/units.h"
#include "transfer/transport/rdma/device.h"
#include "transfer/transport/rdma/server_channel.h"

namespace mooncake {
namespace {

using rdma::Device;
using rdma::DeviceSet;
using rdma::QueuePair;
using rdma::ServerChannel;

UniqueFd NewEventFd() { return UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

struct EventChannelDeleter {
  void operator()(rdma_event_channel* channel) const { ::rdma_destroy_event_channel(channel); }
};
struct IdDeleter {
  void operator()(rdma_cm_id* id) const { (void)::rdma_destroy_id(id); }
};
struct AddressDeleter {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

// What every queue pair of the server stands on.
struct Ground {
  std::unique_ptr<DeviceSet> devices;
  std::unique_ptr<rdma_event_channel, EventChannelDeleter> events;
};

struct Listener {
  std::shared_ptr<Ground> ground;
  std::unique_ptr<rdma_cm_id, IdDeleter> id;  // goes before the ground
  std::string endpoint;
};

class RdmaServerImpl final : public RdmaServer {
 public:
  RdmaServerImpl(const RdmaServerOptions& options, ServedSegments& segments, const Clock& clock,
                 Listener listener, UniqueFd wake)
      : options_(options),
        clock_(clock),
        listener_(std::move(listener)),
        wake_(std::move(wake)),
        exports_(std::make_unique<rdma::ExportedSegments>(segments, options.chunk_bytes)),
        context_{.segments = segments,
                 .clock = clock,
                 .exports = *exports_,
                 .host_id = options.host_id,
                 .endpoint = listener_.endpoint,
                 .counters = counters_},
        endpoint_(listener_.endpoint) {}

  ~RdmaServerImpl() override { Stop(); }

  // With the device that clients will come to; on a wildcard address that may be any.
  Status Prepare() {
    for (const auto& device : listener_.ground->devices->devices()) {
      if (listener_.id->verbs != nullptr && device->context() != listener_.id->verbs) continue;
      for (const auto& [id, epoch] : options_.prepare) {
        RETURN_IF_ERROR(exports_->KeysFor(*device, id, epoch));
      }
    }
    return Status::Ok();
  }

  void Start() {
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "mc-rdma-cm");
      EventLoop();
    });
  }

  const std::string& endpoint() const override { return endpoint_; }

  RdmaServerStats stats() const override {
    const auto load = [](const std::atomic<uint64_t>& n) {
      return n.load(std::memory_order_relaxed);
    };
    MutexLock lock(mutex_);
    return {.channels = workers_.size(),
            .exports = exports_ == nullptr ? 0 : exports_->size(),
            .accepted = load(counters_.accepted),
            .refused = load(counters_.refused),
            .requests = load(counters_.requests),
            .bad_messages = load(counters_.bad_messages),
            .writes_cut = load(counters_.writes_cut)};
  }

  void Stop() override {
    MutexLock stop_lock(stop_mutex_);
    stopping_.store(true, std::memory_order_relaxed);
    Wake();
    if (thread_.joinable()) thread_.join();
    std::unique_ptr<rdma::ExportedSegments> exports;  // taken back without the lock
    MutexLock lock(mutex_);
    exports = std::move(exports_);
  }

 private:
  struct Worker {
    std::shared_ptr<ServerChannel> channel;
    std::thread thread;
    bool ended = false;  // guarded by mutex_
  };

  void Wake() {
    const uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof(one));
  }

  void EventLoop() {
    while (!stopping_.load(std::memory_order_relaxed)) {
      pollfd items[] = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                        {.fd = listener_.ground->events->fd, .events = POLLIN, .revents = 0}};
      (void)::poll(items, 2, -1);
      uint64_t ignored = 0;
      (void)!::read(wake_.get(), &ignored, sizeof(ignored));
      Reap();
      rdma_cm_event* event = nullptr;
      if (::rdma_get_cm_event(listener_.ground->events.get(), &event) != 0) continue;
      const rdma_cm_event copy = *event;
      // At once: an id cannot be destroyed while an event of it is out.
      (void)::rdma_ack_cm_event(event);
      OnEvent(copy);
    }
    listener_.id.reset();
    {
      MutexLock lock(mutex_);
      for (Worker& worker : workers_) worker.channel->Cut();
    }
    for (Worker& worker : workers_) worker.thread.join();  // the list grows in this thread only
    std::list<Worker> ended;
    MutexLock lock(mutex_);
    ended.swap(workers_);
  }

  void OnEvent(const rdma_cm_event& event) {
    if (event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      if (!Accept(event)) {
        counters_.refused.fetch_add(1, std::memory_order_relaxed);
      }
      return;
    }
    if (event.event == RDMA_CM_EVENT_ESTABLISHED) return;
    // All else is an end: disconnected, unreachable, device gone.
    MutexLock lock(mutex_);
    for (Worker& worker : workers_) {
      if (worker.channel->id() == event.id) worker.channel->Cut();
    }
  }

  // False: the client sees a rejection.
  bool Accept(const rdma_cm_event& event) {
    const Device* device = listener_.ground->devices->Find(event.id->verbs);
    UniqueFd wake = NewEventFd();
    if (device == nullptr || !wake.valid() || !MakeRoom()) {
      (void)::rdma_reject(event.id, nullptr, 0);
      (void)::rdma_destroy_id(event.id);
      return false;
    }
    auto queue = QueuePair::Create(event.id, *device, {.send_depth = 8, .signal_every = 1}, clock_);
    if (!queue.ok()) return false;  // its end, and that of the id, was a rejection
    rdma_conn_param parameters = (*queue)->Parameters();
    parameters.responder_resources =
        std::min(parameters.responder_resources, event.param.conn.responder_resources);
    parameters.initiator_depth =
        std::min(parameters.initiator_depth, event.param.conn.initiator_depth);
    if (::rdma_accept(event.id, &parameters) != 0) return false;
    return StartWorker(std::make_shared<ServerChannel>(listener_.ground, std::move(queue).value(),
                                                       std::move(wake), context_));
  }

  bool StartWorker(std::shared_ptr<ServerChannel> channel) {
    MutexLock lock(mutex_);
    Worker& worker = workers_.emplace_back();
    worker.channel = std::move(channel);
    // The thread marks its own list node, which stays where it is until joined.
    try {
      worker.thread = std::thread([this, &worker] {
        pthread_setname_np(pthread_self(), "mc-rdma");
        worker.channel->Run();
        {
          MutexLock end_lock(mutex_);
          worker.ended = true;
        }
        Wake();
      });
    } catch (const std::system_error&) {
      workers_.pop_back();  // no thread to be had: the client sees the end and tries again
      return false;
    }
    counters_.accepted.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  void Reap() {
    std::list<Worker> done;
    {
      MutexLock lock(mutex_);
      for (auto it = workers_.begin(); it != workers_.end();) {
        const auto next = std::next(it);
        if (it->ended) done.splice(done.end(), workers_, it);
        it = next;
      }
    }
    for (Worker& worker : done) worker.thread.join();
  }

  // True when there is a slot. Drops the channel that has been idle longest if need be; its slot is free once it ended.
  bool MakeRoom() {
    std::shared_ptr<ServerChannel> victim;
    MutexLock lock(mutex_);
    if (workers_.size() < options_.max_channels) return true;
    for (const Worker& worker : workers_) {
      const TimePoint idle = worker.channel->idle_since();
      if (!worker.ended && idle != kNever && (victim == nullptr || idle < victim->idle_since())) {
        victim = worker.channel;
      }
    }
    if (victim == nullptr) return false;
    victim->Cut();
    return workers_.size() < options_.max_channels + kOverlap;
  }

  static constexpr size_t kOverlap =
      64;  // channels that are ending beside those that take their slots

  const RdmaServerOptions options_;
  const Clock& clock_;
  Listener listener_;  // event thread only once started, but for the devices
  const UniqueFd wake_;
  rdma::ServerCounters counters_;
  std::unique_ptr<rdma::ExportedSegments> exports_;  // until stopped; changed under mutex_
  rdma::ServerContext context_;
  const std::string endpoint_;
  Mutex stop_mutex_;
  std::atomic<bool> stopping_{false};  // asked by the event thread when woken; orders nothing
  mutable Mutex mutex_;
  std::list<Worker> workers_;  // changed by the event thread under mutex_
  std::thread thread_;
};

Status Failed(const std::string& what) {
  return Status(ErrorCode::kTransferFail, "rdma: " + what + ": " + std::strerror(errno));
}

Result<Listener> Listen(const RdmaServerOptions& options, std::unique_ptr<DeviceSet> devices) {
  ASSIGN_OR_RETURN(HostPort where, ParseHostPort(options.listen, /*allow_zero_port=*/true));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found);
  if (error != 0) {
    return Status(ErrorCode::kTransferFail,
                  "rdma: cannot listen on " + options.listen + ": " + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, AddressDeleter> addresses(found);
  Listener listener;
  listener.ground = std::make_shared<Ground>();
  listener.ground->devices = std::move(devices);
  auto& events = listener.ground->events;
  events.reset(::rdma_create_event_channel());
  if (events == nullptr) return Failed("no event channel (module rdma_ucm?)");
  const int flags = ::fcntl(events->fd, F_GETFL);
  if (::fcntl(events->fd, F_SETFL, flags | O_NONBLOCK) != 0) return Failed("fcntl");
  rdma_cm_id* id = nullptr;
  if (::rdma_create_id(events.get(), &id, nullptr, RDMA_PS_TCP) != 0) {
    return Failed("no communication id");
  }
  listener.id.reset(id);
  if (::rdma_bind_addr(id, addresses->ai_addr) != 0) {
    return Failed("cannot listen on " + options.listen +
                  " (it must be free, and an address of an RDMA device's interface)");
  }
  if (::rdma_listen(id, 1024) != 0) return Failed("cannot listen on " + options.listen);
  where.port = ntohs(::rdma_get_src_port(id));
  if (!options.advertised_host.empty()) where.host = options.advertised_host;
  listener.endpoint = where.ToString();
  return listener;
}

}  // namespace

Result<std::unique_ptr<RdmaServer>> RdmaServer::Create(const RdmaServerOptions& options,
                                                       ServedSegments& segments,
                                                       const Clock& clock) {
  if (options.max_channels == 0 || options.chunk_bytes == 0) {
    return Status(ErrorCode::kInvalidParams, "rdma server: max_channels or chunk_bytes is 0");
  }
  ASSIGN_OR_RETURN(std::unique_ptr<DeviceSet> devices, DeviceSet::Open());
  ASSIGN_OR_RETURN(Listener listener, Listen(options, std::move(devices)));
  UniqueFd wake = NewEventFd();
  if (!wake.valid()) return Failed("no event descriptor");
  auto server = std::make_unique<RdmaServerImpl>(options, segments, clock, std::move(listener),
                                                 std::move(wake));
  RETURN_IF_ERROR(server->Prepare());
  server->Start();
  return std::unique_ptr<RdmaServer>(std::move(server));
}

}  // namespace mooncake
