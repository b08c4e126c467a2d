// mooncake-admin: the process around command_line.
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "tools/admin/admin_config.h"
#include "tools/admin/command_line.h"
#include "transfer/base/clock.h"

namespace {

// A mapped file that shrinks while it is put.
void OnBusError(int) {
  constexpr char kMessage[] =
      "mooncake-admin: the file became shorter while it was read; nothing was stored\n";
  (void)!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(1);
}

// Nothing, if it is no terminal.
winsize SizeOf(int fd) {
  winsize size{};
  return isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mooncake;
  std::signal(SIGPIPE, SIG_IGN);  // a peer or a pager that goes away is an error code, not the end
  std::signal(SIGBUS, OnBusError);
  std::ios::sync_with_stdio(false);
  const winsize terminal = SizeOf(STDOUT_FILENO);
  const admin::Console console{
      .out = std::cout,
      .err = std::cerr,
      .in = std::cin,
      .can_ask = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
      .progress = isatty(STDERR_FILENO) == 1,
      .width = terminal.ws_col,
      .height = terminal.ws_row,
  };
  const Clock& clock = SystemClock();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(admin::RunLine(arguments, admin::ProcessEnvironment(), console,
                                         admin::RealConnector(clock), clock));
}
