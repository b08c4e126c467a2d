#include "transfer/base/machine.h"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "transfer/base/check.h"

namespace mooncake {

std::string MachineId() {
  std::string id;
  if (std::ifstream file("/proc/sys/kernel/random/boot_id"); std::getline(file, id) && !id.empty())
    return id;
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0') return name.data();
  return {};
}

uint64_t RandomWord() {
  uint64_t word = 0;
  ssize_t got = 0;
  do {
    got = getrandom(&word, sizeof(word), 0);
  } while (got < 0);              // interrupted by a signal
  MC_CHECK(got == sizeof(word));  // promised for up to 256 bytes
  return word;
}

}  // namespace mooncake
