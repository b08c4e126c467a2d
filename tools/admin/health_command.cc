// health: one line and an exit status for probes and scripts.
#include <optional>
#include <ostream>

#include "tools/admin/commands.h"
#include "tools/admin/human.h"
#include "tools/admin/json_view.h"
#include "tools/admin/report.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

struct SegmentCounts {
  uint64_t usable = 0;
  uint64_t waiting = 0;  // known from before a restart, their nodes have not come back
  uint64_t quarantined = 0;
  uint64_t leaving = 0;
};

SegmentCounts Count(const std::vector<SegmentInfo>& segments) {
  SegmentCounts counts;
  for (const SegmentInfo& segment : segments) {
    if (segment.status == SegmentStatus::kUndefined) {
      ++counts.waiting;
    } else if (segment.status != SegmentStatus::kOk) {
      ++counts.leaving;
    } else if (segment.quarantined) {
      ++counts.quarantined;
    } else {
      ++counts.usable;
    }
  }
  return counts;
}

// Reasons not to be content; none: healthy.
std::vector<std::string> Reasons(const SegmentCounts& segments,
                                 const std::optional<DurabilityStatus>& durability) {
  std::vector<std::string> reasons;
  if (segments.waiting > 0)
    reasons.push_back(Plural(segments.waiting, "segment") +
                      " not mounted yet: start the mooncake-storenode that lends it");
  if (segments.quarantined > 0)
    reasons.push_back(Plural(segments.quarantined, "segment") +
                      " in quarantine: clients had trouble with the node");
  if (segments.usable == 0)
    reasons.push_back("no segment takes anything new: start a mooncake-storenode");
  if (!durability) return reasons;
  if (!durability->log_trouble.empty())
    reasons.push_back("the log is not written, " + Plural(durability->log_waiting, "record") +
                      " waiting: " + EscapeForDisplay(durability->log_trouble));
  if (!durability->snapshot_trouble.empty())
    reasons.push_back("the last snapshot failed: " +
                      EscapeForDisplay(durability->snapshot_trouble));
  return reasons;
}

void PrintJson(Session& session, const ClusterStatus& status, const SegmentCounts& segments,
               const std::optional<DurabilityStatus>& durability,
               const std::vector<std::string>& reasons) {
  Json json;
  json["healthy"] = reasons.empty();
  json["reasons"] = reasons;
  json["master"] = session.config().master.ToString();
  json["term"] = status.term.value;
  json["uptime_ms"] = ToMillis(status.uptime);
  json["segments"] = Json{{"usable", segments.usable},
                          {"waiting", segments.waiting},
                          {"quarantined", segments.quarantined},
                          {"leaving", segments.leaving}};
  json["durability"] = durability ? ToJson(*durability) : Json(nullptr);
  Print(session, json);
}

std::string Line(const ClusterStatus& status, const SegmentCounts& segments,
                 const std::optional<DurabilityStatus>& durability,
                 const std::vector<std::string>& reasons) {
  if (!reasons.empty()) {
    std::string line = "NOT OK";
    for (size_t i = 0; i < reasons.size(); ++i) line += (i == 0 ? ": " : "; ") + reasons[i];
    return line;
  }
  std::string line = "OK: master up " + FormatAge(status.uptime) + ", " +
                     Plural(segments.usable, "segment") + " mounted";
  if (segments.leaving > 0) line += ", " + FormatCount(segments.leaving) + " leaving";
  if (!durability) return line + ", nothing is kept over a restart (no --state_dir)";
  line += ", log safe up to " + FormatCount(durability->log_durable);
  return line + (durability->snapshot_age
                     ? ", last snapshot " + FormatAge(*durability->snapshot_age) + " ago"
                     : ", no snapshot yet");
}

ExitStatus RunHealth(Session& session) {
  const auto status = session.master().GetStatus(session.Deadline());
  if (!status.ok()) return Fail(session, "health", status.status());
  const auto segments = session.master().GetSegments({}, session.Deadline());
  if (!segments.ok()) return Fail(session, "health", segments.status());
  std::optional<DurabilityStatus> durability;
  const auto asked = session.master().GetDurability(session.Deadline());
  if (asked.ok()) {
    durability = *asked;
  } else if (asked.code() != ErrorCode::kUnavailableInCurrentMode) {
    return Fail(session, "health", asked.status());
  }
  const SegmentCounts counts = Count(*segments);
  const std::vector<std::string> reasons = Reasons(counts, durability);
  if (session.config().json) {
    PrintJson(session, *status, counts, durability, reasons);
  } else {
    session.console().out << Line(*status, counts, durability, reasons) << "\n";
  }
  return reasons.empty() ? ExitStatus::kOk : ExitStatus::kFailed;
}

}  // namespace

void AddHealthCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* health = app.add_subcommand(
      "health",
      "one line: OK, or what is wrong; exit status 1 when something is, 3 without master");
  health->footer("Example: mooncake-admin health --timeout=2s || page-somebody");
  health->callback([&invocation] { invocation.run = RunHealth; });
}

}  // namespace mooncake::admin
