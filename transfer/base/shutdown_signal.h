// Waits for SIGTERM, SIGINT or SIGHUP, whichever thread of the process they are delivered to.
#pragma once

#include "transfer/base/time.h"

namespace mooncake {

// A handler that writes to an event descriptor, rather than blocked signals and sigwait: a signal sent to one thread in
// particular (tgkill) would stay pending for that thread alone and never reach the one that waits (F104).
//
// At most one object at a time; the process's handlers are restored at the end.
class ShutdownSignal {
 public:
  // Installs the handlers, and ignores SIGPIPE. Call before any thread starts.
  ShutdownSignal();
  ~ShutdownSignal();
  ShutdownSignal(const ShutdownSignal&) = delete;
  ShutdownSignal& operator=(const ShutdownSignal&) = delete;

  // The number of the signal that came, or 0 when `timeout` passed or somebody called Cancel. A second signal ends the
  // process at once.
  int WaitFor(Duration timeout);
  // The same without an end: 0 only after Cancel.
  int Wait();
  // The number of the signal that came, 0 when none did. From any thread.
  int received() const;
  // Makes every WaitFor and Wait return, now and later. From any thread.
  void Cancel();
};

}  // namespace mooncake
