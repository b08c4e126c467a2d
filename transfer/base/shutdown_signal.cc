#include "transfer/base/shutdown_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "transfer/base/check.h"

namespace mooncake {
namespace {

constexpr std::array<int, 3> kSignals = {SIGTERM, SIGINT, SIGHUP};

// A handler has no other way to find its object. Written before the handlers are installed.
std::atomic<int> event_fd{-1};
// The first signal; read after the event that it causes.
std::atomic<int> first_signal{0};

void OnSignal(int signal) {
  const int saved = errno;
  int none = 0;
  // Somebody is impatient: shutting down hangs, or was too slow for them.
  if (!first_signal.compare_exchange_strong(none, signal)) _exit(128 + signal);
  const uint64_t one = 1;
  (void)!write(event_fd.load(), &one, sizeof one);
  errno = saved;
}

void Install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  MC_CHECK(sigaction(signal, &action, nullptr) == 0) << "signal " << signal << " errno " << errno;
}

}  // namespace

ShutdownSignal::ShutdownSignal() {
  MC_CHECK(event_fd.load() == -1) << "two at a time";
  first_signal.store(0);
  event_fd.store(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  MC_CHECK(event_fd.load() >= 0) << "eventfd: errno " << errno;
  for (const int signal : kSignals) Install(signal, OnSignal);
  Install(SIGPIPE, SIG_IGN);
}

ShutdownSignal::~ShutdownSignal() {
  for (const int signal : kSignals) Install(signal, SIG_DFL);
  close(event_fd.exchange(-1));
}

int ShutdownSignal::WaitFor(Duration timeout) {
  pollfd entry{.fd = event_fd.load(), .events = POLLIN, .revents = 0};
  const auto ms = static_cast<int>(std::clamp<int64_t>(ToMillis(timeout), 0, 1'000'000'000));
  (void)poll(&entry, 1, ms);
  return received();
}

int ShutdownSignal::Wait() {
  pollfd entry{.fd = event_fd.load(), .events = POLLIN, .revents = 0};
  while (poll(&entry, 1, -1) != 1) {
  }
  return received();
}

int ShutdownSignal::received() const { return first_signal.load(); }

void ShutdownSignal::Cancel() {
  const uint64_t one = 1;
  (void)!write(event_fd.load(), &one, sizeof one);
}

}  // namespace mooncake
