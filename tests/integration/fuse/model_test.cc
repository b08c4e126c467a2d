// Random file operations on the mount and on an ordinary directory: both have to look the same after every few.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>

#include "tests/integration/fuse/mount_fixture.h"
#include "tests/support/seeds.h"
#include "transfer/base/rng.h"

namespace mooncake::testing {
namespace {

// cluster_model_test runs 200 against a client and a mount.
constexpr uint64_t kSeeds = 50;
constexpr int kSteps = 300;

// One side: a root directory and the same descriptors by slot.
struct Side {
  std::string root;
  std::map<int, int> open = {};
  std::string At(const std::string& name) const { return root + "/" + name; }
  ~Side() {
    for (const auto& [slot, fd] : open) close(fd);
  }
};

// Result of a call as text: value or errno.
std::string Outcome(long value) {
  return value >= 0 ? std::to_string(value) : "errno " + std::to_string(errno);
}

struct Step {
  std::string text;
  std::function<std::string(Side&)> run;
};

class Model {
 public:
  explicit Model(uint64_t seed) : rng_(seed) {}

  Step Next() {
    switch (rng_.Below(16)) {
      case 0:
        return MakeDirectory();
      case 1:
        return RemoveDirectory();
      case 2:
        return Unlink();
      case 3:
      case 4:
        return Rename();
      case 5:
        return Truncate();
      case 6:
      case 7:
        return WriteWhole();
      case 8:
      case 9:
        return Open();
      case 10:
      case 11:
      case 12:
        return PWrite();
      case 13:
        return FTruncate();
      case 14:
        return Close();
      default:
        return ReadWhole();
    }
  }

 private:
  std::string Name() {
    static constexpr const char* kNames[] = {"a",   "b",     "d", "d/a", "d/b",
                                             "d/e", "d/e/a", "f", "f/a"};
    return kNames[rng_.Below(std::size(kNames))];
  }
  std::string Bytes(size_t most) {
    std::string bytes(rng_.Below(most), '\0');
    const char first = static_cast<char>('a' + rng_.Below(26));
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(first + static_cast<char>(i % 7));
    return bytes;
  }

  Step MakeDirectory() {
    const std::string name = Name();
    return {"mkdir " + name,
            [=](Side& side) { return Outcome(mkdir(side.At(name).c_str(), 0755)); }};
  }
  Step RemoveDirectory() {
    const std::string name = Name();
    return {"rmdir " + name, [=](Side& side) { return Outcome(rmdir(side.At(name).c_str())); }};
  }
  Step Unlink() {
    const std::string name = Name();
    return {"unlink " + name, [=](Side& side) { return Outcome(unlink(side.At(name).c_str())); }};
  }
  Step Rename() {
    const std::string from = Name(), to = Name();
    return {"rename " + from + " " + to, [=](Side& side) {
              return Outcome(rename(side.At(from).c_str(), side.At(to).c_str()));
            }};
  }
  Step Truncate() {
    const std::string name = Name();
    const off_t size = static_cast<off_t>(rng_.Below(20000));
    return {"truncate " + name + " " + std::to_string(size),
            [=](Side& side) { return Outcome(truncate(side.At(name).c_str(), size)); }};
  }
  Step WriteWhole() {
    const std::string name = Name();
    const std::string bytes = Bytes(20000);
    const int flags = O_WRONLY | O_CREAT | (rng_.Chance(1, 2) ? O_TRUNC : O_APPEND);
    return {"write " + name + " flags " + std::to_string(flags) + " bytes " +
                std::to_string(bytes.size()),
            [=](Side& side) {
              const int fd = ::open(side.At(name).c_str(), flags, 0644);
              if (fd < 0) return Outcome(fd);
              const std::string written = Outcome(write(fd, bytes.data(), bytes.size()));
              return written + " " + Outcome(close(fd));
            }};
  }
  // A slot is used by one open file at a time; two writers of one file share what they write, as everywhere.
  Step Open() {
    const std::string name = Name();
    const int slot = static_cast<int>(rng_.Below(3));
    const int flags = O_RDWR | (rng_.Chance(1, 2) ? O_CREAT : 0) |
                      (rng_.Chance(1, 4) ? O_EXCL : 0) | (rng_.Chance(1, 4) ? O_TRUNC : 0) |
                      (rng_.Chance(1, 4) ? O_APPEND : 0);
    return {"open " + name + " slot " + std::to_string(slot) + " flags " + std::to_string(flags),
            [=](Side& side) {
              if (side.open.contains(slot)) return std::string("busy");
              const int fd = ::open(side.At(name).c_str(), flags, 0644);
              if (fd >= 0) side.open[slot] = fd;
              return fd >= 0 ? std::string("opened") : Outcome(fd);
            }};
  }
  Step OnSlot(const std::string& text, std::function<std::string(int)> run) {
    const int slot = static_cast<int>(rng_.Below(3));
    return {text + " slot " + std::to_string(slot), [=](Side& side) {
              return side.open.contains(slot) ? run(side.open[slot]) : std::string("none");
            }};
  }
  Step PWrite() {
    const std::string bytes = Bytes(9000);
    const off_t offset = static_cast<off_t>(rng_.Below(30000));
    return OnSlot(
        "pwrite " + std::to_string(bytes.size()) + " at " + std::to_string(offset), [=](int fd) {
          std::string readback(40000, '\0');
          const std::string written = Outcome(pwrite(fd, bytes.data(), bytes.size(), offset));
          readback.resize(static_cast<size_t>(
              std::max<ssize_t>(pread(fd, readback.data(), readback.size(), 0), 0)));
          return written + " " + std::to_string(std::hash<std::string>()(readback));
        });
  }
  Step FTruncate() {
    const off_t size = static_cast<off_t>(rng_.Below(30000));
    return OnSlot("ftruncate " + std::to_string(size), [=](int fd) {
      struct stat info {};
      const std::string cut = Outcome(ftruncate(fd, size));
      fstat(fd, &info);
      return cut + " " + std::to_string(info.st_size) + " links " +
             std::to_string(info.st_nlink > 0);
    });
  }
  Step Close() {
    const int slot = static_cast<int>(rng_.Below(3));
    return {"close slot " + std::to_string(slot), [=](Side& side) {
              if (!side.open.contains(slot)) return std::string("none");
              const int fd = side.open[slot];
              side.open.erase(slot);
              return Outcome(::close(fd));
            }};
  }
  Step ReadWhole() {
    const std::string name = Name();
    return {"stat " + name, [=](Side& side) {
              struct stat info {};
              if (stat(side.At(name).c_str(), &info) != 0) return Outcome(-1);
              return std::to_string(info.st_mode) +
                     (S_ISREG(info.st_mode) ? " " + std::to_string(info.st_size) : "");
            }};
  }

