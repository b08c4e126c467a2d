// Completion of mooncake-admin in the shells themselves.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace mooncake::testing {
namespace {

RunResult Shell(const std::string& shell, const std::string& script) {
  return Run({.command = {shell, "-c", script},
              .environment = {{"PATH", ProgramPath("") + ":/usr/bin:/bin"}, {"TERM", "dumb"}}});
}

// The words that bash would offer at the end of a line of these words, a space behind each.
std::string Offered(const std::string& words) {
  const RunResult run =
      Shell("/bin/bash",
            "set -e; source <(mooncake-admin completion bash); compopt() { echo compopt \"$@\"; }; "
            "COMP_WORDS=(mooncake-admin " +
                words +
                "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mooncake_admin; "
                "printf '%s ' \"${COMPREPLY[@]}\"");
  EXPECT_TRUE(run.ended.ok()) << run.err;
  EXPECT_EQ(run.err, "");
  return run.out;
}

TEST(CompletionInBash, OffersCommandsOptionsAndValues) {
  EXPECT_EQ(Offered("sta"), "status stat ");
  EXPECT_EQ(Offered("--master = 10.0.0.1 : 50051 quota ''"), "list get set delete ");
  EXPECT_EQ(Offered("rm --re"), "--regex ");
  EXPECT_EQ(Offered("completion ''"), "bash zsh ");
  EXPECT_EQ(Offered("get ''"), " ");
}

TEST(CompletionInBash, LeavesNamesOfFilesToTheShell) {
  EXPECT_EQ(Offered("put key ''"), "compopt -o default\n ");
  EXPECT_EQ(Offered("get key -o ''"), "compopt -o default\n ");
}

TEST(CompletionInBash, IsTheInstalledFileToo) {
  const RunResult same = Shell("/bin/bash", "diff <(mooncake-admin completion bash) " +
                                                ProgramPath("../share/bash-completion/completions/"
                                                            "mooncake-admin"));
  EXPECT_TRUE(same.ended.ok()) << same.out << same.err;
}

// A real line editor in a pseudo-terminal: type, press TAB, and look at what the line became.
TEST(CompletionInZsh, CompletesAtTheTabKey) {
  const std::string site = ProgramPath("../share/zsh/site-functions");
  for (const std::string& setup : {std::string("source <(mooncake-admin completion zsh)"),
                                   "fpath=(" + site + " $fpath); compinit -u -D"}) {
    const std::string script = R"(
      zmodload zsh/zpty
      zpty line zsh -f -i
      zpty -w line 'PS1=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D'
      zpty -w line ')" + setup +
                               R"('
      zpty -w line 'echo be""gin'
      zpty -r line out '*begin*'
      zpty -w -n line $'mooncake-admin quota del\t\C-a\C-kecho do""ne\n'
      zpty -r line out '*done*'
      print -r -- "$out"
      zpty -d line)";
    const RunResult run = Shell("/usr/bin/zsh", script);
    EXPECT_TRUE(run.ended.ok()) << run.err;
    EXPECT_NE(run.out.find("quota delete "), std::string::npos) << setup << "\n" << run.out;
  }
}

}  // namespace
}  // namespace mooncake::testing
