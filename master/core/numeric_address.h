// Finds the IP address in what people and programs write for an endpoint.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mooncake::core {

// The address of "1.2.3.4", "1.2.3.4:5", "::1", "[::1]", "[fe80::1%eth0]:5" and the like, without brackets, port and scope (the
// scope is a name on the machine that wrote it). Nothing for names and for what is no address.
std::optional<std::string> NumericAddress(std::string_view text);

}  // namespace mooncake::core