  Rng rng_;
};

// Names, kinds and, once nothing is open, contents.
std::string Picture(const Side& side) {
  std::map<std::string, std::string> entries;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(side.root)) {
    const std::string name = entry.path().string().substr(side.root.size());
    std::string text = entry.is_directory() ? "directory" : std::to_string(entry.file_size());
    if (entry.is_regular_file() && side.open.empty()) {
      std::ifstream in(entry.path(), std::ios::binary);
      std::ostringstream bytes;
      bytes << in.rdbuf();
      text += " " + std::to_string(std::hash<std::string>()(bytes.str()));
    }
    entries[name] = text;
  }
  std::string all;
  for (const auto& [name, text] : entries) all += name + ": " + text + "\n";
  return all;
}

class ModelTest : public EachDataPath {
 protected:
  void RunSeed(uint64_t seed, int steps) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Side mount{Path("s" + std::to_string(seed))};
    Side plain{work_ + "/s" + std::to_string(seed)};
    ASSERT_EQ(mkdir(mount.root.c_str(), 0755), 0);
    ASSERT_EQ(mkdir(plain.root.c_str(), 0755), 0);
    Model model(seed);
    std::string history;
    for (int i = 0; i < steps; ++i) {
      const Step step = model.Next();
      const std::string want = step.run(plain);
      history += step.text + " -> " + want + "\n";
      ASSERT_EQ(step.run(mount), want) << history;
      if (i % 20 == 0) {
        ASSERT_EQ(Picture(mount), Picture(plain)) << history;
      }
    }
    for (Side* side : {&mount, &plain}) {
      for (const auto& [slot, fd] : side->open) EXPECT_EQ(close(fd), 0);
      side->open.clear();
    }
    EXPECT_EQ(Picture(mount), Picture(plain)) << history;
    std::filesystem::remove_all(mount.root);
  }
};

TEST_P(ModelTest, RandomOperationsEqualAnOrdinaryDirectory) {
  for (const uint64_t seed : Seeds(kSeeds)) {
    RunSeed(seed, kSteps);
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Mount, ModelTest, ::testing::Values("auto", "off"),
                         [](const auto& path) { return std::string(path.param); });

}  // namespace
}  // namespace mooncake::testing
