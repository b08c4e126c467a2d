// How commands tell what went wrong: one line on stderr, and with --json the same as data on stdout.
#pragma once

#include <string_view>

#include "tools/admin/exit_status.h"
#include "tools/admin/json_view.h"
#include "tools/admin/session.h"

namespace mooncake::admin {

// "mooncake-admin: WHAT: message; cure".
void Complain(Session& session, std::string_view what, const Status& status);

// Of a command as a whole; with --json prints {"error": …}.
ExitStatus Fail(Session& session, std::string_view what, const Status& status);

// One line of JSON on stdout.
void Print(Session& session, const Json& json);

// Of one key among several: no error of a key is a usage error, since others may have been done.
ExitStatus KeyExitStatus(ErrorCode code);

// Flushes stdout; what could not be written makes a success a failure. Silent when the reader went away.
ExitStatus FinishOutput(Session& session, ExitStatus status);

}  // namespace mooncake::admin
