#include "transfer/transport/tcp/tcp_server.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <list>
#include <random>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "transfer/base/mutex.h"
#include "transfer/base/units.h"
#include "transfer/transport/tcp/server_stream.h"

namespace mooncake {
namespace {

using tcp::ServerContext;
using tcp::ServerStream;

uint64_t RandomWord() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

struct Listener {
  UniqueFd fd;
  bool local = false;
};

class TcpServerImpl final : public TcpServer {
 public:
  TcpServerImpl(const TcpServerOptions& options, ServedSegments& segments, const Clock& clock,
                std::vector<Listener> listeners, UniqueFd wake, std::string endpoint)
      : options_(options),
        endpoint_(std::move(endpoint)),
        listeners_(std::move(listeners)),
        wake_(std::move(wake)),
        context_{.segments = segments,
                 .clock = clock,
                 .identity = {RandomWord(), RandomWord(), options.host_id, endpoint_},
                 .sessions = tcp::ServerSessions(clock),
                 .counters = {},
                 .hello_timeout = options.hello_timeout,
                 .frame_timeout = options.frame_timeout,
                 .send_timeout = options.send_timeout} {}

  ~TcpServerImpl() override { Stop(); }

  void Start() {
    acceptor_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "mc-accept");
      AcceptLoop();
    });
  }

  const std::string& endpoint() const override { return endpoint_; }

  TcpServerStats stats() const override {
    const auto load = [](const std::atomic<uint64_t>& n) {
      return n.load(std::memory_order_relaxed);
    };
    const tcp::ServerCounters& c = context_.counters;
    TcpServerStats stats{.accepted = load(c.accepted),
                         .refused = load(c.refused),
                         .requests = load(c.requests),
                         .bytes_read = load(c.bytes_read),
                         .bytes_written = load(c.bytes_written),
                         .bad_frames = load(c.bad_frames)};
    MutexLock lock(mutex_);
    stats.streams = workers_.size();
    return stats;
  }

  void Stop() override {
    MutexLock stop_lock(stop_mutex_);
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    Wake();
    if (!acceptor_.joinable()) return;
    acceptor_.join();
    if (!options_.local_socket.empty() && options_.local_socket[0] != '@') {
      (void)::unlink(options_.local_socket.c_str());
    }
  }

 private:
  struct Worker {
    std::shared_ptr<ServerStream> stream;
    std::thread thread;
    bool ended = false;  // guarded by mutex_
  };

  void Wake() {
    const uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof(one));
  }

  bool stopping() const {
    MutexLock lock(mutex_);
    return stopping_;
  }

  void AcceptLoop() {
    while (!stopping()) {
      AwaitSomething();
      Reap();
      for (const Listener& listener : listeners_) AcceptFrom(listener);
    }
    listeners_.clear();
    {
      MutexLock lock(mutex_);
      for (Worker& worker : workers_) worker.stream->Cut();
    }
    for (Worker& worker : workers_) worker.thread.join();  // the list grows in this thread only
    MutexLock lock(mutex_);
    workers_.clear();
  }

  void AwaitSomething() {
    std::vector<pollfd> items{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    // Out of descriptors, a listener would be readable for ever: look again a little later.
    if (!starved_) {
      for (const Listener& listener : listeners_) {
        items.push_back({.fd = listener.fd.get(), .events = POLLIN, .revents = 0});
      }
    }
    (void)::poll(items.data(), items.size(), starved_ ? 100 : -1);
    uint64_t ignored = 0;
    (void)!::read(wake_.get(), &ignored, sizeof(ignored));
    starved_ = false;
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

  void AcceptFrom(const Listener& listener) {
    constexpr int kAtOnce = 64;  // then the ended ones are reaped first
    for (int i = 0; i < kAtOnce; ++i) {
      UniqueFd fd = tcp::Accept(listener.fd.get(), options_.socket);
      if (!fd.valid()) {
        starved_ |= errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
        return;
      }
      uint32_t uid = 0;
      if ((listener.local && !tcp::PeerIsTrusted(fd.get(), uid)) || !MakeRoom()) {
        context_.counters.refused.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      context_.counters.accepted.fetch_add(1, std::memory_order_relaxed);
      StartWorker(std::move(fd), listener.local);
    }
  }

  // True when there is a slot. Drops the stream that has been idle longest if need be; its slot is free once it ended.
  bool MakeRoom() {
    std::shared_ptr<ServerStream> victim;
    {
      MutexLock lock(mutex_);
      if (workers_.size() < options_.max_streams) return true;
      for (const Worker& worker : workers_) {
        const TimePoint idle = worker.stream->idle_since();
        if (!worker.ended && idle != kNever && (victim == nullptr || idle < victim->idle_since())) {
          victim = worker.stream;
        }
      }
    }
    if (victim == nullptr) return false;
    victim->Cut();
    MutexLock lock(mutex_);
    return workers_.size() < options_.max_streams + kOverlap;
  }

  void StartWorker(UniqueFd fd, bool local) {
    auto stream = std::make_shared<ServerStream>(std::move(fd), local, context_);
    MutexLock lock(mutex_);
    Worker& worker = workers_.emplace_back();
    worker.stream = stream;
    // The thread marks its own list node, which stays where it is until joined.
    try {
      worker.thread =
          std::thread([this, stream = std::move(stream), &worker] { Serve(*stream, worker); });
    } catch (const std::system_error&) {
      workers_.pop_back();  // no thread to be had: the peer sees a closed stream and tries again
      context_.counters.refused.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void Serve(ServerStream& stream, Worker& worker) {
    pthread_setname_np(pthread_self(), "mc-data");
    stream.Run();
    {
      MutexLock lock(mutex_);
      worker.ended = true;
    }
    Wake();
  }

  static constexpr size_t kOverlap =
      64;  // streams that are ending beside those that take their slots

  const TcpServerOptions options_;
  const std::string endpoint_;
  std::vector<Listener> listeners_;  // acceptor thread only once started
  const UniqueFd wake_;
  ServerContext context_;
  bool starved_ = false;  // acceptor thread only
  Mutex stop_mutex_;
  mutable Mutex mutex_;
  bool stopping_ MC_GUARDED_BY(mutex_) = false;
  std::list<Worker> workers_;  // changed by the acceptor thread under mutex_
  std::thread acceptor_;
};

}  // namespace

Result<std::unique_ptr<TcpServer>> TcpServer::Create(const TcpServerOptions& options,
                                                     ServedSegments& segments, const Clock& clock) {
  if (options.listen.empty() && options.local_socket.empty()) {
    return Status(ErrorCode::kInvalidParams,
                  "data server: neither a TCP address nor a Unix socket to listen on");
  }
  if (options.max_streams == 0)
    return Status(ErrorCode::kInvalidParams, "data server: max_streams is 0");
  std::vector<Listener> listeners;
  std::string endpoint = options.local_socket;
  if (!options.listen.empty()) {
    ASSIGN_OR_RETURN(HostPort where, ParseHostPort(options.listen, /*allow_zero_port=*/true));
    ASSIGN_OR_RETURN(UniqueFd fd, tcp::ListenTcp(options.listen, options.socket));
    where.port = tcp::BoundPort(fd.get());
    if (!options.advertised_host.empty()) where.host = options.advertised_host;
    endpoint = where.ToString();
    listeners.push_back({std::move(fd), false});
  }
  if (!options.local_socket.empty()) {
    ASSIGN_OR_RETURN(UniqueFd fd, tcp::ListenUnix(options.local_socket, options.socket));
    listeners.push_back({std::move(fd), true});
  }
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid())
    return Status(ErrorCode::kTransferFail, std::string("eventfd: ") + std::strerror(errno));
  auto server = std::make_unique<TcpServerImpl>(options, segments, clock, std::move(listeners),
                                                std::move(wake), std::move(endpoint));
  server->Start();
  return std::unique_ptr<TcpServer>(std::move(server));
}

}  // namespace mooncake
