// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transfer/base/time.h"

namespace mooncake::admin {

// "1,234,567".
std::string FormatCount(uint64_t count);
// "41.7%"; "-" of nothing. Never shows 100.0% or 0.0% unless it is exactly that.
std::string FormatShare(uint64_t part, uint64_t whole);
// "2026-03-01 17:04:05" (UTC) of milliseconds since 1970; "-" for 0 and before.
std::string FormatTime(int64_t ms);
// "1 object", "2 objects", "1,000 objects".
std::string Plural(uint64_t count, std::string_view singular);
// Two units at most: "3d4h", "1h2m", "5m1s", "12s", "250ms".
std::string FormatAge(Duration age);

}  // namespace mooncake::admin
