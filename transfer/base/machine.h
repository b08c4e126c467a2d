// What identifies this machine, and random numbers that identify everything else.
#pragma once

#include <cstdint>
#include <string>

namespace mooncake {

// The same for all processes of this machine while it is up, containers included, and different from that of any other
// machine: the boot id of the kernel. (A machine id in a file is copied with container images.) The host name if there is none.
std::string MachineId();

// 64 random bits of the operating system: for ids and seeds. Blocks only while the system starts.
uint64_t RandomWord();

// A Uuid of any kind.
template <typename Id>
Id RandomId() {
  return {RandomWord(), RandomWord()};
}

}  // namespace mooncake
