#include "master/server/frame_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <glog/logging.h>

#include "master/api/wire_socket.h"
#include "master/server/refused_connections.h"
#include "transfer/base/mutex.h"

namespace mooncake {

using wire::FrameSocket;

namespace {

// Idle connections block this long per system call; stopping does not wait for it (shutdown(2) wakes them).
constexpr Duration kIdleSlice = Seconds(20);
constexpr int kPollMs = 1000;    // while refused connections wait for their end
constexpr int kBackOffMs = 100;  // after accept failed for want of descriptors or memory

class WakeUp {
 public:
  WakeUp() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~WakeUp() {
    if (fd_ >= 0) close(fd_);
  }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  int fd() const { return fd_; }
  void Ring() {
    const uint64_t one = 1;
    (void)!write(fd_, &one, sizeof one);  // full: it rings already
  }
  void Reset() {
    uint64_t count = 0;
    (void)!read(fd_, &count, sizeof count);
  }

 private:
  int fd_;
};

}  // namespace

class FrameServer::Impl {
 public:
  Impl(FrameServerOptions options, SessionFactory sessions, const Clock& clock,
       wire::ListenSocket listener)
      : options_(std::move(options)),
        sessions_(std::move(sessions)),
        clock_(clock),
        address_(listener.bound),
        listen_fd_(listener.fd),
        budget_(options_.max_buffered_bytes),
        refused_(options_.refusal) {}

  ~Impl() { Stop(); }

  Status Begin() {
    if (wake_.fd() < 0)
      return Status(ErrorCode::kRpcFail, std::string("eventfd: ") + std::strerror(errno));
    try {
      acceptor_ = std::thread([this] { AcceptLoop(); });
    } catch (const std::system_error& e) {
      return Status(ErrorCode::kRpcFail, std::string("cannot start a thread: ") + e.what());
    }
    return Status::Ok();
  }

  const HostPort& address() const { return address_; }
  size_t connections() const {
    MutexLock lock(mutex_);
    return live_.size();
  }
  uint64_t refused() const { return refused_count_.load(); }

  void Stop() {
    MutexLock once(stop_mutex_);
    {
      MutexLock lock(mutex_);
      stopping_.store(true);
      // Wakes those that wait for a request; one whose request runs can still send its reply.
      for (const auto& [id, connection] : live_) shutdown(connection.socket->fd(), SHUT_RD);
    }
    wake_.Ring();
    if (acceptor_.joinable()) acceptor_.join();
    // Resets those that the kernel took and nobody accepted: they would wait for a reply that never comes.
    if (listen_fd_ >= 0) close(listen_fd_);
    listen_fd_ = -1;
    AwaitConnections(clock_.Now() + options_.stop_grace);
    {
      MutexLock lock(mutex_);
      for (const auto& [id, connection] : live_) shutdown(connection.socket->fd(), SHUT_RDWR);
    }
    AwaitConnections(kNever);
    JoinFinished();
  }

 private:
  struct Connection {
    std::unique_ptr<FrameSocket> socket;
    std::thread thread;
  };

  void AwaitConnections(TimePoint deadline) {
    MutexLock lock(mutex_);
    while (!live_.empty()) {
      const Duration left = deadline == kNever ? Seconds(1) : deadline - clock_.Now();
      if (left <= Duration::zero()) return;
      ended_.WaitFor(mutex_, left);
    }
  }

  void JoinFinished() {
    std::vector<Connection> finished;
    {
      MutexLock lock(mutex_);
      finished.swap(finished_);
    }
    for (Connection& connection : finished) connection.thread.join();
  }

  void AcceptLoop() {
    std::vector<pollfd> entries;
    int pause_ms = 0;
    for (;;) {
      entries = {{.fd = wake_.fd(), .events = POLLIN, .revents = 0}};
      if (pause_ms == 0) entries.push_back({.fd = listen_fd_, .events = POLLIN, .revents = 0});
      const bool listening = pause_ms == 0;
      refused_.AppendTo(entries);
      (void)poll(entries.data(), entries.size(),
                 pause_ms > 0       ? pause_ms
                 : refused_.empty() ? -1
                                    : kPollMs);
      wake_.Reset();
      JoinFinished();
      refused_.Drain(clock_.Now());
      if (stopping_.load()) return;
      pause_ms = 0;
      if (listening && (entries[1].revents & POLLIN) != 0 && !AcceptOne()) pause_ms = kBackOffMs;
    }
  }

