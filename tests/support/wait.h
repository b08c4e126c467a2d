// Waiting for another thread in a test: for a condition, never for a time.
#pragma once

#include <functional>

#include "transfer/base/time.h"

namespace mooncake::testing {

// True as soon as `condition` holds; false if it does not within `limit`, which is there to end a broken test.
bool Eventually(const std::function<bool()>& condition, Duration limit = Seconds(20));

}  // namespace mooncake::testing
