#include "transfer/engine/transfer_engine.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "transfer/base/mutex.h"

namespace mooncake {
namespace {

// A batch that was given less time than this and ran into its deadline says nothing about its peer.
constexpr Duration kFairTry = Millis(500);
constexpr Duration kTickEvery = Seconds(1);

bool NobodyAnswered(const Status& status) {
  return status.code() == ErrorCode::kRpcTimeout || status.code() == ErrorCode::kTransferFail;
}

void SettleUnsent(std::span<PeerSlice> slices, const std::vector<uint32_t>& which,
                  const Status& status) {
  for (const uint32_t i : which) {
    slices[i].slice.status = status;
    slices[i].sent = false;
  }
}

}  // namespace

// Relaxed: counts only.
struct TransferEngine::Meter {
  std::atomic<uint64_t> slices_read{0};
  std::atomic<uint64_t> slices_written{0};
  std::atomic<uint64_t> bytes_read{0};
  std::atomic<uint64_t> bytes_written{0};
  std::atomic<uint64_t> bytes_copied{0};
  std::atomic<uint64_t> views{0};
  std::atomic<uint64_t> failures{0};
  std::atomic<uint64_t> retries{0};
};

struct TransferEngine::Group {
  const PeerAddress* peer = nullptr;
  std::vector<uint32_t> slices;
};

Result<std::unique_ptr<TransferEngine>> TransferEngine::Create(
    std::vector<std::unique_ptr<Transport>> transports, std::shared_ptr<Executor> executor,
    const Clock& clock, const TransferEngineOptions& options) {
  if (transports.empty()) return Status(ErrorCode::kInvalidParams, "transfer engine: no transport");
  MC_CHECK(executor != nullptr);
  return std::unique_ptr<TransferEngine>(
      new TransferEngine(std::move(transports), std::move(executor), clock, options));
}

TransferEngine::TransferEngine(std::vector<std::unique_ptr<Transport>> transports,
                               std::shared_ptr<Executor> executor, const Clock& clock,
                               const TransferEngineOptions& options)
    : options_(options),
      clock_(clock),
      transports_(std::move(transports)),
      meters_(std::make_unique<Meter[]>(transports_.size())),
      peers_(transports_, clock, options.peers),
      executor_(std::move(executor)) {}

TransferEngine::~TransferEngine() = default;

std::vector<TransferEngine::Group> TransferEngine::GroupByPeer(std::span<PeerSlice> slices) const {
  std::vector<Group> groups;
  const PeerAddress* last = nullptr;
  size_t last_group = 0;
  std::map<PeerAddress, size_t> by_address;  // used from the second peer on
  for (uint32_t i = 0; i < slices.size(); ++i) {
    const PeerAddress* peer = slices[i].peer;
    if (peer != last) {
      const auto [place, added] = by_address.try_emplace(*peer, groups.size());
      if (added) groups.push_back({.peer = peer, .slices = {}});
      last = peer;
      last_group = place->second;
    }
    groups[last_group].slices.push_back(i);
  }
  for (Group& group : groups) {
    std::stable_partition(group.slices.begin(), group.slices.end(), [&](uint32_t i) {
      return slices[i].slice.length() <= options_.small_bytes;
    });
  }
  return groups;
}

void TransferEngine::Execute(std::span<PeerSlice> slices, TimePoint deadline) {
  if (slices.empty()) return;
  TickIfDue();
  std::vector<Group> groups = GroupByPeer(slices);
  if (groups.size() == 1) return RunGroup(slices, groups.front(), deadline);
  RunInParallel(slices, std::move(groups), deadline);
}

void TransferEngine::RunInParallel(std::span<PeerSlice> slices, std::vector<Group> groups,
                                   TimePoint deadline) {
  // Shared with the pool, whose tasks may start after this call has ended and then find nothing left to claim. So no
  // group waits for a pool that is busy with somebody else's slow peer: this thread claims what the pool does not.
  struct Shared {
    Mutex mutex;
    CondVar done;
    size_t next MC_GUARDED_BY(mutex) = 0;
    size_t running MC_GUARDED_BY(mutex) = 0;
  };
  auto shared = std::make_shared<Shared>();
  const size_t count = groups.size();
  // `groups` and `slices` are touched only by those who claimed a group, and they are waited for.
  const auto work = [this, shared, count, slices, deadline, list = groups.data()] {
    while (true) {
      size_t mine = 0;
      {
        MutexLock lock(shared->mutex);
        if (shared->next == count) return;
        mine = shared->next++;
        ++shared->running;
      }
      RunGroup(slices, list[mine], deadline);
      MutexLock lock(shared->mutex);
      --shared->running;
      shared->done.NotifyAll();
    }
  };
  for (size_t i = 1; i < count; ++i) executor_->Run(work);
  work();
  MutexLock lock(shared->mutex);
  while (shared->running > 0) shared->done.Wait(shared->mutex);
}

void TransferEngine::RunGroup(std::span<PeerSlice> slices, const Group& group, TimePoint deadline) {
  const TimePoint started = clock_.Now();
  const Result<PeerPath> path = peers_.Get(*group.peer, deadline);
  if (!path.ok()) return SettleUnsent(slices, group.slices, path.status());
  // Connections take contiguous slices.
  std::vector<Slice> batch;
  batch.reserve(group.slices.size());
  for (const uint32_t i : group.slices) batch.push_back(std::move(slices[i].slice));
  ExecuteOn(*path, batch, deadline);
  RetryReads(*group.peer, *path, batch, deadline);
  bool answered = false;
  for (const Slice& slice : batch) answered = answered || !NobodyAnswered(slice.status);
  if (answered) {
    peers_.OnAnswer(*group.peer);
  } else if (batch.front().status.code() == ErrorCode::kTransferFail ||
             clock_.Now() - started >= kFairTry) {
    peers_.OnSilence(*group.peer, batch.front().status);
  }
  for (size_t i = 0; i < batch.size(); ++i) slices[group.slices[i]].slice = std::move(batch[i]);
}

void TransferEngine::ExecuteOn(const PeerPath& path, std::span<Slice> batch, TimePoint deadline) {
  path.connection->Execute(batch, deadline);
  Count(path, batch);
}

void TransferEngine::RetryReads(const PeerAddress& peer, const PeerPath& broken,
                                std::span<Slice> batch, TimePoint deadline) {
  std::vector<size_t> again;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].op == SliceOp::kRead && batch[i].status.code() == ErrorCode::kTransferFail)
      again.push_back(i);
  }
  if (again.empty()) return;
  peers_.Forget(peer, broken);
  // The connection has redialled already; what is left is the next transport.
  if (peers_.Nearest(peer, broken.transport + 1) == transports_.size()) return;
  const Result<PeerPath> path = peers_.Get(peer, deadline, broken.transport + 1);
  if (!path.ok()) return;
  std::vector<Slice> retry;
  for (const size_t i : again) retry.push_back(batch[i]);
  meters_[path->transport].retries.fetch_add(retry.size(), std::memory_order_relaxed);
  ExecuteOn(*path, retry, deadline);
  for (size_t i = 0; i < again.size(); ++i) batch[again[i]].status = std::move(retry[i].status);
}

