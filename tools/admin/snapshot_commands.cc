// snapshot list, now, verify: what the master keeps on its disk beyond the log.
#include <algorithm>
#include <memory>
#include <ostream>

#include "tools/admin/commands.h"
#include "tools/admin/human.h"
#include "tools/admin/json_view.h"
#include "tools/admin/key_text.h"
#include "tools/admin/report.h"
#include "tools/admin/table.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

constexpr char kNone[] = "there is no snapshot yet; mooncake-admin snapshot now takes one";

// "5m1s ago"; "-" when the snapshot does not say.
std::string AgeOf(const SnapshotDescriptor& snapshot, const Clock& clock) {
  if (snapshot.begun_ms <= 0) return "-";
  const int64_t ms = clock.WallNow().ns / 1'000'000 - snapshot.begun_ms;
  return FormatAge(Millis(std::max<int64_t>(0, ms))) + " ago";
}

std::string HealthOf(const SnapshotDescriptor& snapshot) {
  return snapshot.trouble.empty() ? "ok" : EscapeForDisplay(snapshot.trouble);
}

// On the terminal of whoever waits; gone when it is destroyed.
class WaitMessage {
 public:
  WaitMessage(Session& session, const std::string& text) : console_(session.console()) {
    if (console_.progress) console_.err << text << std::flush;
  }
  ~WaitMessage() {
    if (console_.progress) console_.err << "\r\033[K" << std::flush;
  }
  WaitMessage(const WaitMessage&) = delete;
  WaitMessage& operator=(const WaitMessage&) = delete;

 private:
  Console& console_;
};

TimePoint LongDeadline(const Session& session) {
  return session.clock().Now() + session.config().walk_timeout;
}

ExitStatus RunSnapshotList(Session& session) {
  const auto snapshots = session.master().ListSnapshots(session.Deadline());
  if (!snapshots.ok()) return Fail(session, "snapshot list", snapshots.status());
  if (session.config().json) {
    Json json;
    json["snapshots"] = Json::array();
    for (const SnapshotDescriptor& snapshot : *snapshots)
      json["snapshots"].push_back(ToJson(snapshot));
    Print(session, json);
    return ExitStatus::kOk;
  }
  Table table({{.title = "ID"},
               {.title = "TAKEN", .right = true},
               {.title = "RECORDS", .right = true},
               {.title = "SIZE", .right = true},
               {.title = "TERM", .right = true},
               {.title = "LOG UP TO", .right = true},
               {.title = "HEALTH", .least = 12}});
  for (const SnapshotDescriptor& s : *snapshots) {
    table.Add({s.id, AgeOf(s, session.clock()), FormatCount(s.records), FormatSize(s.bytes),
               std::to_string(s.term.value), FormatCount(s.until), HealthOf(s)});
  }
  if (!table.empty())
    session.console().out << table.Render(static_cast<size_t>(session.console().width));
  if (snapshots->empty()) session.console().err << "mooncake-admin: " << kNone << std::endl;
  return ExitStatus::kOk;
}

ExitStatus RunSnapshotNow(Session& session) {
  const TimePoint begun = session.clock().Now();
  const auto taken = [&] {
    const WaitMessage wait(session, "taking a snapshot: it is written, then read back...");
    return session.master().TakeSnapshot(LongDeadline(session));
  }();
  if (!taken.ok()) return Fail(session, "snapshot now", taken.status());
  const Duration elapsed = session.clock().Now() - begun;
  if (session.config().json) {
    Json json = ToJson(*taken);
    json["elapsed_ms"] = ToMillis(elapsed);
    Print(session, json);
  } else {
    session.console().out << taken->id << ": " << Plural(taken->records, "record") << ", "
                          << FormatSize(taken->bytes) << ", in " << FormatAge(elapsed) << "\n";
  }
  return ExitStatus::kOk;
}

struct VerifyRequest {
  std::string id;  // "": all there are
};

struct Verified {
  Json json;
  std::vector<std::string> row;
  ExitStatus exit = ExitStatus::kOk;
};

