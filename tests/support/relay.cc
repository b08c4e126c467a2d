#include "tests/support/relay.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "transfer/base/check.h"
#include "transfer/base/clock.h"
#include "transfer/transport/tcp/socket.h"

namespace mooncake::testing {

struct Relay::Pipe {
  UniqueFd client;
  UniqueFd server;
  uint64_t cut_to_client = 0;
  uint64_t cut_to_server = 0;
  std::atomic<bool> frozen{false};

  void Close() {
    (void)::shutdown(client.get(), SHUT_RDWR);
    (void)::shutdown(server.get(), SHUT_RDWR);
  }

  // One direction; ends with both.
  void Forward(int from, int to, uint64_t cut_after) {
    std::array<std::byte, 16384> buffer;
    uint64_t forwarded = 0;
    while (true) {
      tcp::WaitForever(from, POLLIN);
      size_t want = buffer.size();
      if (cut_after != 0) want = std::min<uint64_t>(want, cut_after - forwarded);
      const ssize_t got = ::recv(from, buffer.data(), want, MSG_DONTWAIT);
      if (got <= 0) break;
      if (frozen) continue;  // swallowed
      tcp::IoVector io;
      io.Add(ByteSpan(buffer).first(static_cast<size_t>(got)));
      if (!tcp::SendAll(to, io, SystemClock(), SystemClock().Now() + Seconds(30)).ok()) break;
      forwarded += static_cast<uint64_t>(got);
      if (cut_after != 0 && forwarded >= cut_after) break;
    }
    Close();
  }
};

Relay::Relay(const std::string& target, const std::string& listen)
    : target_(target), wake_(::eventfd(0, EFD_CLOEXEC)) {
  auto listener = tcp::ListenTcp(listen, {});
  MC_CHECK(listener.ok()) << listener.message();
  listener_ = std::move(listener).value();
  address_ =
      listen.substr(0, listen.rfind(':') + 1) + std::to_string(tcp::BoundPort(listener_.get()));
  acceptor_ = std::thread([this] { AcceptLoop(); });
}

Relay::~Relay() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof(one));
  acceptor_.join();
  CloseStreams();
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    threads = std::move(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

void Relay::AcceptLoop() {
  while (true) {
    std::array<pollfd, 2> items{pollfd{wake_.get(), POLLIN, 0}, pollfd{listener_.get(), POLLIN, 0}};
    (void)::poll(items.data(), items.size(), -1);
    if (items[0].revents != 0) return;
    auto pipe = std::make_shared<Pipe>();
    pipe->client = tcp::Accept(listener_.get(), {});
    if (!pipe->client.valid()) continue;
    ++accepted_;
    auto server = tcp::ConnectTcp(target_, {}, SystemClock(), SystemClock().Now() + Seconds(10));
    if (!server.ok()) continue;
    pipe->server = std::move(server).value();
    pipe->frozen = freeze_new_.load();
    if (cuts_left_ > 0) {
      --cuts_left_;
      pipe->cut_to_client = cut_to_client_;
      pipe->cut_to_server = cut_to_server_;
    }
    MutexLock lock(mutex_);
    pipes_.push_back(pipe);
    threads_.emplace_back(
        [pipe] { pipe->Forward(pipe->client.get(), pipe->server.get(), pipe->cut_to_server); });
    threads_.emplace_back(
        [pipe] { pipe->Forward(pipe->server.get(), pipe->client.get(), pipe->cut_to_client); });
  }
}

void Relay::FreezeStreams() {
  MutexLock lock(mutex_);
  for (const auto& pipe : pipes_) pipe->frozen = true;
}

void Relay::CutNext(int streams, uint64_t after_bytes_to_client, uint64_t after_bytes_to_server) {
  cut_to_client_ = after_bytes_to_client;
  cut_to_server_ = after_bytes_to_server;
  cuts_left_ = streams;
}

void Relay::CloseStreams() {
  MutexLock lock(mutex_);
  for (const auto& pipe : pipes_) pipe->Close();
}

}  // namespace mooncake::testing
