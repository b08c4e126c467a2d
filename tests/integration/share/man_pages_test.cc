// Each installed program has a page that says all that its --help says.
#include <filesystem>
#include <functional>
#include <sstream>

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "tests/support/process.h"

namespace mooncake::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// What `cmake --install` would put in place: programs, and what lies beside them.
class ManPages : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string build = fs::path(ProgramPath("")).parent_path().parent_path();
    const RunResult install =
        testing::Run({.command = {"/usr/bin/cmake", "--install", build, "--component", "programs",
                                  "--prefix", prefix_.path()}});
    ASSERT_TRUE(install.ended.ok()) << install.out << install.err;
    for (const auto& entry : fs::directory_iterator(prefix_ / "bin"))
      programs_.push_back(entry.path().filename());
    ASSERT_GE(programs_.size(), 6U);
  }
  std::string PageOf(const std::string& program) const {
    for (const char* section : {"1", "8"}) {
      const std::string page =
          prefix_ / ("share/man/man" + std::string(section) + "/" + program + "." + section);
      if (fs::exists(page)) return page;
    }
    ADD_FAILURE() << program << " has no page";
    return "/dev/null";
  }
  // As a reader sees it, without line breaks that are only typesetting.
  static std::string Shown(const std::string& page) {
    const RunResult shown =
        testing::Run({.command = {"/usr/bin/mandoc", "-T", "ascii", "-O", "width=1000", page}});
    EXPECT_TRUE(shown.ended.ok()) << shown.err;
    std::string text;
    for (size_t i = 0; i < shown.out.size(); ++i) {
      // Bold and italic are struck over.
      if (i + 1 < shown.out.size() && shown.out[i + 1] == '\b') {
        ++i;
      } else {
        text += shown.out[i];
      }
    }
    RE2::GlobalReplace(&text, R"(\s+)", " ");
    return text;
  }
  std::string Help(std::vector<std::string> words) const {
    words[0] = prefix_ / ("bin/" + words[0]);
    words.emplace_back("--help");
    const RunResult help = testing::Run({.command = words});
    EXPECT_TRUE(help.ended.ok()) << help.err;
    return help.out;
  }
  // Subcommands, and theirs, each with the words that lead to it.
  void ForEachHelp(
      const std::vector<std::string>& words,
      const std::function<void(const std::vector<std::string>&, const std::string&)>& look) const {
    const std::string help = Help(words);
    look(words, help);
    const size_t list = help.find("\nSubcommands:\n");
    if (list == std::string::npos) return;
    std::istringstream lines(help.substr(list + 14));
    std::string line;
    std::string name;
    while (std::getline(lines, line) && RE2::PartialMatch(line, R"(^  (\S+))", &name)) {
      std::vector<std::string> next = words;
      next.push_back(name);
      ForEachHelp(next, look);
    }
  }

  TempFolder prefix_;
  std::vector<std::string> programs_;
};

TEST_F(ManPages, EveryInstalledProgramHasOneWithoutWarnings) {
  for (const std::string& program : programs_) {
    const RunResult lint = testing::Run(
        {.command = {"/usr/bin/mandoc", "-T", "lint", "-W", "warning", PageOf(program)}});
    EXPECT_TRUE(lint.ended.ok()) << lint.out;
    const std::string shown = Shown(PageOf(program));
    for (const char* part :
         {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"})
      EXPECT_THAT(shown, HasSubstr(part)) << program;
    EXPECT_THAT(shown, Not(HasSubstr("@"))) << program;
    EXPECT_THAT(shown, HasSubstr(" " + program + " - ")) << "what man -k looks for";
  }
}

// Piece by piece: where --help has two columns, or a part that stands elsewhere in a page, the page has a line break.
TEST_F(ManPages, SayAllThatHelpSays) {
  for (const std::string& program : programs_) {
    const std::string shown = Shown(PageOf(program));
    ForEachHelp({program}, [&](const std::vector<std::string>& words, const std::string& help) {
      const std::string command = absl::StrJoin(words.begin() + 1, words.end(), " ");
      EXPECT_THAT(shown, HasSubstr(" " + command)) << program;
      for (const absl::string_view line : absl::StrSplit(help, '\n')) {
        std::string piece(line);
        if (RE2::PartialMatch(piece, "^Usage: |^  or: |:$")) continue;
        RE2::GlobalReplace(&piece, ",-", ", -");
        RE2::GlobalReplace(&piece, " REQUIRED", "");
        RE2::GlobalReplace(&piece, "(Example:|Exit status:) ", "  ");
        RE2::GlobalReplace(&piece, R"([;,] (\d+ )|\.$)", R"(  \1)");  // of the exit statuses
        RE2::GlobalReplace(&piece, R"(\s\s+)", "\n");
        for (const absl::string_view part : absl::StrSplit(piece, '\n', absl::SkipEmpty()))
          EXPECT_THAT(shown, HasSubstr(std::string(part))) << program << " " << command;
      }
    });
  }
}

}  // namespace
}  // namespace mooncake::testing