void TransferEngine::Count(const PeerPath& path, std::span<const Slice> batch) {
  uint64_t slices[2] = {};
  uint64_t bytes[2] = {};
  uint64_t failures = 0;
  for (const Slice& slice : batch) {
    if (!slice.status.ok()) {
      ++failures;
      continue;
    }
    const size_t op = slice.op == SliceOp::kRead ? 0 : 1;
    ++slices[op];
    bytes[op] += slice.length();
  }
  const TransportCapabilities able = transports_[path.transport]->capabilities();
  // Where memory is seen in place, reads are our memcpy; writes too if it is our own process.
  const uint64_t copied = (able.views ? bytes[0] : 0) + (able.same_process_only ? bytes[1] : 0);
  Meter& meter = meters_[path.transport];
  const auto add = [](std::atomic<uint64_t>& to, uint64_t n) {
    if (n != 0) to.fetch_add(n, std::memory_order_relaxed);
  };
  add(meter.slices_read, slices[0]);
  add(meter.slices_written, slices[1]);
  add(meter.bytes_read, bytes[0]);
  add(meter.bytes_written, bytes[1]);
  add(meter.bytes_copied, copied);
  add(meter.failures, failures);
}

Result<ByteSpan> TransferEngine::View(const PeerAddress& peer, const SegmentId& segment,
                                      AccessEpoch epoch, uint64_t offset, uint64_t length,
                                      TimePoint deadline) {
  TickIfDue();
  const size_t nearest = peers_.Nearest(peer);
  if (nearest == transports_.size() || !transports_[nearest]->capabilities().views) {
    return Status(ErrorCode::kNotSupported,
                  "the memory of peer '" + peer.endpoint + "' cannot be seen from here");
  }
  ASSIGN_OR_RETURN(const PeerPath path, peers_.Get(peer, deadline));
  Result<ByteSpan> view = path.connection->View(segment, epoch, offset, length);
  if (view.ok()) {
    peers_.KeepForViews(peer, path);
    meters_[path.transport].views.fetch_add(1, std::memory_order_relaxed);
  }
  return view;
}

