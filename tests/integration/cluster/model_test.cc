// Random operations through client and mount, beside a map: all three are equal at every step. 200 seeds.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "tests/integration/cluster/cluster_fixture.h"
#include "transfer/base/rng.h"

namespace mooncake::testing {
namespace {

constexpr int kOperations = 300;
constexpr int kNames = 8;

// One seed: its own folder of the store.
class Play {
 public:
  Play(uint64_t seed, Client& client, const std::string& root)
      : rng_(seed), client_(client), root_(root) {
    prefix_ = "s" + std::to_string(seed) + "/";
  }

  void All() {
    ASSERT_EQ(::mkdir((root_ + "/" + prefix_).c_str(), 0755), 0) << std::strerror(errno);
    for (step_ = 0; step_ < kOperations && !::testing::Test::HasFailure(); ++step_) {
      Step();
      if (step_ % 10 == 9) CompareNames();
    }
    CompareNames();
    for (int i = 0; i < kNames; ++i) Compare(Name(i));
    const RemoveByRegexArgs all{.tenant = {}, .pattern = "^" + prefix_, .force = true};
    EXPECT_TRUE(client_.RemoveByRegex(all).ok());
  }

 private:
  static std::string Name(uint64_t i) { return "k" + std::to_string(i); }
  std::string Key(const std::string& name) const { return prefix_ + name; }
  std::string Path(const std::string& name) const { return root_ + "/" + prefix_ + name; }
  std::string Where(const std::string& name) const {
    return "step " + std::to_string(step_) + " of " + prefix_ + ", " + name;
  }
  std::string RandomValue() {
    // Mostly small; now and then over a page, a slice, a kernel request.
    static constexpr uint64_t kBounds[] = {1, 20, 5000, 70000, 300000};
    std::string value(rng_.Below(kBounds[rng_.Below(std::size(kBounds))]), '\0');
    const auto letter = static_cast<char>('a' + rng_.Below(26));
    for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(letter + i / 97 % 5);
    return value;
  }

  void Step() {
    const std::string name = Name(rng_.Below(kNames));
    const std::string other = Name(rng_.Below(kNames));
    switch (rng_.Below(12)) {
      case 0:
        return ClientPut(name, WriteMode::kCreate);
      case 1:
        return ClientPut(name, WriteMode::kReplace);
      case 2:
        return ClientRemove(name);
      case 3:
        return ClientRename(name, other);
      case 4:
        return MountWrite(name, O_TRUNC);
      case 5:
        return MountWrite(name, O_APPEND);
      case 6:
        return MountPatch(name);
      case 7:
        return MountTruncate(name);
      case 8:
        return MountUnlink(name);
      case 9:
        return MountRename(name, other);
      default:
        return Compare(name);
    }
  }