  // False when the process is out of something and accepting should rest.
  bool AcceptOne() {
    const int fd = accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      const int error = errno;
      const bool exhausted =
          error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
      if (exhausted) {
        LOG_EVERY_N(ERROR, 100) << "accept failed address=" << address_.ToString()
                                << " error=" << std::strerror(error);
      }
      return !exhausted;
    }
    if (!Serve(fd)) {
      refused_count_.fetch_add(1);
      refused_.Add(fd, clock_.Now());
    }
    return true;
  }

  // False, with `fd` still the caller's, when there is no room for it.
  bool Serve(int fd) {
    MutexLock lock(mutex_);
    if (stopping_.load() || live_.size() >= options_.max_connections) return false;
    const uint64_t id = next_id_++;
    Connection& connection = live_[id];
    connection.socket = std::make_unique<FrameSocket>(fd, kIdleSlice, &budget_);
    FrameSocket* socket = connection.socket.get();
    try {
      // It waits for mutex_ before it ends, so the entry is complete by then.
      connection.thread = std::thread([this, id, socket] {
        try {
          Converse(*socket);
        } catch (const std::bad_alloc&) {
          LOG_EVERY_N(ERROR, 100) << "out of memory, a connection is closed address="
                                  << address_.ToString();
        }
        Ended(id);
      });
    } catch (const std::system_error& e) {
      LOG_EVERY_N(ERROR, 100) << "no thread for a connection address=" << address_.ToString()
                              << " error=" << e.what();
      live_.erase(id);
      return true;  // closed by its socket
    }
    return true;
  }

  void Converse(FrameSocket& socket) {
    const std::unique_ptr<FrameSession> session = sessions_();
    for (;;) {
      const TimePoint first_byte =
          options_.idle_timeout > Duration::zero() ? clock_.Now() + options_.idle_timeout : kNever;
      const auto request =
          socket.Receive(options_.max_frame_bytes, clock_, first_byte, options_.frame_timeout);
      if (!request.ok()) {
        if (request.code() == ErrorCode::kNoAvailableHandle) {
          LOG_EVERY_N(WARNING, 100) << "connection closed address=" << address_.ToString()
                                    << " error=" << request.status();
        }
        VLOG(1) << "connection ends: " << request.status();
        return;
      }
      const FrameSession::Reply reply = session->Handle(*request);
      if (!reply.frame.empty()) {
        const Status sent = socket.Send(reply.frame, clock_, clock_.Now() + options_.frame_timeout);
        if (!sent.ok()) {
          VLOG(1) << "reply not delivered: " << sent;
          return;
        }
      }
      if (!reply.keep_open || stopping_.load()) return;
    }
  }

  void Ended(uint64_t id) {
    {
      MutexLock lock(mutex_);
      auto node = live_.extract(id);
      // Under the lock, so that Stop never shuts down a descriptor that means something else by now.
      node.mapped().socket->Close();
      finished_.push_back(std::move(node.mapped()));
      ended_.NotifyAll();
    }
    wake_.Ring();
  }

  // Fixed after construction.
  const FrameServerOptions options_;
  const SessionFactory sessions_;
  const Clock& clock_;
  const HostPort address_;
  std::thread acceptor_;
  // Changed by Stop only, when the acceptor has ended.
  int listen_fd_;

  // Own synchronisation.
  WakeUp wake_;
  wire::ByteBudget budget_;
  std::atomic<uint64_t> refused_count_{0};  // a statistic: pairs with nothing

  // Written under mutex_, so that no connection is added behind the back of Stop; read anywhere.
  std::atomic<bool> stopping_{false};

  RefusedConnections refused_;  // of the acceptor thread

  // Order: stop_mutex_, then mutex_.
  Mutex stop_mutex_;
  mutable Mutex mutex_;
  CondVar ended_;
  uint64_t next_id_ MC_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Connection> live_ MC_GUARDED_BY(mutex_);
  std::vector<Connection> finished_ MC_GUARDED_BY(mutex_);
};

FrameServer::FrameServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FrameServer::~FrameServer() = default;

Result<std::unique_ptr<FrameServer>> FrameServer::Start(FrameServerOptions options,
                                                        SessionFactory sessions,
                                                        const Clock& clock) {
  ASSIGN_OR_RETURN(const wire::ListenSocket listener, wire::Listen(options.address));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(sessions), clock, listener);
  RETURN_IF_ERROR(impl->Begin());
  return std::unique_ptr<FrameServer>(new FrameServer(std::move(impl)));
}

const HostPort& FrameServer::address() const { return impl_->address(); }
size_t FrameServer::connections() const { return impl_->connections(); }
uint64_t FrameServer::refused() const { return impl_->refused(); }
void FrameServer::Stop() { impl_->Stop(); }

}  // namespace mooncake
