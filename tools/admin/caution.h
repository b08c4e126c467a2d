// Dangerous acts: what will happen is shown and asked for; --dry-run only shows it, --yes does not ask.
#pragma once

#include <optional>
#include <string>

#include "tools/admin/arguments.h"

namespace mooncake::admin {

struct Caution {
  bool dry_run = false;
  bool yes = false;
};
void AddCaution(CLI::App* command, Caution& caution);

// kUsage if the act has to be asked for and nobody is there to ask; nullopt otherwise.
std::optional<ExitStatus> CheckCanAsk(Session& session, const char* command,
                                      const Caution& caution);

// Whether the answer to `question` was yes.
bool Confirmed(Session& session, const std::string& question);

// Tells what will happen (a sentence without its end) and asks. nullopt: go on; else the command ends so.
std::optional<ExitStatus> AskBefore(Session& session, const char* command, const Caution& caution,
                                    const std::string& what);

// The answer of a dry run: nothing was done.
ExitStatus ShowOnly(Session& session, const std::string& what);

}  // namespace mooncake::admin
