// Base64 with the standard alphabet and padding, RFC 4648 section 4.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mooncake {

std::string EncodeBase64(std::string_view bytes);

// Exactly what EncodeBase64 gives: no white space, padded, the unused bits zero. nullopt for anything else.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace mooncake
