#include "tools/admin/command_line.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>

#include "tools/admin/commands.h"
#include "tools/admin/completion.h"
#include "tools/admin/report.h"

namespace mooncake::admin {
namespace {

constexpr char kProgram[] = "mooncake-admin";

// What the completion scripts ask: the words of a line follow. Not in the help.
constexpr char kCompleteCommand[] = "__complete";

constexpr char kSummary[] =
    "Looks at and changes a Mooncake Store: its objects, segments and clients.\n"
    "Example: mooncake-admin --master=10.0.0.1:50051 ls models/ -l";

constexpr char kFooter[] =
    "Options may stand before or behind the command. A key that begins with '-' goes behind '--'.\n"
    "\n"
    "Keys are any bytes. They are printed with \\xNN for bytes that cannot be shown and \\\\ for a "
    "backslash; with --escaped\n"
    "they can be typed in the same way. JSON has the exact bytes: \"key\" is the key itself, "
    "unless it is not UTF-8: then\n"
    "\"key\" is the printed form and \"key_base64\" has the bytes.\n"
    "\n"
    "Exit status: 0 done; 1 failed, not found, or some of several keys failed (each is named on "
    "stderr); 2 the command line\n"
    "is wrong and nothing was tried; 3 no master was reached, or not in time: a change may or may "
    "not have happened.";

void AddSharedOptions(CLI::App& app, AdminOptions& options) {
  AddText(&app, "--master", options.master,
          std::string("the master; otherwise the environment variable ") + kMasterVariable +
              ", the config file, else " + kDefaultMaster,
          "HOST:PORT");
  AddText(&app, "--tenant", options.tenant, "whose keys; 'default' if not given", "NAME");
  AddText(&app, "--timeout", options.timeout,
          "of one request, as 500ms or 2m: 30s if not given, 10m for rm --regex and snapshot; put "
          "adds a second "
          "for each 16 MiB",
          "TIME");
  AddText(&app, "--config_path", options.config_path,
          "a .yaml or .json file with master, tenant, timeout; otherwise "
          "~/.config/mooncake/admin.yaml or /etc/mooncake/admin.yaml, if there",
          "FILE");
  app.add_flag("--json", options.json, "print JSON: one document a command");
  app.add_flag("-e,--escaped", options.escaped,
               "keys are typed as they are printed: \\xNN and \\\\");
}

// `text`: what people read, a line.
void RefuseLine(Console console, bool json, const std::string& text) {
  if (json) {
    Json object;
    object["error"] = ToJson(Status(ErrorCode::kInvalidParams, text.substr(0, text.size() - 1)));
    console.out << Dump(object) << std::endl;
  }
  console.err << text << std::flush;
}

}  // namespace

ParsedLine ParseLine(const std::vector<std::string>& arguments) {
  ParsedLine parsed;
  // The commands keep references to it until they run.
  auto invocation = std::make_shared<Invocation>();
  CLI::App app(kSummary, kProgram);
  app.set_version_flag("--version", std::string(kProgram) + " " + MC_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kFooter);
  app.get_formatter()->column_width(34);
  AddSharedOptions(app, invocation->options);
  AddClusterCommands(app, *invocation);
  AddHealthCommand(app, *invocation);
  AddTopCommand(app, *invocation);
  AddConfigCommand(app, *invocation);
  AddSnapshotCommands(app, *invocation);
  AddQuotaCommands(app, *invocation);
  AddListCommand(app, *invocation);
  AddNameCommands(app, *invocation);
  AddPinCommands(app, *invocation);
  AddGetCommand(app, *invocation);
  AddPutCommand(app, *invocation);
  AddRemoveCommand(app, *invocation);
  AddCompletionCommand(app, *invocation);

  if (!arguments.empty() && arguments.front() == kCompleteCommand) {
    for (const auto& [word, help] : Complete(app, {arguments.begin() + 1, arguments.end()}))
      parsed.text += word + "\t" + help + "\n";
    return parsed;
  }
  std::vector<std::string> reversed;
  for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) reversed.push_back(Protect(*it));
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    parsed.text = (chosen.empty() ? &app : chosen.back())->help(chosen.empty() ? "" : kProgram);
    return parsed;
  } catch (const CLI::CallForVersion& version) {
    parsed.text = std::string(version.what()) + "\n";
    return parsed;
  } catch (const CLI::Error& error) {
    parsed.status = ExitStatus::kUsage;
    parsed.text = std::string(kProgram) + ": " + error.what() + "; see " + kProgram + " --help\n";
    return parsed;
  }
  parsed.text = invocation->text;
  parsed.invocation = *invocation;
  return parsed;
}

ExitStatus RunLine(const std::vector<std::string>& arguments, const Environment& environment,
                   Console console, const Connector& connector, const Clock& clock) {
  const ParsedLine parsed = ParseLine(arguments);
  if (!parsed.invocation.run) {
    if (parsed.status == ExitStatus::kOk) {
      console.out << parsed.text << std::flush;
      return parsed.status;
    }
    // A line that could not be parsed has no options yet, but who wrote --json reads JSON.
    const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    RefuseLine(console, json, parsed.text);
    return parsed.status;
  }
  const auto config = MakeConfig(parsed.invocation.options, environment);
  if (!config.ok()) {
    RefuseLine(console, parsed.invocation.options.json,
               std::string(kProgram) + ": " + Explain(config.status()) + "\n");
    return ExitStatus::kUsage;
  }
  Session session(*config, console, connector, clock);
  return FinishOutput(session, parsed.invocation.run(session));
}

}  // namespace mooncake::admin
