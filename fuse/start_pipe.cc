#include "fuse/start_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "transfer/base/clock.h"
#include "transfer/base/units.h"

namespace mooncake::fs {
namespace {

constexpr char kReady = 'R';
constexpr char kFailed = 'F';

}  // namespace

Result<StartPipe> StartPipe::Fork(bool foreground) {
  if (foreground) return StartPipe(Side::kChild, -1, 0);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Status(ErrorCode::kInternal, std::string("pipe: ") + std::strerror(errno));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return Status(ErrorCode::kInternal, std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    setsid();
    return StartPipe(Side::kChild, ends[1], 0);
  }
  close(ends[1]);
  return StartPipe(Side::kParent, ends[0], child);
}

StartPipe::StartPipe(StartPipe&& other) noexcept
    : side_(other.side_), fd_(std::exchange(other.fd_, -1)), child_(other.child_) {}

StartPipe::~StartPipe() {
  if (fd_ >= 0) close(fd_);
}

Result<std::string> StartPipe::Wait(Duration bound) {
  const TimePoint deadline = SystemClock().Now() + bound;
  std::string message;
  for (;;) {
    const int64_t left_ms = ToMillis(deadline - SystemClock().Now());
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    const int ready = left_ms > 0 ? poll(&waiting, 1, static_cast<int>(left_ms)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
      return Status(ErrorCode::kRpcTimeout,
                    "no mount within " + FormatDuration(bound) + "; see the log");
    }
    char buffer[1024];
    const ssize_t n = read(fd_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    message.append(buffer, static_cast<size_t>(n));
  }
  if (message.empty()) {
    int status = 0;
    waitpid(child_, &status, 0);
    return Status(ErrorCode::kInternal,
                  WIFSIGNALED(status)
                      ? "the daemon died of signal " + std::to_string(WTERMSIG(status))
                      : "the daemon ended without a word; see the log");
  }
  const std::string text = message.substr(1);
  if (message[0] == kReady) return text;
  waitpid(child_, nullptr, 0);
  return Status(ErrorCode::kInternal, text);
}

void StartPipe::Send(char kind, const std::string& text) {
  const std::string message = kind + text;
  const ssize_t sent = write(fd_, message.data(), message.size());
  (void)sent;  // a parent that is gone does not need it
  close(std::exchange(fd_, -1));
}

void StartPipe::ReportReady(const std::string& text) {
  if (fd_ < 0) {
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
    return;
  }
  // Whoever reads our output must not wait for us: "x=$(mount.mooncake …)" ends now.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null >= 0) dup2(null, fd);
  }
  if (null > STDERR_FILENO) close(null);
  if (chdir("/") != 0) return Send(kReady, text);
  Send(kReady, text);
}

void StartPipe::ReportFailure(const std::string& line) {
  if (fd_ >= 0) Send(kFailed, line);
}

}  // namespace mooncake::fs
