// Keys are any bytes; people type and read text. What is printed can be typed again with --escaped.
#pragma once

#include <string>
#include <string_view>

#include "transfer/base/result.h"

namespace mooncake::admin {

// The reverse of EscapeForDisplay: \xNN and \\. kInvalidParams for any other use of the backslash.
Result<std::string> UnescapeKey(std::string_view text);

bool IsUtf8(std::string_view bytes);

// 'key' for messages: escaped, in quotes.
std::string Quoted(std::string_view key);

}  // namespace mooncake::admin
