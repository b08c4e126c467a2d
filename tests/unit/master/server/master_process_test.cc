// The program: starts, says so, stops by a signal on any thread, and says why when it cannot start.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "master/api/remote_master.h"
#include "master/api/wire_socket.h"
#include "transfer/base/clock.h"
#include "transfer/base/units.h"

namespace mooncake {
namespace {

// A started mooncake-master; killed at the end if it still runs.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments) {
    std::array<int, 2> pipe_fds{};
    EXPECT_EQ(pipe2(pipe_fds.data(), O_CLOEXEC), 0);
    const std::string program = std::string(std::getenv("MC_BIN_DIR")) + "/mooncake-master";
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(pipe_fds[1], STDOUT_FILENO);
      dup2(pipe_fds[1], STDERR_FILENO);
      execv(program.c_str(), argv.data());
      _exit(127);
    }
    close(pipe_fds[1]);
    output_ = pipe_fds[0];
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(output_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }

  // Reads until the text appears; false at the end of the output.
  bool AwaitOutput(const std::string& part) {
    while (text_.find(part) == std::string::npos) {
      if (!ReadMore()) return false;
    }
    // The rest of that line too.
    while (text_.find('\n', text_.find(part)) == std::string::npos && ReadMore()) {
    }
    return true;
  }
  // Exit status; all output is in text() then.
  int Wait() {
    while (ReadMore()) {
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  const std::string& text() const { return text_; }
  // The word after `name=` in the output.
  std::string Field(const std::string& name) const {
    const size_t at = text_.find(name + "=");
    if (at == std::string::npos) return "";
    const size_t start = at + name.size() + 1;
    return text_.substr(start, text_.find_first_of(" \n", start) - start);
  }

 private:
  bool ReadMore() {
    std::array<char, 4096> bytes{};
    const ssize_t got = read(output_, bytes.data(), bytes.size());
    if (got > 0) text_.append(bytes.data(), static_cast<size_t>(got));
    return got > 0;
  }

  pid_t pid_ = -1;
  int output_ = -1;
  std::string text_;
};

std::unique_ptr<Process> Started(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"--rpc_address=127.0.0.1", "--rpc_port=0", "--metrics_port=0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  auto process = std::make_unique<Process>(arguments);
  EXPECT_TRUE(process->AwaitOutput("ready ")) << process->text();
  return process;
}

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(MasterProcess, ServesWhereItSaysAndStopsOnSigterm) {
  auto process = Started();
  const auto address = ParseHostPort(process->Field("rpc_address"));
  ASSERT_TRUE(address.ok()) << address.status();
  auto master = MakeRemoteMaster({.address = *address}, SystemClock());
  const auto status = master->GetStatus(SystemClock().Now() + Seconds(30));
  EXPECT_TRUE(status.ok()) << status.status();
  // `master` keeps an idle connection, which must not hold it up.
  kill(process->pid(), SIGTERM);
  EXPECT_EQ(process->Wait(), 0) << process->text();
}

TEST(MasterProcess, StopsWhicheverThreadGetsTheSignal) {
  size_t threads = 1;
  for (size_t i = 0; i < threads; ++i) {
    auto process = Started();
    std::vector<pid_t> ids;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(process->pid()) + "/task")) {
      ids.push_back(std::stoi(entry.path().filename().string()));
    }
    threads = ids.size();
    ASSERT_LT(i, threads);
    ASSERT_EQ(syscall(SYS_tgkill, process->pid(), ids[i], i % 2 == 0 ? SIGTERM : SIGINT), 0);
    EXPECT_EQ(process->Wait(), 0) << "thread " << i << "\n" << process->text();
  }
  EXPECT_GT(threads, 2u);
}

TEST(MasterProcess, NewTermAtEachStart) {
  auto first = Started();
  kill(first->pid(), SIGKILL);
  first->Wait();
  auto second = Started();
  EXPECT_GT(std::stoull(second->Field("term")), std::stoull(first->Field("term")));
}

TEST(MasterProcess, CannotStartOnABusyRpcPort) {
  const auto busy = wire::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(busy.ok()) << busy.status();
  Process process({"--rpc_address=127.0.0.1", "--rpc_port=" + std::to_string(busy->bound.port), "--metrics_port=0"});
  EXPECT_EQ(process.Wait(), 1);
  EXPECT_TRUE(Contains(process.text(), "cannot start") && Contains(process.text(), "--rpc_port") &&
              Contains(process.text(), "choose another port"))
      << process.text();
  close(busy->fd);
}

TEST(MasterProcess, CannotStartOnABusyMetricsPort) {
  const auto busy = wire::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(busy.ok()) << busy.status();
  Process process({"--rpc_address=127.0.0.1", "--rpc_port=0", "--metrics_host=127.0.0.1",
                   "--metrics_port=" + std::to_string(busy->bound.port)});
  EXPECT_EQ(process.Wait(), 1);
  EXPECT_TRUE(Contains(process.text(), "--metrics_port=0 turns it off")) << process.text();
  EXPECT_FALSE(Contains(process.text(), "ready rpc_address")) << process.text();
  close(busy->fd);
}

TEST(MasterProcess, WrongOptionsExitWithTwo) {
  for (const char* argument : {"--no_such_option=1", "--client_ttl=soon", "--eviction_high_watermark_ratio=7",
                               "--put_start_release_timeout_sec=1s", "--allocation_strategy=best", "positional"}) {
    Process process({argument});
    EXPECT_EQ(process.Wait(), 2) << argument << "\n" << process.text();
    EXPECT_TRUE(Contains(process.text(), "mooncake-master: ")) << process.text();
  }
}

TEST(MasterProcess, HelpAndVersionExitWithZero) {
  Process help({"--help"});
  EXPECT_EQ(help.Wait(), 0);
  EXPECT_TRUE(Contains(help.text(), "--rpc_port=PORT  (default: 50051)")) << help.text();
  Process version({"--version"});
  EXPECT_EQ(version.Wait(), 0);
  EXPECT_EQ(version.text().rfind("mooncake-master ", 0), 0u) << version.text();
}

TEST(MasterProcess, ReadsAConfigurationFile) {
  const std::string path = ::testing::TempDir() + "master_process_test_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(path) << "client_live_ttl_sec: 33\nrpc_thread_num: 4\n";
  auto process = Started({"--config_path=" + path});
  const auto address = ParseHostPort(process->Field("rpc_address"));
  ASSERT_TRUE(address.ok()) << address.status();
  const auto ping = MakeRemoteMaster({.address = *address}, SystemClock())
                        ->Ping(ClientId{1, 2}, "test", SystemClock().Now() + Seconds(30));
  ASSERT_TRUE(ping.ok()) << ping.status();
  EXPECT_EQ(ping->client_ttl, Seconds(33));
  EXPECT_TRUE(Contains(process->text(), "rpc_thread_num")) << process->text();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace mooncake
