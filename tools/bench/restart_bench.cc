#include "tools/bench/restart_bench.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "master/ha/rocksdb_state_store.h"
#include "master/server/master_service.h"
#include "tools/bench/samples.h"
#include "transfer/base/units.h"

namespace mooncake::bench {
namespace {

constexpr ClientId kNode{3, 4};
constexpr uint64_t kBenchedBytes = kMiB;
constexpr uint64_t kKeysInACall = 1000;
constexpr int kTurns = 3;  // undisturbed and during a snapshot by turns

std::string RestartKey(uint64_t i) { return "bench/object/" + std::to_string(i); }
double Ms(Duration time) { return static_cast<double>(time.count()) / 1e6; }

class Folder {
 public:
  static Result<Folder> Create(const std::string& dir) {
    std::string name = dir + "/mooncake-bench-XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
      return Status(ErrorCode::kInvalidParams, "--dir: cannot make a folder in " + dir);
    return Folder(name);
  }
  Folder(Folder&&) = default;
  ~Folder() {
    std::error_code ignored;
    if (path_ != nullptr) std::filesystem::remove_all(*path_, ignored);
  }
  const std::string& path() const { return *path_; }

 private:
  explicit Folder(std::string path) : path_(std::make_unique<std::string>(std::move(path))) {}
  std::unique_ptr<std::string> path_;
};

// A durable master, and a node that lives on over its restarts and holds no bytes.
class Bench {
 public:
  Bench(const RestartBenchOptions& options, const Clock& clock, std::string folder)
      : options_(options), clock_(clock), folder_(std::move(folder)) {}

  Result<std::vector<Fact>> Run() {
    RETURN_IF_ERROR(Start());
    RETURN_IF_ERROR(Fill());
    RETURN_IF_ERROR(Restart("log", "the log alone"));
    RETURN_IF_ERROR(Disturb());
    RETURN_IF_ERROR(Restart("snapshot", "the snapshot"));
    return std::move(facts_);
  }

 private:
  TimePoint Deadline() const { return clock_.Now() + Seconds(600); }
  void Tell(std::string name, std::string label, double value) {
    facts_.push_back({std::move(name), std::move(label), value});
  }

  Status Start() {
    ASSIGN_OR_RETURN(auto store, OpenRocksDbStateStore(folder_ + "/state"));
    MasterServiceOptions options;
    options.core.durability = core::Durability::kAsync;
    options.core.client_ttl = Seconds(86400);
    ASSIGN_OR_RETURN(service_, MasterService::Create(options, clock_, std::move(store)));
    SegmentDescriptor segment;
    segment.id = {1, 2};
    segment.name = "bench";
    segment.size = 64 * kTiB;
    segment.epoch = {++epoch_};
    segment.owner = kNode;
    segment.protocol = "tcp";
    segment.endpoint = "127.0.0.1:1";
    RETURN_IF_ERROR(service_->ReMountSegments(kNode, {&segment, 1}, 0, Deadline()));
    for (;;) {  // until the mount is in the log
      ASSIGN_OR_RETURN(const auto segments, service_->GetSegments({}, Deadline()));
      if (segments[0].status == SegmentStatus::kOk) return Status::Ok();
      std::this_thread::yield();
    }
  }

  Status Fill() {
    const TimePoint begun = clock_.Now();
    for (uint64_t i = 0; i < options_.objects; i += kKeysInACall) {
      std::vector<PutStartArgs> starts;
      for (uint64_t k = i; k < std::min(options_.objects, i + kKeysInACall); ++k)
        starts.push_back({kNode, {kDefaultTenant, RestartKey(k)}, kBenchedBytes});
      const auto started = service_->BatchPutStart(starts, Deadline());
      std::vector<PutEndArgs> ends;
      for (size_t k = 0; k < started.size(); ++k) {
        RETURN_IF_ERROR(started[k].status());
        ends.push_back({kNode, starts[k].name, started[k]->put_id, std::nullopt});
      }
      for (const Status& ended : service_->BatchPutEnd(ends, Deadline())) RETURN_IF_ERROR(ended);
    }
    const Duration took = clock_.Now() - begun;
    Tell("fill_per_second", "puts a second while the log is written",
         PerSecond(options_.objects, took));
    return Status::Ok();
  }

