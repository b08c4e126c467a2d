#include "tools/admin/caution.h"

#include <istream>
#include <ostream>

#include "tools/admin/json_view.h"
#include "tools/admin/report.h"

namespace mooncake::admin {

void AddCaution(CLI::App* command, Caution& caution) {
  command->add_flag("--dry-run", caution.dry_run, "show what would happen, change nothing");
  command->add_flag("-y,--yes", caution.yes, "do not ask");
}

std::optional<ExitStatus> CheckCanAsk(Session& session, const char* command,
                                      const Caution& caution) {
  if (caution.yes || caution.dry_run || session.console().can_ask) return std::nullopt;
  return Fail(session, command,
              Status(ErrorCode::kInvalidParams,
                     "this is asked for before it is done, and there is no terminal to ask on: "
                     "add --yes, or --dry-run to look only"));
}

bool Confirmed(Session& session, const std::string& question) {
  session.console().out.flush();
  session.console().err << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(session.console().in, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  session.console().err << "mooncake-admin: nothing was changed\n" << std::flush;
  return false;
}

std::optional<ExitStatus> AskBefore(Session& session, const char* command, const Caution& caution,
                                    const std::string& what) {
  if (caution.dry_run) return ShowOnly(session, what);
  if (const auto stop = CheckCanAsk(session, command, caution)) return stop;
  if (caution.yes || Confirmed(session, what + ". Go on?")) return std::nullopt;
  return ExitStatus::kFailed;
}

ExitStatus ShowOnly(Session& session, const std::string& what) {
  if (session.config().json) {
    Json json;
    json["dry_run"] = true;
    SetText(json, "would", what);
    Print(session, json);
  } else {
    session.console().out << what << "; nothing was changed\n";
  }
  return ExitStatus::kOk;
}

}  // namespace mooncake::admin
