#include "tools/admin/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mooncake::admin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A program in small: options above and below, a list, members, a file, something hidden.
class Completion : public ::testing::Test {
 protected:
  Completion() {
    app_.add_option("--master", master_, "where")->type_name("HOST:PORT");
    app_.add_flag("-v,--verbose", verbose_, "say more");
    app_.add_option("--colour", colour_)->check(CLI::IsMember({"always", "auto", "never"}));
    CLI::App* quota = app_.add_subcommand("quota", "how much");
    quota->add_subcommand("list", "all of them");
    quota->add_subcommand("set", "one of them");
    CLI::App* put = app_.add_subcommand("put", "store");
    put->add_option("KEY", key_);
    put->add_option("FILE", file_);
    put->add_option("-o,--output", file_)->type_name("FILE");
    put->add_option("--copies", key_, "how many")->type_name("N");
    CLI::App* pick = app_.add_subcommand("pick", "some");
    pick->add_option("NAME", names_)->check(CLI::IsMember({"one", "two"}));
    app_.add_subcommand("secret")->group("");
  }
  std::vector<std::string> At(const std::vector<std::string>& words) const {
    std::vector<std::string> found;
    for (const Candidate& candidate : Complete(app_, words)) found.push_back(candidate.word);
    return found;
  }

  CLI::App app_;
  std::string master_;
  std::string colour_;
  bool verbose_ = false;
  std::string key_;
  std::string file_;
  std::vector<std::string> names_;
};

TEST_F(Completion, CommandsAreOfferedButNotHiddenOnes) {
  EXPECT_THAT(At({""}), ElementsAre("quota", "put", "pick"));
  EXPECT_THAT(At({"p"}), ElementsAre("put", "pick"));
  EXPECT_THAT(At({"quota", ""}), ElementsAre("list", "set"));
  EXPECT_THAT(At({"quota", "list", ""}), IsEmpty());
  EXPECT_THAT(At({}), IsEmpty());
}

TEST_F(Completion, OptionsOfTheCommandComeFirstThenThoseAbove) {
  EXPECT_THAT(At({"put", "--"}),
              ElementsAre("--help", "--output", "--copies", "--master", "--verbose", "--colour"));
  EXPECT_THAT(At({"--m"}), ElementsAre("--master"));
  EXPECT_EQ(Complete(app_, {"--m"}).front().help, "where");
}

TEST_F(Completion, TheValueOfAnOptionIsNoCommand) {
  EXPECT_THAT(At({"--master", "quota", "qu"}), ElementsAre("quota"));
  EXPECT_THAT(At({"--master", ""}), IsEmpty());
  EXPECT_THAT(At({"-v", "qu"}), ElementsAre("quota"));
  EXPECT_THAT(At({"put", "-vo", ""}), ElementsAre(kFileWanted));
}

TEST_F(Completion, KnownValuesAreOffered) {
  EXPECT_THAT(At({"--colour", "a"}), ElementsAre("always", "auto"));
  EXPECT_THAT(At({"--colour=n"}), ElementsAre("never"));
  EXPECT_THAT(At({"pick", "one", ""}), ElementsAre("one", "two")) << "a list goes on";
}

TEST_F(Completion, ArgumentsAreCounted) {
  EXPECT_THAT(At({"put", ""}), IsEmpty());
  EXPECT_THAT(At({"put", "key", "fi"}), ElementsAre(kFileWanted));
  EXPECT_THAT(At({"put", "--copies", "2", "key", ""}), ElementsAre(kFileWanted));
  EXPECT_THAT(At({"put", "key", "file", ""}), IsEmpty());
}

TEST_F(Completion, BehindTwoDashesThereAreOnlyArguments) {
  EXPECT_THAT(At({"put", "--", "--copies", ""}), ElementsAre(kFileWanted));
  EXPECT_THAT(At({"put", "--", "-"}), IsEmpty());
}

TEST_F(Completion, WordsThatBashCutAreWhole) {
  EXPECT_THAT(At({"--colour", "=", "al"}), ElementsAre("always"));
  EXPECT_THAT(At({"--colour", "="}), ElementsAre("always", "auto", "never"));
  EXPECT_THAT(At({"--master", "a", ":", "1", "qu"}), ElementsAre("quota"));
}

}  // namespace
}  // namespace mooncake::admin
