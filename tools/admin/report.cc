#include "tools/admin/report.h"

#include <cerrno>
#include <cstring>
#include <ostream>
#include <string>

namespace mooncake::admin {

void Complain(Session& session, std::string_view what, const Status& status) {
  session.console().out.flush();  // so that the two streams interleave as they were written
  session.console().err << "mooncake-admin: " << what << (what.empty() ? "" : ": ")
                        << Explain(status) << std::endl;
}

ExitStatus Fail(Session& session, std::string_view what, const Status& status) {
  if (session.config().json) {
    Json json;
    json["error"] = ToJson(status);
    Print(session, json);
  }
  Complain(session, what, status);
  return ExitStatusOf(status.code());
}

void Print(Session& session, const Json& json) { session.console().out << Dump(json) << "\n"; }

ExitStatus KeyExitStatus(ErrorCode code) {
  const ExitStatus status = ExitStatusOf(code);
  return status == ExitStatus::kUsage ? ExitStatus::kFailed : status;
}

ExitStatus FinishOutput(Session& session, ExitStatus status) {
  errno = 0;
  session.console().out.flush();
  if (session.console().out.good()) return status;
  if (errno != 0 && errno != EPIPE) {
    session.console().err << "mooncake-admin: stdout: " << std::strerror(errno) << std::endl;
  }
  return Worse(status, ExitStatus::kFailed);
}

}  // namespace mooncake::admin