  // Waits of single Exist calls until `ended`.
  template <typename Ended>
  Status Ask(Samples& waits, Ended&& ended) {
    for (uint64_t i = 0; !ended(); ++i) {
      const ObjectName name{kDefaultTenant, RestartKey(i * 7919 % options_.objects)};
      const TimePoint before = clock_.Now();
      const auto there = service_->BatchExistKey({&name, 1}, false, Deadline());
      waits.Add(clock_.Now() - before);
      RETURN_IF_ERROR(there[0].status());
      if (!*there[0]) return {ErrorCode::kInternal, "object " + name.key + " is lost"};
    }
    return Status::Ok();
  }

  Status Disturb() {
    Samples calm;
    Samples disturbed;
    Samples snapshots;
    for (int turn = 0; turn < kTurns; ++turn) {
      const TimePoint end = clock_.Now() + options_.time / kTurns;
      RETURN_IF_ERROR(Ask(calm, [&] { return clock_.Now() >= end; }));
      std::atomic<bool> taken = false;
      Status status;
      const TimePoint begun = clock_.Now();
      std::thread taker([&] {
        status = service_->TakeSnapshot(Deadline()).status();
        snapshots.Add(clock_.Now() - begun);
        taken = true;
      });
      const Status asked = Ask(disturbed, [&] { return taken.load(); });
      taker.join();
      RETURN_IF_ERROR(status);
      RETURN_IF_ERROR(asked);
    }
    Tell("snapshot_ms", "ms for a snapshot, read back; goal 10,000", Ms(snapshots.Median()));
    for (const auto& [name, share] : {std::pair("p50", 0.5), {"p99", 0.99}, {"p999", 0.999}}) {
      Tell("exist_calm_" + std::string(name) + "_ms",
           "ms of Exist, undisturbed, " + std::string(name), Ms(calm.Percentile(share)));
      Tell("exist_snapshot_" + std::string(name) + "_ms",
           "ms of Exist during a snapshot, " + std::string(name), Ms(disturbed.Percentile(share)));
    }
    const Duration added = disturbed.Percentile(1) - calm.Percentile(1);
    Tell("exist_calm_max_ms", "ms of Exist, undisturbed, longest", Ms(calm.Percentile(1)));
    Tell("exist_snapshot_max_ms", "ms of Exist during a snapshot, longest",
         Ms(disturbed.Percentile(1)));
    Tell("stall_added_ms", "ms that a snapshot adds to the longest wait; goal 10", Ms(added));
    return Status::Ok();
  }

  Status Restart(const std::string& name, const std::string& what) {
    service_.reset();
    const TimePoint begun = clock_.Now();
    RETURN_IF_ERROR(Start());
    const ObjectName first{kDefaultTenant, RestartKey(0)};
    RETURN_IF_ERROR(service_->BatchGetReplicaList({&first, 1}, Deadline())[0].status());
    Tell("restart_" + name + "_ms", "ms from start to the first Get, from " + what + "; goal 3,000",
         Ms(clock_.Now() - begun));
    if (service_->restored()->state.versions != options_.objects)
      return {ErrorCode::kInternal, std::to_string(service_->restored()->state.versions) + " of " +
                                        std::to_string(options_.objects) + " objects came back"};
    for (uint64_t i = 0; i < options_.objects; i += kKeysInACall) {
      std::vector<ObjectName> names;
      for (uint64_t k = i; k < std::min(options_.objects, i + kKeysInACall); ++k)
        names.push_back({kDefaultTenant, RestartKey(k)});
      for (const auto& list : service_->BatchGetReplicaList(names, Deadline()))
        RETURN_IF_ERROR(list.status());
    }
    return Status::Ok();
  }

  const RestartBenchOptions options_;
  const Clock& clock_;
  const std::string folder_;
  uint64_t epoch_ = 0;
  std::unique_ptr<MasterService> service_;
  std::vector<Fact> facts_;
};

}  // namespace

Result<std::vector<Fact>> BenchRestart(const RestartBenchOptions& options, const Clock& clock) {
  ASSIGN_OR_RETURN(const Folder folder, Folder::Create(options.dir));
  return Bench(options, clock, folder.path()).Run();
}

}  // namespace mooncake::bench
