// status, segments, clients: the cluster as the master sees it.
#include <algorithm>
#include <ostream>

#include "tools/admin/commands.h"
#include "tools/admin/human.h"
#include "tools/admin/json_view.h"
#include "tools/admin/report.h"
#include "tools/admin/table.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

ExitStatus RunStatus(Session& session) {
  const auto status = session.master().GetStatus(session.Deadline());
  if (!status.ok()) return Fail(session, "status", status.status());
  if (session.config().json) {
    Json json = ToJson(*status);
    json["master"] = session.config().master.ToString();
    Print(session, json);
    return ExitStatus::kOk;
  }
  std::ostream& out = session.console().out;
  const auto line = [&out](const char* name, const std::string& value) {
    out << name << std::string(20 - std::char_traits<char>::length(name), ' ') << value << "\n";
  };
  line("master", session.config().master.ToString());
  line("version", EscapeForDisplay(status->version));
  line("term", std::to_string(status->term.value));
  line("up", FormatAge(status->uptime));
  line("segments", FormatCount(status->segment_count));
  line("clients", FormatCount(status->client_count));
  line("capacity", FormatSize(status->capacity));
  line("used", FormatSize(status->used) + " (" + FormatShare(status->used, status->capacity) + ")");
  line("objects", FormatCount(status->object_count));
  line("writes in progress", FormatCount(status->processing_count));
  line("soft-pinned", FormatCount(status->soft_pinned_count));
  line("evicted",
       Plural(status->evicted_objects, "object") + ", " + FormatSize(status->evicted_bytes));
  if (status->segment_count == 0) {
    out << "There is no segment: nothing can be stored until a mooncake-storenode joins.\n";
  }
  return ExitStatus::kOk;
}

ExitStatus RunSegments(Session& session) {
  auto segments = session.master().GetSegments({}, session.Deadline());
  if (!segments.ok()) return Fail(session, "segments", segments.status());
  std::sort(segments->begin(), segments->end(), [](const SegmentInfo& a, const SegmentInfo& b) {
    return std::tie(a.descriptor.name, a.descriptor.id) <
           std::tie(b.descriptor.name, b.descriptor.id);
  });
  if (session.config().json) {
    Json json;
    json["segments"] = Json::array();
    for (const SegmentInfo& segment : *segments) json["segments"].push_back(ToJson(segment));
    Print(session, json);
    return ExitStatus::kOk;
  }
  Table table({{.title = "NAME", .least = 12},
               {.title = "STATUS"},
               {.title = "SIZE", .right = true},
               {.title = "USED", .right = true},
               {.title = "USE%", .right = true},
               {.title = "LARGEST FREE", .right = true, .optional = true},
               {.title = "REPLICAS", .right = true},
               {.title = "EPOCH", .right = true, .optional = true},
               {.title = "ENDPOINT", .least = 15},
               {.title = "HOST", .least = 8, .optional = true}});
  for (const SegmentInfo& segment : *segments) {
    const SegmentDescriptor& d = segment.descriptor;
    const std::string status =
        std::string(NameOf(segment.status)) + (segment.quarantined ? ", quarantined" : "");
    table.Add({EscapeForDisplay(d.name), status, FormatSize(d.size), FormatSize(segment.used),
               FormatShare(segment.used, d.size), FormatSize(segment.largest_free),
               FormatCount(segment.object_count), std::to_string(d.epoch.value),
               EscapeForDisplay(d.protocol + "://" + d.endpoint), EscapeForDisplay(d.host_id)});
  }
  session.console().out << table.Render(static_cast<size_t>(session.console().width));
  return ExitStatus::kOk;
}

ExitStatus RunClients(Session& session) {
  auto clients = session.master().GetClients(session.Deadline());
  if (!clients.ok()) return Fail(session, "clients", clients.status());
  std::sort(clients->begin(), clients->end(), [](const ClientInfo& a, const ClientInfo& b) {
    return std::tie(a.address, a.id) < std::tie(b.address, b.id);
  });
  if (session.config().json) {
    Json json;
    json["clients"] = Json::array();
    for (const ClientInfo& client : *clients) json["clients"].push_back(ToJson(client));
    Print(session, json);
    return ExitStatus::kOk;
  }
  Table table({{.title = "ADDRESS", .least = 16},
               {.title = "LAST PING", .right = true},
               {.title = "SEGMENTS", .right = true},
               {.title = "ID", .least = 8}});
  for (const ClientInfo& client : *clients) {
    table.Add({EscapeForDisplay(client.address), FormatAge(client.since_ping) + " ago",
               FormatCount(client.segment_count), client.id.ToString()});
  }
  session.console().out << table.Render(static_cast<size_t>(session.console().width));
  return ExitStatus::kOk;
}

void AddSimple(CLI::App& app, Invocation& invocation, const char* name, const char* help,
               ExitStatus (*run)(Session&)) {
  CLI::App* command = app.add_subcommand(name, help);
  command->footer(std::string("Example: mooncake-admin ") + name + " --json");
  command->callback([&invocation, run] { invocation.run = run; });
}

}  // namespace

void AddClusterCommands(CLI::App& app, Invocation& invocation) {
  AddSimple(app, invocation, "status", "the cluster in a few lines", RunStatus);
  AddSimple(app, invocation, "segments", "the memory that nodes lend: size, use, where",
            RunSegments);
  AddSimple(app, invocation, "clients", "who is connected: nodes, mounts, programs", RunClients);
}

}  // namespace mooncake::admin
