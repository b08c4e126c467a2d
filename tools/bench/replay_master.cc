#include "tools/bench/replay_master.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "master/server/master_service.h"
#include "transfer/base/check.h"
#include "transfer/base/manual_clock.h"

namespace mooncake::bench {
namespace {

constexpr uint64_t kBlockBytes = 4096 - 64;  // and its seal
constexpr uint64_t kFootprint = 4096;
constexpr ClientId kClient{1, 2};

class Replay {
 public:
  Replay(size_t capacity, core::EvictionPolicyKind policy) {
    auto service = MasterService::Create(Options(policy), clock_);
    MC_CHECK_OK(service.status());
    master_ = std::move(service).value();
    SegmentDescriptor segment;
    segment.id = {1, 1};
    segment.name = "segment";
    segment.size = capacity * kFootprint;
    segment.epoch = {1};
    segment.owner = kClient;
    MC_CHECK_OK(master_->MountSegment(kClient, segment, kNever));
  }

  uint64_t Request(const std::vector<ObjectName>& chain) {
    std::vector<PutStartArgs> missing;
    const auto found = master_->BatchGetReplicaList(chain, kNever);
    for (size_t i = 0; i < chain.size(); ++i) {
      if (!found[i].ok())
        missing.push_back({.client = kClient, .name = chain[i], .size = kBlockBytes});
    }
    clock_.Advance(chain.size() * std::chrono::microseconds(1));
    std::vector<PutEndArgs> written;
    const auto started = master_->BatchPutStart(missing, kNever);
    for (size_t i = 0; i < missing.size(); ++i) {
      if (started[i].ok())  // or else the chain is longer than the cache
        written.push_back({kClient, missing[i].name, started[i]->put_id, std::nullopt});
    }
    for (const Status& status : master_->BatchPutEnd(written, kNever)) MC_CHECK_OK(status);
    clock_.Advance(written.size() * std::chrono::microseconds(1));
    master_->Tick();
    return chain.size() - missing.size();
  }

 private:
  static MasterServiceOptions Options(core::EvictionPolicyKind policy) {
    MasterServiceOptions options;
    options.core.eviction_policy = policy;
    options.core.eviction_high_watermark = 1.0;  // only for a put without room
    options.core.segment_high_watermark = 1.0;
    options.core.eviction_ratio = 0;
    options.core.lease_ttl = Duration(1);
    options.core.client_ttl = Seconds(1'000'000'000);
    options.term = Term{1};
    options.seed = 1;
    options.background = false;
    return options;
  }

  ManualClock clock_;
  std::unique_ptr<MasterService> master_;
};

}  // namespace

uint64_t ReplayHitsInMaster(const Trace& trace, size_t capacity, core::EvictionPolicyKind policy) {
  Replay replay(capacity, policy);
  uint64_t hits = 0;
  size_t start = 0;
  std::vector<ObjectName> chain;
  for (const size_t end : trace.chain_ends) {
    chain.clear();
    for (; start < end; ++start)
      chain.push_back({kDefaultTenant, "block/" + std::to_string(trace.uses[start])});
    hits += replay.Request(chain);
  }
  return hits;
}

std::optional<core::EvictionPolicyKind> ParseMasterPolicy(std::string_view name) {
  constexpr std::string_view kPrefix = "master:";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return core::ParseEvictionPolicy(name.substr(kPrefix.size()));
}

}  // namespace mooncake::bench
