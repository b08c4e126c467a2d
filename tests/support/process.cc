#include "tests/support/process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "tests/support/wait.h"
#include "transfer/base/check.h"
#include "transfer/base/clock.h"

extern char** environ;

namespace mooncake::testing {
namespace {

int AnonymousFile(const std::string& name) {
  const int fd = ::memfd_create(name.c_str(), MFD_CLOEXEC);
  MC_CHECK(fd >= 0) << "memfd: " << std::strerror(errno);
  return fd;
}

std::string Contents(int fd) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::pread(fd, buffer, sizeof(buffer), static_cast<off_t>(text.size()));
    if (n <= 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

// All that the child needs, made before the fork: afterwards only system calls are safe.
struct Plan {
  std::vector<char*> argv;
  std::vector<std::string> environment;
  std::vector<char*> envp;
  int in = -1;
  int net = -1;

  explicit Plan(ProcessOptions& options) {
    for (std::string& word : options.command) argv.push_back(word.data());
    argv.push_back(nullptr);
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      if (!options.environment.contains(text.substr(0, text.find('='))))
        environment.push_back(text);
    }
    for (const auto& [name, value] : options.environment) environment.push_back(name + "=" + value);
    for (std::string& entry : environment) envp.push_back(entry.data());
    envp.push_back(nullptr);
    in = AnonymousFile("stdin");
    const ssize_t n = ::write(in, options.input.data(), options.input.size());
    MC_CHECK(n == static_cast<ssize_t>(options.input.size())) << "stdin of " << options.command[0];
    ::lseek(in, 0, SEEK_SET);
    if (!options.net_namespace.empty()) {
      const std::string path = "/run/netns/" + options.net_namespace;
      net = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      MC_CHECK(net >= 0) << path << ": " << std::strerror(errno);
    }
  }
  ~Plan() {
    ::close(in);
    if (net >= 0) ::close(net);
  }
};

[[noreturn]] void Become(const Plan& plan, const char* folder, int out, int err, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);
  for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const bool placed = (plan.net < 0 || ::setns(plan.net, CLONE_NEWNET) == 0) &&
                      (*folder == '\0' || ::chdir(folder) == 0) && ::dup2(plan.in, 0) == 0 &&
                      ::dup2(out, 1) == 1 && ::dup2(err, 2) == 2;
  if (placed) ::execve(plan.argv[0], plan.argv.data(), plan.envp.data());
  constexpr char kMessage[] = "the program could not be started\n";
  (void)!::write(err, kMessage, sizeof(kMessage) - 1);
  ::_exit(127);
}

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  MC_CHECK(value != nullptr) << name
                             << " is not set: run the test with ctest, or see tests/README.md";
  return value;
}

}  // namespace

std::string Ended::ToString() const {
  return signal != 0 ? "signal " + std::to_string(signal)
                     : "exit status " + std::to_string(exit_status);
}

Process::Process(ProcessOptions options) : name_(options.command.at(0)) {
  MC_CHECK(::access(name_.c_str(), X_OK) == 0) << name_ << ": " << std::strerror(errno);
  const Plan plan(options);
  out_ = AnonymousFile("stdout");
  err_ = AnonymousFile("stderr");
  // Appending, so that a child of the child and itself do not write over each other.
  ::fcntl(out_, F_SETFL, O_APPEND);
  ::fcntl(err_, F_SETFL, O_APPEND);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  MC_CHECK(pid_ >= 0) << "fork: " << std::strerror(errno);
  if (pid_ == 0) Become(plan, options.folder.c_str(), out_, err_, parent);
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      ended_(other.ended_),
      name_(std::move(other.name_)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    Forget();
    pid_ = std::exchange(other.pid_, -1);
    ended_ = other.ended_;
    name_ = std::move(other.name_);
    out_ = std::exchange(other.out_, -1);
    err_ = std::exchange(other.err_, -1);
  }
  return *this;
}

Process::~Process() { Forget(); }

