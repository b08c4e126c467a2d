// Options and arguments that take keys or other free text, safe from what CLI11 would read into them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/admin/exit_status.h"
#include "tools/admin/session.h"

namespace mooncake::admin {

using CommandRun = std::function<ExitStatus(Session&)>;

// What the command line asks for. Filled while it is parsed.
struct Invocation {
  AdminOptions options;
  CommandRun run;
  std::string text;  // of a command that needs no master and no options; it has no run then
};

// CLI11 takes "[a,b]" for a list of two: a key of that form must stay one key. Every argument goes through Protect before
// parsing, and every text option is added with AddText or AddTexts, which take the protection off.
std::string Protect(const std::string& argument);

CLI::Option* AddText(CLI::App* app, const std::string& name, std::string& target,
                     const std::string& help, const std::string& value_name = "");
CLI::Option* AddTexts(CLI::App* app, const std::string& name, std::vector<std::string>& target,
                      const std::string& help);

// A command whose arguments are keys, put into `request->typed`; the command runs `run`.
template <class Request>
CLI::App* AddKeysCommand(CLI::App& app, Invocation& invocation, const char* name, const char* help,
                         std::shared_ptr<Request> request,
                         ExitStatus (*run)(Session&, const Request&)) {
  CLI::App* command = app.add_subcommand(name, help);
  AddTexts(command, "KEY", request->typed, "one or more keys")->required();
  command->callback([&invocation, request, run] {
    invocation.run = [request, run](Session& session) { return run(session, *request); };
  });
  return command;
}

// Text as typed → bytes. kInvalidParams: a bad escape (only with --escaped).
Result<std::string> TextFromArgument(const Session& session, const std::string& typed);
// The same for keys. kInvalidKey: empty or too long.
Result<std::string> KeyFromArgument(const Session& session, const std::string& typed);
Result<std::vector<std::string>> KeysFromArguments(const Session& session,
                                                   const std::vector<std::string>& typed);

}  // namespace mooncake::admin