Verified Verify(Session& session, const SnapshotDescriptor& snapshot) {
  const auto verdict = [&]() -> Result<SnapshotVerdict> {
    if (!snapshot.trouble.empty()) return {ErrorCode::kPersistentFail, snapshot.trouble};
    const WaitMessage wait(session, "reading snapshot " + snapshot.id + "...");
    return session.master().VerifySnapshot(snapshot.id, LongDeadline(session));
  }();
  Verified result;
  result.json["id"] = snapshot.id;
  result.json["ok"] = verdict.ok() && verdict->damaged == 0;
  if (!verdict.ok()) {
    result.json["error"] = ToJson(verdict.status());
    result.exit = KeyExitStatus(verdict.code());
    result.row = {snapshot.id, "-", "-", EscapeForDisplay(Explain(verdict.status()))};
    return result;
  }
  result.json["records"] = verdict->records;
  result.json["damaged"] = verdict->damaged;
  if (verdict->damaged > 0) result.exit = ExitStatus::kFailed;
  result.row = {snapshot.id, FormatCount(verdict->records), FormatCount(verdict->damaged),
                verdict->damaged == 0 ? "ok" : "damaged"};
  return result;
}

ExitStatus RunSnapshotVerify(Session& session, const VerifyRequest& request) {
  const std::string what = "snapshot verify" + (request.id.empty() ? "" : " " + request.id);
  if (!request.id.empty() && !IsSnapshotId(request.id)) {
    return Fail(session, "snapshot verify",
                Status(ErrorCode::kInvalidParams,
                       Quoted(request.id) +
                           " is no id of a snapshot; mooncake-admin snapshot list shows them"));
  }
  auto snapshots = session.master().ListSnapshots(session.Deadline());
  if (!snapshots.ok()) return Fail(session, what, snapshots.status());
  if (!request.id.empty()) {
    std::erase_if(*snapshots, [&](const SnapshotDescriptor& s) { return s.id != request.id; });
  }
  if (snapshots->empty()) {
    // The cure for a key that is not found is not the one here.
    return Fail(session, what,
                Status(ErrorCode::kInvalidRead,
                       request.id.empty()
                           ? kNone
                           : "there is no such snapshot; mooncake-admin snapshot list shows them"));
  }
  Table table({{.title = "ID"},
               {.title = "RECORDS", .right = true},
               {.title = "DAMAGED", .right = true},
               {.title = "HEALTH", .least = 12}});
  Json json;
  json["snapshots"] = Json::array();
  ExitStatus exit = ExitStatus::kOk;
  for (const SnapshotDescriptor& snapshot : *snapshots) {
    Verified verified = Verify(session, snapshot);
    json["snapshots"].push_back(std::move(verified.json));
    table.Add(std::move(verified.row));
    exit = Worse(exit, verified.exit);
  }
  if (session.config().json) {
    Print(session, json);
  } else {
    session.console().out << table.Render(static_cast<size_t>(session.console().width));
  }
  return exit;
}

}  // namespace

void AddSnapshotCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* snapshot =
      app.add_subcommand("snapshot", "the snapshots that a master with --state_dir keeps");
  snapshot->require_subcommand(1);
  snapshot->footer(
      "A master that starts reads the newest snapshot that is whole, and the log after it.\n"
      "Example, before an upgrade:\n"
      "  mooncake-admin snapshot now && mooncake-admin snapshot verify");
  snapshot->add_subcommand("list", "the snapshots there are, newest first")
      ->callback([&invocation] { invocation.run = RunSnapshotList; });
  CLI::App* now = snapshot->add_subcommand(
      "now", "take one and wait until it is safe on the disk; others work on meanwhile");
  now->footer(
      "--timeout is 10m if not given; at its end the snapshot is given up.\n"
      "Example: mooncake-admin snapshot now --timeout=1m");
  now->callback([&invocation] { invocation.run = RunSnapshotNow; });
  auto request = std::make_shared<VerifyRequest>();
  CLI::App* verify = snapshot->add_subcommand(
      "verify", "read all of a snapshot, or of each; exit status 1 when anything is damaged");
  AddText(verify, "ID", request->id, "as snapshot list shows it; all of them if not given");
  verify->footer("Example: mooncake-admin snapshot verify 20260301_170405_123");
  verify->callback([&invocation, request] {
    invocation.run = [request](Session& session) { return RunSnapshotVerify(session, *request); };
  });
}

}  // namespace mooncake::admin
