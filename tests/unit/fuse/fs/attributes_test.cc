#include "fuse/fs/attributes.h"

#include <gtest/gtest.h>

namespace mooncake::fs {
namespace {

constexpr DefaultAttributes kDefaults{.uid = 7, .gid = 8, .directory_time_ns = 99};

TEST(Attributes, ObjectsWithoutAttributesGetTheDefaults) {
  const FileAttributes file = FromStored(std::nullopt, 12, 1500, kDefaults);
  EXPECT_EQ(file.kind, ObjectKind::kFile);
  EXPECT_EQ(file.mode, 0644u);
  EXPECT_EQ(file.uid, 7u);
  EXPECT_EQ(file.size, 12u);
  EXPECT_EQ(file.mtime_ns, 1'500'000'000);
  const FileAttributes directory = DirectoryFromStored(std::nullopt, kDefaults);
  EXPECT_EQ(directory.mode, 0755u);
  EXPECT_EQ(directory.mtime_ns, 99);
}

TEST(Attributes, StoredOnesComeBack) {
  const FileAttributes before{
      .kind = ObjectKind::kSymlink, .mode = 04711, .uid = 1, .gid = 2, .size = 3, .mtime_ns = -5};
  const FileAttributes after = FromStored(ToStored(before), 3, 0, kDefaults);
  EXPECT_EQ(after.kind, before.kind);
  EXPECT_EQ(after.mode, before.mode);
  EXPECT_EQ(after.uid, before.uid);
  EXPECT_EQ(after.gid, before.gid);
  EXPECT_EQ(after.mtime_ns, before.mtime_ns);
}

TEST(Attributes, OnlyPermissionBitsAreKept) { EXPECT_EQ(ToStored({.mode = 0100644}).mode, 0644u); }

TEST(Attributes, ADirectoryObjectUnderAnOrdinaryKeyIsAFile) {
  EXPECT_EQ(FromStored(ObjectAttributes{.kind = ObjectKind::kDirectory}, 0, 0, kDefaults).kind,
            ObjectKind::kFile);
}

}  // namespace
}  // namespace mooncake::fs
