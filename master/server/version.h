// The version of this build, "0.1.0".
#pragma once

namespace mooncake {

const char* Version();

}  // namespace mooncake
