#include "tools/admin/admin_config.h"

#include <gtest/gtest.h>

namespace mooncake::admin {
namespace {

TEST(AdminConfig, TheOptionGoesBeforeTheEnvironmentAndBothBeforeTheDefault) {
  EXPECT_EQ(MakeConfig({}, "")->master.ToString(), "127.0.0.1:50051");
  EXPECT_EQ(MakeConfig({}, "env:1")->master.ToString(), "env:1");
  EXPECT_EQ(MakeConfig({.master = "opt:2"}, "env:1")->master.ToString(), "opt:2");
}

TEST(AdminConfig, AMistakeNamesItsPlace) {
  EXPECT_NE(MakeConfig({.master = "host"}, "").message().find("--master"), std::string::npos);
  EXPECT_NE(MakeConfig({}, "host").message().find("MOONCAKE_MASTER"), std::string::npos);
  EXPECT_NE(MakeConfig({.timeout = "soon"}, "").message().find("--timeout"), std::string::npos);
  EXPECT_EQ(MakeConfig({.timeout = "0s"}, "").code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(MakeConfig({.timeout = "25h"}, "").code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(MakeConfig({.tenant = std::string(256, 't')}, "").code(), ErrorCode::kInvalidParams);
}

TEST(AdminConfig, ATimeoutThatIsGivenHoldsForWalksToo) {
  EXPECT_EQ(MakeConfig({}, "")->timeout, kDefaultTimeout);
  EXPECT_EQ(MakeConfig({}, "")->walk_timeout, kDefaultWalkTimeout);
  EXPECT_EQ(MakeConfig({.timeout = "2"}, "")->timeout, Seconds(2));
  EXPECT_EQ(MakeConfig({.timeout = "500ms"}, "")->walk_timeout, Millis(500));
}

}  // namespace
}  // namespace mooncake::admin
