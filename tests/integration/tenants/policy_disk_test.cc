// The policy file on file systems that say no. Needs root.
#include <sys/mount.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/tenants/policy_file.h"
#include "tests/support/process.h"

namespace mooncake::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const QuotaPolicies kTwo = {{"a", 1}, {"b", uint64_t{10} << 30}};

QuotaPolicies Many() {
  QuotaPolicies policies;
  for (int i = 0; i < 5000; ++i) policies["tenant-" + std::to_string(i)] = 1;
  return policies;
}

class PolicyDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(mount("mc-test", folder_.path().c_str(), "tmpfs", 0, "size=64k"), 0) << "needs root";
    ASSERT_TRUE(store_.Load().ok());
    ASSERT_EQ(store_.Save(kTwo), Status::Ok());
  }
  void Remount(unsigned long flags) {
    ASSERT_EQ(mount("mc-test", folder_.path().c_str(), "tmpfs", MS_REMOUNT | flags, "size=64k"), 0)
        << std::strerror(errno);
  }
  QuotaPolicies Kept() {
    const auto kept = PolicyFile({.path = path_}).Load();
    EXPECT_TRUE(kept.ok()) << kept.message();
    return kept.ok() ? *kept : QuotaPolicies();
  }
  size_t Files() {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  const TempFolder folder_;
  const std::string path_ = folder_ / "tenants.yaml";
  PolicyFile store_{{.path = path_, .create_if_missing = true}};
};

TEST_F(PolicyDisk, WhenItIsFullWhatWasSavedStays) {
  const Status saved = store_.Save(Many());
  EXPECT_EQ(saved.code(), ErrorCode::kPersistentFail);
  EXPECT_THAT(saved.message(), HasSubstr("No space left on device"));
  EXPECT_EQ(Kept(), kTwo);
  EXPECT_EQ(Files(), 1u) << "no rest that takes space";
  EXPECT_EQ(store_.Save({{"c", 1}}), Status::Ok()) << "what fits is saved again";
  EXPECT_EQ(Kept(), (QuotaPolicies{{"c", 1}}));
}

TEST_F(PolicyDisk, WhenAnotherFillsItWhatWasSavedStays) {
  {
    std::ofstream filler(folder_ / "filler", std::ios::binary);
    while (filler.flush()) filler << std::string(4096, 'x');
  }
  EXPECT_THAT(store_.Save({{"c", 1}}).message(), HasSubstr("No space left on device"));
  EXPECT_EQ(Kept(), kTwo);
  fs::remove(folder_ / "filler");
  EXPECT_EQ(store_.Save({{"c", 1}}), Status::Ok());
}

TEST_F(PolicyDisk, WhenItIsReadOnlyItIsReadButNotSaved) {
  Remount(MS_RDONLY);
  EXPECT_EQ(Kept(), kTwo);
  const Status saved = store_.Save({});
  EXPECT_EQ(saved.code(), ErrorCode::kPersistentFail);
  EXPECT_THAT(saved.message(), HasSubstr("Read-only file system"));
  Remount(0);
  EXPECT_EQ(store_.Save({}), Status::Ok());
  EXPECT_EQ(Kept(), QuotaPolicies());
}

TEST_F(PolicyDisk, AFileThatIsAMountOfItsOwnIsRefusedWithTheCure) {
  const TempFolder place;
  const std::string file = place / "mounted.yaml";
  std::ofstream(file).flush();
  ASSERT_EQ(mount(path_.c_str(), file.c_str(), nullptr, MS_BIND, nullptr), 0)
      << std::strerror(errno);
  PolicyFile store({.path = file});
  ASSERT_TRUE(store.Load().ok());
  const Status saved = store.Save({});
  EXPECT_EQ(saved.code(), ErrorCode::kPersistentFail);
  EXPECT_THAT(saved.message(), HasSubstr("mount its folder instead"));
  EXPECT_EQ(Kept(), kTwo);
}

}  // namespace
}  // namespace mooncake::testing
