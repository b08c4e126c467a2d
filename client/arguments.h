// Checks of what callers pass in, before anything is sent: one place, so that every call refuses the same things in the same
// words.
#pragma once

#include <cstdint>
#include <string_view>

#include "client/store_client.h"
#include "transfer/base/status.h"

namespace mooncake::internal {

// kInvalidParams naming the option, its value and what is allowed.
Status CheckClientOptions(const ClientOptions& options);
// kInvalidKey: empty or longer than kMaxKeyBytes.
Status CheckKey(std::string_view key);
// kInvalidParams: negative or longer than a day. 0 is allowed: the client's own.
Status CheckTimeout(Duration timeout);
Status CheckPut(uint64_t size, const PutOptions& options);
Status CheckList(const ListArgs& args);
Status CheckPattern(std::string_view pattern);

}  // namespace mooncake::internal
