// completion: a script for bash or zsh. The scripts know no command: at each TAB they ask the program.
#include <memory>

#include "tools/admin/commands.h"

namespace mooncake::admin {
namespace {

constexpr char kBash[] =
    R"(# Completion of mooncake-admin for bash, printed by `mooncake-admin completion bash`.
_mooncake_admin() {
  local program=${COMP_WORDS[0]/#\~\//$HOME/}
  mapfile -t COMPREPLY < <("$program" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
  if [[ ${COMPREPLY[*]} == FILE ]]; then
    COMPREPLY=()
    compopt -o default
  fi
}
complete -F _mooncake_admin mooncake-admin
)";

constexpr char kZsh[] = R"(#compdef mooncake-admin
# Completion of mooncake-admin for zsh, printed by `mooncake-admin completion zsh`.
_mooncake-admin() {
  local -a found
  found=("${(@f)$($~words[1] __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  compset -P '--*='
  if [[ $found == FILE ]]; then
    _files
  elif [[ -n $found ]]; then
    found=("${(@)${(@)found//:/\\:}/$'\t'/:}")
    _describe mooncake-admin found
  fi
}
if [[ $funcstack[1] == _mooncake-admin ]]; then
  _mooncake-admin
else
  compdef _mooncake-admin mooncake-admin
fi
)";

}  // namespace

void AddCompletionCommand(CLI::App& app, Invocation& invocation) {
  auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      app.add_subcommand("completion", "print what completes this program in a shell");
  completion->add_option("SHELL", *shell, "the shell")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh"}));
  completion->footer(
      "Example, for this shell only (an installed mooncake-admin has it in place):\n"
      "  source <(mooncake-admin completion bash)");
  completion->callback([&invocation, shell] { invocation.text = *shell == "bash" ? kBash : kZsh; });
}

}  // namespace mooncake::admin
