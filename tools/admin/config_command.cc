// config: how the master was started.
#include <algorithm>
#include <memory>
#include <ostream>

#include "tools/admin/commands.h"
#include "tools/admin/json_view.h"
#include "tools/admin/key_text.h"
#include "tools/admin/report.h"
#include "tools/admin/table.h"

namespace mooncake::admin {
namespace {

struct ConfigRequest {
  std::vector<std::string> names;
  bool changed = false;
};

// In the order of the names, or all in the master's.
Result<std::vector<ConfigValue>> Choose(const std::vector<ConfigValue>& values,
                                        const ConfigRequest& request) {
  std::vector<ConfigValue> chosen;
  for (const std::string& name : request.names) {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const ConfigValue& value) { return value.name == name; });
    if (found == values.end())
      return Status(ErrorCode::kObjectNotFound,
                    "the master has no option '" + EscapeForDisplay(name) + "'");
    chosen.push_back(*found);
  }
  if (request.names.empty()) chosen = values;
  if (request.changed) std::erase_if(chosen, [](const ConfigValue& v) { return v.is_default; });
  return chosen;
}

ExitStatus RunConfig(Session& session, const ConfigRequest& request) {
  const auto values = session.master().GetConfig(session.Deadline());
  if (!values.ok()) return Fail(session, "config", values.status());
  if (values->empty()) {
    return Fail(session, "config",
                Status(ErrorCode::kUnavailableInCurrentMode,
                       "this master lives within another program and has no options of its own"));
  }
  const auto chosen = Choose(*values, request);
  if (!chosen.ok()) return Fail(session, "config", chosen.status());
  if (session.config().json) {
    Json json;
    json["options"] = Json::array();
    for (const ConfigValue& value : *chosen) json["options"].push_back(ToJson(value));
    Print(session, json);
    return ExitStatus::kOk;
  }
  Table table({{.title = "OPTION"}, {.title = "VALUE", .least = 12}, {.title = "FROM"}});
  for (const ConfigValue& value : *chosen) {
    table.Add({EscapeForDisplay(value.name), EscapeForDisplay(value.value),
               value.is_default ? "default" : "operator"});
  }
  session.console().out << table.Render(static_cast<size_t>(session.console().width));
  return ExitStatus::kOk;
}

}  // namespace

void AddConfigCommand(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<ConfigRequest>();
  CLI::App* config = app.add_subcommand("config", "the options that the master runs with");
  AddTexts(config, "NAME", request->names, "only these; all if none is named");
  config->add_flag("--changed", request->changed, "only those that are not as by default");
  config->footer(
      "Options are changed by restarting the master with others; mooncake-master --help explains "
      "each.\n"
      "Example: mooncake-admin config --changed");
  config->callback([&invocation, request] {
    invocation.run = [request](Session& session) { return RunConfig(session, *request); };
  });
}

}  // namespace mooncake::admin
