#include "tests/support/cluster_process.h"

#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "master/api/master_api.h"
#include "tests/support/wait.h"
#include "transfer/base/check.h"
#include "transfer/base/clock.h"
#include "transfer/base/crc32c.h"
#include "transfer/base/rng.h"

namespace mooncake::testing {
namespace {

bool IsMounted(const SegmentInfo& segment) { return segment.status == SegmentStatus::kOk; }

// Debug and sanitizer builds on a busy machine are slow to start.
constexpr Duration kStartLimit = Seconds(30);

std::string Ready(Process& process) {
  auto line = process.WaitForLine("ready ", kStartLimit);
  MC_CHECK(line.ok()) << line.message();
  return *line;
}

struct Stamp {
  uint64_t version = 0;
  uint64_t size = 0;
  uint32_t key_crc = 0;
  uint32_t body_crc = 0;
};

}  // namespace

MountProcess::MountProcess(std::string folder, ProcessOptions options)
    : folder_(std::move(folder)), process_(std::move(options)) {}

MountProcess::~MountProcess() {
  if (!folder_.empty()) ::umount2(folder_.c_str(), MNT_DETACH);
}

std::string MountProcess::rpc_address() const {
  constexpr char kMark[] = "RPC at ";
  const std::string text = process_.Errors() + process_.Output();
  const size_t at = text.find(kMark);
  if (at == std::string::npos) return "";
  const size_t start = at + std::strlen(kMark);
  return text.substr(start, text.find_first_of(" \n,;", start) - start);
}

std::optional<Ended> MountProcess::Unmount() {
  const RunResult run = Run({.command = {"/bin/umount", folder_}});
  MC_CHECK(run.ended.ok()) << "umount " << folder_ << ": " << run.err;
  return process_.Wait();
}

ClusterProcess::ClusterProcess(MasterSpec spec) : spec_(std::move(spec)) { StartMaster(); }

void ClusterProcess::StartMaster() {
  const std::string port = address_.empty() ? "0" : address_.substr(address_.rfind(':') + 1);
  ProcessOptions options;
  options.command = {ProgramPath("mooncake-master"), "--rpc_address=" + spec_.host,
                     "--rpc_port=" + port, "--metrics_port=0"};
  options.command.insert(options.command.end(), spec_.flags.begin(), spec_.flags.end());
  options.net_namespace = spec_.net_namespace;
  master_.reset();
  master_ = std::make_unique<Process>(std::move(options));
  address_ = Field(Ready(*master_), "rpc_address");
  MC_CHECK(!address_.empty()) << "no rpc_address in the ready line: " << master_->Errors();
}

void ClusterProcess::RestartMaster() {
  master_->Kill();
  StartMaster();
}

Process& ClusterProcess::StartNode(const NodeSpec& spec) {
  std::erase_if(nodes_, [&](const Node& node) { return node.name == spec.name; });
  ProcessOptions options;
  options.command = {ProgramPath("mooncake-storenode"),
                     "--master=" + address_,
                     "--name=" + spec.name,
                     "--segment_size=" + std::to_string(spec.size),
                     "--protocol=" + spec.protocol,
                     "--listen=" + spec.listen_host + ":0"};
  options.command.insert(options.command.end(), spec.flags.begin(), spec.flags.end());
  options.net_namespace = spec.net_namespace;
  Node node{.name = spec.name,
            .ready_line = "",
            .process = std::make_unique<Process>(std::move(options))};
  node.ready_line = Ready(*node.process);
  nodes_.push_back(std::move(node));
  return *nodes_.back().process;
}

Process& ClusterProcess::node(const std::string& name) {
  const auto found = std::ranges::find(nodes_, name, &Node::name);
  MC_CHECK(found != nodes_.end()) << "no node " << name;
  return *found->process;
}

const std::string& ClusterProcess::node_line(const std::string& name) const {
  const auto found = std::ranges::find(nodes_, name, &Node::name);
  MC_CHECK(found != nodes_.end()) << "no node " << name;
  return found->ready_line;
}

std::unique_ptr<MountProcess> ClusterProcess::Mount(const MountSpec& spec) {
  std::error_code dead_mount;  // is a folder too, to whoever mounts over it
  std::filesystem::create_directories(spec.folder, dead_mount);
  std::string options = spec.embedded ? "nohuge" : "nohuge,master=" + address_;
  for (const std::string& option : spec.options) options += "," + option;
  ProcessOptions process;
  process.command = {ProgramPath("mount.mooncake"), spec.folder, "-f", "-o", options};
  process.net_namespace = spec.net_namespace;
  auto mount = std::make_unique<MountProcess>(spec.folder, std::move(process));
  const auto ready = mount->process().WaitForLine("ready ", kStartLimit);
  MC_CHECK(ready.ok()) << ready.message();
  return mount;
}

std::unique_ptr<Client> ClusterProcess::Connect(ClientOptions options) {
  options.master = address_;
  auto client = Client::Connect(options);
  MC_CHECK(client.ok()) << client.message();
  return std::move(*client);
}

RunResult ClusterProcess::Admin(std::vector<std::string> arguments, const std::string& input) {
  ProcessOptions options;
  options.command = {ProgramPath("mooncake-admin"), "--master=" + address_};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  options.input = input;
  options.net_namespace = spec_.net_namespace;
  return Run(std::move(options));
}

bool ClusterProcess::WaitForSegments(size_t count, Duration limit) {
  auto client = Connect();
  return Eventually(
      [&] {
        const auto segments = client->master().GetSegments({}, SystemClock().Now() + Seconds(5));
        return segments.ok() && std::count_if(segments->begin(), segments->end(), IsMounted) ==
                                    static_cast<std::ptrdiff_t>(count);
      },
      limit);
}

bool ClusterProcess::WaitForService(Duration limit) {
  auto client = Connect();
  return Eventually(
      [&] {
        std::string value;
        PutOptions replace;
        replace.mode = WriteMode::kReplace;
        return client->Put("wait-for-service", AsBytes("x"), replace).ok() &&
               client->Get("wait-for-service", &value).ok() &&
               client->Remove("wait-for-service", true).ok();
      },
      limit);
}

std::string ValueFor(const std::string& key, uint64_t version, size_t size) {
  std::string value(std::max(size, sizeof(Stamp)), '\0');
  Rng rng(version * 0x9e3779b97f4a7c15 + Crc32c(AsBytes(key)));
  for (size_t i = sizeof(Stamp); i < value.size(); i += sizeof(uint64_t)) {
    const uint64_t word = rng.Next();
    std::memcpy(value.data() + i, &word, std::min(sizeof(word), value.size() - i));
  }
  Stamp stamp{
      .version = version, .size = value.size(), .key_crc = Crc32c(AsBytes(key)), .body_crc = 0};
  stamp.body_crc = Crc32c(AsBytes(std::string_view(value).substr(sizeof(Stamp))));
  std::memcpy(value.data(), &stamp, sizeof(stamp));
  return value;
}

std::optional<uint64_t> VersionOf(const std::string& key, const std::string& value) {
  Stamp stamp;
  if (value.size() < sizeof(stamp)) return std::nullopt;
  std::memcpy(&stamp, value.data(), sizeof(stamp));
  const bool right =
      stamp.size == value.size() && stamp.key_crc == Crc32c(AsBytes(key)) &&
      stamp.body_crc == Crc32c(AsBytes(std::string_view(value).substr(sizeof(stamp))));
  return right ? std::optional(stamp.version) : std::nullopt;
}

}  // namespace mooncake::testing
