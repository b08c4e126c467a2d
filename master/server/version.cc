#include "master/server/version.h"

namespace mooncake {

const char* Version() { return MC_VERSION; }

}  // namespace mooncake
