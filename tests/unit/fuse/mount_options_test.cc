#include "fuse/mount_options.h"

#include <gtest/gtest.h>

namespace mooncake::fs {
namespace {

MountOptions Parse(const std::vector<std::string>& arguments) {
  auto line = ParseCommandLine(arguments);
  EXPECT_TRUE(line.ok()) << line.status();
  return line.ok() ? line->options : MountOptions{};
}
std::string Refusal(const std::vector<std::string>& arguments) {
  const auto line = ParseCommandLine(arguments);
  EXPECT_FALSE(line.ok());
  EXPECT_EQ(line.code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(line.message().find('\n'), std::string::npos);
  return line.message();
}

TEST(MountOptions, PlainForm) {
  const MountOptions options = Parse({"/mnt/kv", "-o", "size=4GiB,allow_other", "-f"});
  EXPECT_EQ(options.mount_point, "/mnt/kv");
  EXPECT_TRUE(options.embedded());
  EXPECT_EQ(options.size, 4 * kGiB);
  EXPECT_TRUE(options.allow_other);
  EXPECT_TRUE(options.foreground);
  EXPECT_FALSE(options.fake);
}

TEST(MountOptions, HelperForm) {
  const MountOptions options = Parse({"10.0.0.1:50051", "/mnt/kv", "-sfnv", "-o", "rw,noatime"});
  EXPECT_EQ(options.source, "10.0.0.1:50051");
  EXPECT_TRUE(options.fake);
  EXPECT_FALSE(options.foreground);
  EXPECT_TRUE(options.verbose);
  EXPECT_EQ(options.kernel_options, std::vector<std::string>{"noatime"});
}

TEST(MountOptions, MasterMakesItAClientInEitherForm) {
  EXPECT_EQ(Parse({"/m", "-o", "master=h:1"}).source, "h:1");
  EXPECT_EQ(Parse({"/m", "--master=h:1"}).source, "h:1");
  EXPECT_EQ(Parse({"-omaster=h:1", "embedded", "/m"}).source, "h:1");
}

TEST(MountOptions, FstabOptionsForOthersAreIgnored) {
  const MountOptions options =
      Parse({"embedded", "/m", "-o",
             "_netdev,nofail,x-systemd.automount,defaults,auto,user,nouser,noauto,comment=x,,"});
  EXPECT_TRUE(options.kernel_options.empty());
}

TEST(MountOptions, RepeatedListsAreJoinedAndTheLastWins) {
  EXPECT_EQ(Parse({"/m", "-o", "size=1GiB", "-o", "size=2GiB"}).size, 2 * kGiB);
}

TEST(MountOptions, DurationsAndNumbers) {
  const MountOptions options =
      Parse({"/m", "-o", "timeout=5s,entry_timeout=0,attr_timeout=250ms,threads=7,rpc_port=9"});
  EXPECT_EQ(options.timeout, Seconds(5));
  EXPECT_EQ(options.entry_timeout, Duration::zero());
  EXPECT_EQ(options.attr_timeout, Millis(250));
  EXPECT_EQ(options.threads, 7u);
  EXPECT_EQ(options.rpc_port, 9);
  EXPECT_EQ(Parse({"/m", "-o", "rpc_port=0"}).rpc_port, 0);
}

TEST(MountOptions, Passthrough) {
  EXPECT_EQ(Parse({"/m"}).passthrough, PassthroughMode::kAuto);
  EXPECT_EQ(Parse({"/m", "-o", "passthrough=off"}).passthrough, PassthroughMode::kOff);
  EXPECT_EQ(Parse({"/m", "-o", "passthrough=require"}).passthrough, PassthroughMode::kRequire);
}

TEST(MountOptions, RefusalsNameTheArgument) {
  EXPECT_NE(Refusal({}).find("no directory"), std::string::npos);
  EXPECT_NE(Refusal({"a:1", "/m", "extra"}).find("extra"), std::string::npos);
  EXPECT_NE(Refusal({"nonsense", "/m"}).find("nonsense"), std::string::npos);
  for (const char* bad : {"size=x", "size=", "size", "ro=1", "timeout=-1s", "timeout=10ms",
                          "threads=1", "threads=x", "rpc_port=-1", "rpc_port=70000",
                          "passthrough=maybe", "unknown", "master=nowhere", "log_file="}) {
    EXPECT_NE(Refusal({"/m", "-o", bad}).find(bad), std::string::npos) << bad;
  }
  EXPECT_NE(Refusal({"/m", "-o", "size=99999999999TiB"}).find("too large"), std::string::npos);
  EXPECT_NE(Refusal({"a:1", "/m", "-o", "size=1GiB"}).find("a:1"), std::string::npos);
  EXPECT_NE(Refusal({"/m", "-o", "master=a:1,rpc_port=7"}).find("rpc_port"), std::string::npos);
  EXPECT_NE(Refusal({"/m", "-q"}).find("-q"), std::string::npos);
  EXPECT_NE(Refusal({"/m", "-o"}).find("-o"), std::string::npos);
}

TEST(MountOptions, HelpAndVersionWinOverEverything) {
  EXPECT_EQ(ParseCommandLine({"--help"})->action, CommandLine::Action::kHelp);
  EXPECT_EQ(ParseCommandLine({"a", "b", "c", "-V"})->action, CommandLine::Action::kVersion);
}

TEST(MountOptions, HelpNamesEveryOption) {
  const std::string help = HelpText();
  for (const char* name :
       {"master=",     "tenant=",    "size=",          "rpc_port=",     "ro ",
        "allow_other", "nonempty",   "auto_unmount",   "huge",          "foreground",
        "debug",       "timeout=",   "entry_timeout=", "attr_timeout=", "write_space=",
        "cache_size=", "spill_dir=", "log_file=",      "passthrough=",  "threads="}) {
    EXPECT_NE(help.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace mooncake::fs