Status TransferEngine::Fence(const PeerAddress& peer, const SegmentId& segment, PutId put_id,
                             TimePoint deadline) {
  ASSIGN_OR_RETURN(const PeerPath path, peers_.Get(peer, deadline, 0, PeerTable::Backoff::kAnyway));
  const Status status = path.connection->Fence(segment, put_id, deadline);
  if (!NobodyAnswered(status)) peers_.OnAnswer(peer);
  return status;
}

Status TransferEngine::Supersede(const PeerAddress& peer, const SegmentId& segment,
                                 AccessEpoch epoch, uint64_t seal_offset, PutId put_id,
                                 TimePoint deadline) {
  ASSIGN_OR_RETURN(const PeerPath path, peers_.Get(peer, deadline));
  return path.connection->Supersede(segment, epoch, seal_offset, put_id, deadline);
}

PeerLocality TransferEngine::LocalityOf(const PeerAddress& peer) const {
  const size_t nearest = peers_.Nearest(peer);
  if (nearest == transports_.size()) return PeerLocality::kRemote;
  const TransportCapabilities able = transports_[nearest]->capabilities();
  if (able.same_process_only) return PeerLocality::kSameProcess;
  return able.same_host_only ? PeerLocality::kSameHost : PeerLocality::kRemote;
}

Status TransferEngine::RegisterMemory(MutableByteSpan memory) {
  for (size_t i = 0; i < transports_.size(); ++i) {
    const Status status = transports_[i]->RegisterMemory(memory);
    if (status.ok()) continue;
    while (i-- > 0)
      transports_[i]->UnregisterMemory(memory.data()).Ignore("undoing; the first failure is told");
    return status;
  }
  return Status::Ok();
}

Status TransferEngine::UnregisterMemory(const std::byte* start) {
  Status first;
  for (const auto& transport : transports_) {
    const Status status = transport->UnregisterMemory(start);
    if (first.ok()) first = status;
  }
  return first;
}

void TransferEngine::TickIfDue() {
  const int64_t now = clock_.Now().time_since_epoch().count();
  int64_t due = next_tick_.load(std::memory_order_relaxed);
  if (now < due) return;
  if (next_tick_.compare_exchange_strong(due, now + kTickEvery.count(), std::memory_order_relaxed))
    Tick();
}

void TransferEngine::Tick() { peers_.Prune(); }

TransferCounters TransferEngine::counters() const {
  TransferCounters out;
  const auto load = [](const std::atomic<uint64_t>& n) {
    return n.load(std::memory_order_relaxed);
  };
  for (size_t i = 0; i < transports_.size(); ++i) {
    const Meter& meter = meters_[i];
    out.transports.push_back({.name = std::string(transports_[i]->name()),
                              .slices_read = load(meter.slices_read),
                              .slices_written = load(meter.slices_written),
                              .bytes_read = load(meter.bytes_read),
                              .bytes_written = load(meter.bytes_written),
                              .bytes_copied = load(meter.bytes_copied),
                              .views = load(meter.views),
                              .failures = load(meter.failures),
                              .retries = load(meter.retries),
                              .connects = peers_.connects(i)});
  }
  out.refused_fast = peers_.refused_fast();
  return out;
}

}  // namespace mooncake
