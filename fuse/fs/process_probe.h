// What the flush rules need to know about the process that flushes. Port, because tests have no dying processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

namespace mooncake::fs {

// Thread-safe. Unknown (no such process, no right to look) is answered as the ordinary case.
class ProcessProbe {
 public:
  virtual ~ProcessProbe() = default;
  // The process of a thread; `tid` itself when unknown.
  virtual pid_t ProcessOf(pid_t tid) const = 0;
  // True for a thread whose process is being ended by a signal.
  virtual bool DiesOfSignal(pid_t tid) const = 0;
  // False once the process is gone or a zombie.
  virtual bool IsAlive(pid_t process) const = 0;
  // True if the process has a descriptor open on inode `ino` of a FUSE mount.
  virtual bool HoldsInode(pid_t process, uint64_t ino) const = 0;
};

// By /proc.
std::unique_ptr<ProcessProbe> MakeProcProbe();

}  // namespace mooncake::fs
