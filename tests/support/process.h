// Real programs under test: start, watch their output, hurt, wait, and leave nothing behind.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transfer/base/result.h"
#include "transfer/base/time.h"

namespace mooncake::testing {

struct ProcessOptions {
  std::vector<std::string> command;                     // a path, then arguments
  std::map<std::string, std::string> environment = {};  // on top of this process's
  std::string input = {};                               // on stdin
  std::string net_namespace = {};                       // a name of NetNamespace; "" = ours
  std::string folder = {};                              // to run in; "" = ours
};

// How a process ended.
struct Ended {
  int exit_status = -1;  // if it exited
  int signal = 0;        // that killed it, else 0
  bool ok() const { return signal == 0 && exit_status == 0; }
  std::string ToString() const;  // "exit status 1", "signal 9"
};

// Dies with the thread that started it, and with this object, by SIGKILL. stdout and stderr go to files, so no amount of
// output can block it. Thread-compatible; moves.
class Process {
 public:
  // Aborts the test program when it cannot be started: a test has no use for that.
  explicit Process(ProcessOptions options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  bool Running();
  void Signal(int signal);
  // One thread only.
  void SignalThread(pid_t thread, int signal);
  std::vector<pid_t> Threads() const;

  // SIGKILL and gone when it returns.
  void Kill();
  void Stop();      // SIGSTOP, and stopped when it returns
  void Continue();  // SIGCONT
  // Waits for the end. nullopt: it still ran after `limit`.
  std::optional<Ended> Wait(Duration limit = Seconds(20));
  // SIGTERM, then Wait.
  std::optional<Ended> Terminate(Duration limit = Seconds(20));

  std::string Output() const;
  std::string Errors() const;
  // The first line of stderr or stdout that contains `text`, as soon as it is there. kRpcTimeout after `limit`; kInternal: the
  // process ended without it. Both with what it said last.
  Result<std::string> WaitForLine(const std::string& text, Duration limit = Seconds(20));

  // Bytes of memory that it has for itself now.
  uint64_t ResidentBytes() const;

 private:
  bool Reap(bool block);
  void Forget();

  pid_t pid_ = -1;
  std::optional<Ended> ended_;
  std::string name_;
  int out_ = -1;  // files without a name
  int err_ = -1;
};

// Runs to the end. `ended` is a kill by SIGKILL if it took longer than `limit`.
struct RunResult {
  Ended ended;
  std::string out;
  std::string err;
};
RunResult Run(ProcessOptions options, Duration limit = Seconds(60));

// The value of NAME in a log line "… NAME=VALUE …"; "" if it is not there.
std::string Field(const std::string& line, const std::string& name);

// Path of a program under test; of a file in the source tree.
std::string ProgramPath(const std::string& name);
std::string SourcePath(const std::string& path);

// A folder that goes with this object, whatever is in it, mounts included.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace mooncake::testing
