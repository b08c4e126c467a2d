#include "tools/admin/admin_config.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace mooncake::admin {
namespace {

TEST(AdminConfig, TheOptionGoesBeforeTheEnvironmentAndBothBeforeTheDefault) {
  EXPECT_EQ(MakeConfig({}, {})->master.ToString(), kDefaultMaster);
  EXPECT_EQ(MakeConfig({}, {.master = "env:1"})->master.ToString(), "env:1");
  EXPECT_EQ(MakeConfig({.master = "opt:2"}, {.master = "env:1"})->master.ToString(), "opt:2");
}

TEST(AdminConfig, AMistakeNamesItsPlace) {
  EXPECT_NE(MakeConfig({.master = "host"}, {}).message().find("--master"), std::string::npos);
  EXPECT_NE(MakeConfig({}, {.master = "host"}).message().find("MOONCAKE_MASTER"),
            std::string::npos);
  EXPECT_NE(MakeConfig({.timeout = "soon"}, {}).message().find("--timeout"), std::string::npos);
  EXPECT_EQ(MakeConfig({.timeout = "0s"}, {}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(MakeConfig({.timeout = "25h"}, {}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(MakeConfig({.tenant = std::string(256, 't')}, {}).code(), ErrorCode::kInvalidParams);
}

TEST(AdminConfig, ATimeoutThatIsGivenHoldsForWalksToo) {
  EXPECT_EQ(MakeConfig({}, {})->timeout, kDefaultTimeout);
  EXPECT_EQ(MakeConfig({}, {})->walk_timeout, kDefaultWalkTimeout);
  EXPECT_EQ(MakeConfig({.timeout = "2"}, {})->timeout, Seconds(2));
  EXPECT_EQ(MakeConfig({.timeout = "500ms"}, {})->walk_timeout, Millis(500));
}

TEST(AdminConfig, AFileIsTheLastPlaceToLook) {
  const testing::TempFolder folder;
  const std::string path = folder.path() + "/admin.yaml";
  std::ofstream(path) << "master: file:3\ntenant: research\ntimeout: 5s\n";
  const Environment environment{.master = "", .config_files = {folder.path() + "/none.yaml", path}};
  const auto config = MakeConfig({}, environment);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->master.ToString(), "file:3");
  EXPECT_EQ(config->tenant, "research");
  EXPECT_EQ(config->timeout, Seconds(5));
  EXPECT_EQ(MakeConfig({.tenant = "mine"}, environment)->tenant, "mine");
  EXPECT_EQ(MakeConfig({}, {.master = "env:1", .config_files = {path}})->master.ToString(),
            "env:1");
  EXPECT_EQ(MakeConfig({.config_path = path}, {})->master.ToString(), "file:3");
}

TEST(AdminConfig, AMistakeInAFileNamesIt) {
  const testing::TempFolder folder;
  const std::string path = folder.path() + "/admin.yaml";
  for (const char* text : {"mastre: file:3\n", "master: host\n", "master: [1]\n"}) {
    std::ofstream(path) << text;
    EXPECT_NE(MakeConfig({.config_path = path}, {}).message().find(path), std::string::npos)
        << text << MakeConfig({.config_path = path}, {}).message();
  }
  EXPECT_FALSE(MakeConfig({.config_path = folder.path() + "/none.yaml"}, {}).ok());
}

}  // namespace
}  // namespace mooncake::admin