  void ClientPut(const std::string& name, WriteMode mode) {
    const std::string value = RandomValue();
    PutOptions options;
    options.mode = mode;
    const auto put = client_.Put(Key(name), AsBytes(value), options);
    const bool expected = mode == WriteMode::kReplace || !model_.contains(name);
    ASSERT_EQ(put.ok(), expected) << Where(name) << ": " << put.message();
    if (put.ok()) model_[name] = value;
  }
  void ClientRemove(const std::string& name) {
    const Status status = client_.Remove(Key(name), true);
    ASSERT_EQ(status.code(), model_.erase(name) > 0 ? ErrorCode::kOk : ErrorCode::kObjectNotFound)
        << Where(name) << status;
  }
  void ClientRename(const std::string& name, const std::string& other) {
    const Status status = client_.Rename(Key(name), Key(other));
    ASSERT_EQ(status.ok(), model_.contains(name)) << Where(name) << " to " << other << status;
    Move(name, other);
  }
  void MountRename(const std::string& name, const std::string& other) {
    const bool renamed = ::rename(Path(name).c_str(), Path(other).c_str()) == 0;
    ASSERT_EQ(renamed, model_.contains(name))
        << Where(name) << " to " << other << std::strerror(errno);
    Move(name, other);
  }
  void Move(const std::string& name, const std::string& other) {
    if (name == other || !model_.contains(name)) return;
    model_[other] = model_[name];
    model_.erase(name);
  }
  void MountWrite(const std::string& name, int flag) {
    const std::string value = RandomValue();
    const int fd = ::open(Path(name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flag, 0644);
    ASSERT_GE(fd, 0) << Where(name) << std::strerror(errno);
    const size_t half = value.size() / 2;
    WriteAll(fd, value.substr(0, half), name);
    WriteAll(fd, value.substr(half), name);
    ASSERT_EQ(::close(fd), 0) << Where(name) << std::strerror(errno);
    model_[name] = flag == O_APPEND ? model_[name] + value : value;
  }
  void WriteAll(int fd, const std::string& bytes, const std::string& name) {
    if (bytes.empty()) return;
    ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()))
        << Where(name) << std::strerror(errno);
  }
  // A few bytes in the middle, or behind the end.
  void MountPatch(const std::string& name) {
    const int fd = ::open(Path(name).c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(fd >= 0, model_.contains(name)) << Where(name) << std::strerror(errno);
    if (fd < 0) return;
    std::string& value = model_[name];
    const uint64_t offset = rng_.Below(value.size() + 100);
    const std::string patch(1 + rng_.Below(3000), 'P');
    ASSERT_EQ(::pwrite(fd, patch.data(), patch.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(patch.size()))
        << Where(name) << std::strerror(errno);
    if (value.size() < offset + patch.size()) value.resize(offset + patch.size());
    value.replace(offset, patch.size(), patch);
    std::string seen(value.size() + 1, '\0');
    const ssize_t n = ::pread(fd, seen.data(), seen.size(), 0);
    ASSERT_EQ(n, static_cast<ssize_t>(value.size())) << Where(name) << std::strerror(errno);
    seen.resize(static_cast<size_t>(n));
    ASSERT_TRUE(seen == value) << Where(name) << ": a writer does not see what it wrote";
    ASSERT_EQ(::close(fd), 0) << Where(name) << std::strerror(errno);
  }
  void MountTruncate(const std::string& name) {
    const uint64_t size = rng_.Below(2 * (model_.contains(name) ? model_[name].size() : 10) + 10);
    const bool done = ::truncate(Path(name).c_str(), static_cast<off_t>(size)) == 0;
    ASSERT_EQ(done, model_.contains(name)) << Where(name) << std::strerror(errno);
    if (done) model_[name].resize(size);
  }
  void MountUnlink(const std::string& name) {
    const bool done = ::unlink(Path(name).c_str()) == 0;
    ASSERT_EQ(done, model_.erase(name) > 0) << Where(name) << std::strerror(errno);
  }

  // By both doors, whole and in part.
  void Compare(const std::string& name) {
    const auto expected = model_.find(name);
    std::string value;
    const Status status = client_.Get(Key(name), &value);
    struct stat info {};
    const bool there = ::stat(Path(name).c_str(), &info) == 0;
    if (expected == model_.end()) {
      ASSERT_EQ(status.code(), ErrorCode::kObjectNotFound) << Where(name) << status;
      ASSERT_FALSE(there) << Where(name);
      return;
    }
    ASSERT_TRUE(status.ok()) << Where(name) << status;
    ASSERT_TRUE(value == expected->second) << Where(name) << ": the client reads something else";
    ASSERT_TRUE(there) << Where(name) << std::strerror(errno);
    ASSERT_EQ(static_cast<size_t>(info.st_size), value.size()) << Where(name);
    const int fd = ::open(Path(name).c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0) << Where(name) << std::strerror(errno);
    std::string read(value.size() + 1, '\0');
    const uint64_t offset = rng_.Below(value.size() + 1);
    size_t done = 0;
    for (ssize_t n = 1; n > 0; done += static_cast<size_t>(n)) {
      n = ::pread(fd, read.data() + done, read.size() - done, static_cast<off_t>(offset + done));
      ASSERT_GE(n, 0) << Where(name) << std::strerror(errno);
    }
    ::close(fd);
    read.resize(done);
    ASSERT_TRUE(read == value.substr(offset)) << Where(name) << ": the mount reads something else";
  }

  void CompareNames() {
    std::set<std::string> expected;
    for (const auto& [name, value] : model_) expected.insert(name);
    ListArgs args;
    args.prefix = prefix_;
    const auto page = client_.List(args);
    ASSERT_TRUE(page.ok()) << page.message();
    std::set<std::string> listed;
    for (const ListEntry& entry : page->entries) {
      if (entry.key != prefix_) listed.insert(entry.key.substr(prefix_.size()));
    }
    ASSERT_EQ(listed, expected) << Where("ls by client");
    DIR* const folder = ::opendir((root_ + "/" + prefix_).c_str());
    ASSERT_NE(folder, nullptr) << Where("opendir") << std::strerror(errno);
    std::set<std::string> shown;
    while (const dirent* entry = ::readdir(folder)) {
      if (entry->d_name[0] != '.') shown.insert(entry->d_name);
    }
    ::closedir(folder);
    ASSERT_EQ(shown, expected) << Where("ls by mount");
  }

  Rng rng_;
  Client& client_;
  const std::string root_;
  std::string prefix_;
  std::map<std::string, std::string> model_;
  int step_ = 0;
};

class Model : public ::testing::TestWithParam<uint64_t> {};

TEST_P(Model, ClientAndMountAreEqual) {
  constexpr uint64_t kSeeds = 25;
  TempFolder folder;
  ClusterProcess cluster;
  cluster.StartNode({.name = "a", .size = 128 * kMiB});
  cluster.StartNode({.name = "b", .size = 128 * kMiB});
  auto client = cluster.Connect(GetParam() % 2 == 0 ? ClientOptions{} : OverTcp());
  auto mount =
      cluster.Mount({.folder = folder / "m", .options = {"entry_timeout=0s", "attr_timeout=0s"}});
  for (uint64_t seed = GetParam() * kSeeds; seed < (GetParam() + 1) * kSeeds && !HasFailure();
       ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Play(seed, *client, mount->folder()).All();
  }
  EXPECT_TRUE(mount->process().Running());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Model, ::testing::Range<uint64_t>(0, 8));

}  // namespace
}  // namespace mooncake::testing
