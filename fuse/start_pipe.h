// Going to the background with the outcome known: the parent waits until the child serves or gives its reason.
#pragma once

#include <string>

#include "transfer/base/result.h"
#include "transfer/base/time.h"

namespace mooncake::fs {

class StartPipe {
 public:
  enum class Side { kParent, kChild };

  // Forks. The child leads a session of its own. In the foreground nothing is forked and the only side is kChild.
  static Result<StartPipe> Fork(bool foreground);
  StartPipe(StartPipe&& other) noexcept;
  ~StartPipe();

  Side side() const { return side_; }

  // Parent: waits for the child's report. OK with its text, or the error. A child that says nothing within `bound` is
  // killed.
  Result<std::string> Wait(Duration bound);

  // Child: once. Lets the parent go, and lets go of the terminal. In the foreground prints `text`, and an error is left
  // to the caller.
  void ReportReady(const std::string& text);
  void ReportFailure(const std::string& line);

 private:
  StartPipe(Side side, int fd, int child) : side_(side), fd_(fd), child_(child) {}
  void Send(char kind, const std::string& text);

  Side side_;
  int fd_ = -1;  // -1: foreground, or done
  int child_ = 0;
};

}  // namespace mooncake::fs
