// The commands, by group. Each function describes its commands to the parser; when one is named, its run goes to
// the invocation.
#pragma once

#include "tools/admin/arguments.h"

namespace mooncake::admin {

void AddClusterCommands(CLI::App& app, Invocation& invocation);  // status, segments, clients
void AddConfigCommand(CLI::App& app, Invocation& invocation);
void AddTopCommand(CLI::App& app, Invocation& invocation);
void AddHealthCommand(CLI::App& app, Invocation& invocation);
void AddQuotaCommands(CLI::App& app, Invocation& invocation);     // quota list, get, set, delete
void AddSnapshotCommands(CLI::App& app, Invocation& invocation);  // snapshot list, now, verify
void AddListCommand(CLI::App& app, Invocation& invocation);       // ls
void AddNameCommands(CLI::App& app, Invocation& invocation);      // stat, exists, mv
void AddPinCommands(CLI::App& app, Invocation& invocation);       // pin, unpin
void AddGetCommand(CLI::App& app, Invocation& invocation);
void AddPutCommand(CLI::App& app, Invocation& invocation);
void AddCompletionCommand(CLI::App& app, Invocation& invocation);
void AddRemoveCommand(CLI::App& app, Invocation& invocation);  // rm

}  // namespace mooncake::admin