void Process::Forget() {
  if (pid_ > 0) Kill();
  if (out_ >= 0) ::close(out_);
  if (err_ >= 0) ::close(err_);
  pid_ = out_ = err_ = -1;
}

bool Process::Reap(bool block) {
  if (ended_) return true;
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(pid_, &status, block ? 0 : WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got != pid_) return false;
  ended_ = WIFEXITED(status) ? Ended{.exit_status = WEXITSTATUS(status)}
                             : Ended{.signal = WTERMSIG(status)};
  return true;
}

bool Process::Running() { return !Reap(false); }

void Process::Signal(int signal) {
  if (!Reap(false)) ::kill(pid_, signal);
}

void Process::SignalThread(pid_t thread, int signal) {
  if (!Reap(false)) ::syscall(SYS_tgkill, pid_, thread, signal);
}

std::vector<pid_t> Process::Threads() const {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task", error)) {
    threads.push_back(std::stoi(entry.path().filename()));
  }
  return threads;
}

void Process::Kill() {
  Signal(SIGKILL);
  Reap(true);
}

void Process::Stop() {
  if (Reap(false)) return;
  ::kill(pid_, SIGSTOP);
  siginfo_t info;
  (void)::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT);
}

void Process::Continue() { Signal(SIGCONT); }

std::optional<Ended> Process::Wait(Duration limit) {
  if (!Eventually([this] { return Reap(false); }, limit)) return std::nullopt;
  return ended_;
}

std::optional<Ended> Process::Terminate(Duration limit) {
  Signal(SIGTERM);
  return Wait(limit);
}

std::string Process::Output() const { return Contents(out_); }
std::string Process::Errors() const { return Contents(err_); }

Result<std::string> Process::WaitForLine(const std::string& text, Duration limit) {
  std::string found;
  const auto look = [&] {
    for (const int fd : {err_, out_}) {
      std::istringstream lines(Contents(fd));
      for (std::string line; std::getline(lines, line) && !lines.eof();) {
        if (line.find(text) == std::string::npos) continue;
        found = line;
        return true;
      }
    }
    return false;
  };
  bool ended = false;
  Eventually(
      [&] {
        ended = Reap(false);
        return look() || ended;
      },
      limit);
  if (!found.empty()) return found;
  return Status(ended ? ErrorCode::kInternal : ErrorCode::kRpcTimeout,
                name_ + ": no line with '" + text + "'" +
                    (ended ? ", and it ended: " + ended_->ToString() : "") +
                    "; stderr: " + Errors() + "; stdout: " + Output());
}

uint64_t Process::ResidentBytes() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  uint64_t shared = 0;
  file >> total >> resident >> shared;
  return (resident - shared) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

RunResult Run(ProcessOptions options, Duration limit) {
  Process process(std::move(options));
  const auto ended = process.Wait(limit);
  if (!ended) process.Kill();
  return {.ended = ended.value_or(Ended{.signal = SIGKILL}),
          .out = process.Output(),
          .err = process.Errors()};
}

std::string Field(const std::string& line, const std::string& name) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.starts_with(name + "=")) return word.substr(name.size() + 1);
  }
  return "";
}

std::string ProgramPath(const std::string& name) { return Environment("MC_BIN_DIR") + "/" + name; }
std::string SourcePath(const std::string& path) {
  return Environment("MC_SOURCE_DIR") + "/" + path;
}

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "mc-test-XXXXXX").string();
  MC_CHECK(::mkdtemp(name.data()) != nullptr) << name << ": " << std::strerror(errno);
  path_ = name;
}

TempFolder::~TempFolder() {
  // Deepest first: a mount that was left must not be walked into.
  std::ifstream table("/proc/self/mounts");
  std::vector<std::string> mounts;
  for (std::string device, point, rest; table >> device >> point && std::getline(table, rest);) {
    if (point.starts_with(path_ + "/") || point == path_) mounts.push_back(point);
  }
  for (auto point = mounts.rbegin(); point != mounts.rend(); ++point)
    ::umount2(point->c_str(), MNT_DETACH);
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace mooncake::testing
