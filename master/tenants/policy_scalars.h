// The two words of a policy in YAML: a quota such as 10GB, and a tenant's name, whatever bytes it has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transfer/base/result.h"

namespace mooncake {

// "10GB": a positive whole number and B, KB, MB, GB or TB, powers of 1024; spaces may stand between. kInvalidParams: anything else;
// the message shows the text and says what to write.
Result<uint64_t> ParseQuota(std::string_view text);

// The largest unit that divides `bytes`: "1536MB" for 1.5 GiB.
std::string FormatQuota(uint64_t bytes);

// Plain where no reader could take the word for something else, else in double quotes; what YAML cannot say as text goes as !!binary.
std::string YamlOfName(std::string_view name);

// Inside quotes, shortened: for messages.
std::string Shown(std::string_view bytes);

}  // namespace mooncake
