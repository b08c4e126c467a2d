// Exit statuses of mooncake-admin, and what to do about an error.
#pragma once

#include <string>
#include <string_view>

#include "transfer/base/status.h"

namespace mooncake::admin {

enum class ExitStatus : int {
  kOk = 0,
  kFailed = 1,       // the command failed, in whole or in part; a key that is not there counts
  kUsage = 2,        // nothing was tried
  kUnreachable = 3,  // no master answered, or not in time: the outcome of a change is then unknown
};

ExitStatus ExitStatusOf(ErrorCode code);
// The worse of two: unreachable, usage, failed, ok.
ExitStatus Worse(ExitStatus a, ExitStatus b);

// What an operator can do, as a clause; "" when the message alone has to do.
std::string_view CureOf(ErrorCode code);

// "message; cure" on one line.
std::string Explain(const Status& status);

}  // namespace mooncake::admin
