// Names and addresses of this machine, as others have to use them.
#pragma once

#include <string>
#include <string_view>

#include "transfer/base/result.h"

namespace mooncake {

// True for "0.0.0.0", "::" and "": listening on every interface, so that the address itself tells nobody where to go.
bool IsWildcardHost(std::string_view host);

// The numeric address of the interface through which packets to `peer` (HOST:PORT) leave. Sends nothing.
// kTransferFail: the name is not known or there is no route; the message says which.
Result<std::string> LocalAddressTowards(const std::string& peer);

// kInternal if the system has none.
Result<std::string> HostName();

}  // namespace mooncake
