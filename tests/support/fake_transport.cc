#include "tests/support/fake_transport.h"

#include <set>
#include <utility>
#include <vector>

#include "transfer/base/check.h"
#include "transfer/transport/memcpy/memcpy_transport.h"

namespace mooncake::testing {

struct FakeTransport::State {
  mutable Mutex mutex;
  std::map<PeerAddress, Status> connect_faults MC_GUARDED_BY(mutex);
  std::map<PeerAddress, Status> peer_faults MC_GUARDED_BY(mutex);
  std::map<PeerAddress, uint64_t> connects MC_GUARDED_BY(mutex);
  std::set<PeerAddress> nodes MC_GUARDED_BY(mutex);
  SliceHook hook MC_GUARDED_BY(mutex);
  std::map<const std::byte*, size_t> registered MC_GUARDED_BY(mutex);
  uint64_t generation MC_GUARDED_BY(mutex) = 0;
  uint64_t slices MC_GUARDED_BY(mutex) = 0;
  uint64_t batches MC_GUARDED_BY(mutex) = 0;
  uint64_t fences MC_GUARDED_BY(mutex) = 0;
};

namespace {

using State = FakeTransport::State;

Status FaultOf(const std::map<PeerAddress, Status>& faults, const PeerAddress& peer) {
  const auto found = faults.find(peer);
  return found == faults.end() ? Status::Ok() : found->second;
}

class FakeConnection final : public Connection {
 public:
  FakeConnection(PeerAddress peer, std::shared_ptr<Connection> real, std::shared_ptr<State> state,
                 uint64_t generation)
      : peer_(std::move(peer)),
        real_(std::move(real)),
        state_(std::move(state)),
        generation_(generation) {}

  void Execute(std::span<Slice> slices, TimePoint deadline) override {
    FakeTransport::SliceHook hook;
    {
      MutexLock lock(state_->mutex);
      state_->slices += slices.size();
      ++state_->batches;
      hook = state_->hook;
    }
    for (Slice& slice : slices) {
      FakeFault fault{.status = Broken()};
      if (fault.status.ok() && hook) fault = hook(peer_, slice);
      if (fault.status.ok() || fault.move_first) real_->Execute({&slice, 1}, deadline);
      if (!fault.status.ok()) slice.status = fault.status;
    }
  }

  Result<ByteSpan> View(const SegmentId& segment, AccessEpoch epoch, uint64_t offset,
                        uint64_t length) override {
    RETURN_IF_ERROR(Broken());
    return real_->View(segment, epoch, offset, length);
  }

  Status Fence(const SegmentId& segment, PutId put_id, TimePoint deadline) override {
    {
      MutexLock lock(state_->mutex);
      ++state_->fences;
    }
    RETURN_IF_ERROR(Broken());
    return real_->Fence(segment, put_id, deadline);
  }

  Status Supersede(const SegmentId& segment, AccessEpoch epoch, uint64_t seal_offset, PutId put_id,
                   TimePoint deadline) override {
    RETURN_IF_ERROR(Broken());
    return real_->Supersede(segment, epoch, seal_offset, put_id, deadline);
  }

  bool healthy() const override {
    MutexLock lock(state_->mutex);
    return generation_ == state_->generation && real_->healthy();
  }

 private:
  Status Broken() const {
    MutexLock lock(state_->mutex);
    if (generation_ != state_->generation)
      return Status(ErrorCode::kTransferFail, "fake: connection broken");
    return FaultOf(state_->peer_faults, peer_);
  }

  const PeerAddress peer_;
  const std::shared_ptr<Connection> real_;
  const std::shared_ptr<State> state_;
  const uint64_t generation_;
};

}  // namespace

FakeTransport::FakeTransport(const Clock& clock, std::string name,
                             TransportCapabilities capabilities)
    : name_(std::move(name)),
      capabilities_(capabilities),
      directory_(std::make_shared<InProcessDirectory>()),
      real_(MakeMemcpyTransport(directory_, clock)),
      state_(std::make_shared<State>()) {}

void FakeTransport::AddNode(const PeerAddress& peer, ServedSegments& segments) {
  MC_CHECK_OK(directory_->Publish(peer, segments));
  MutexLock lock(state_->mutex);
  state_->nodes.insert(peer);
}

void FakeTransport::RemoveNode(const PeerAddress& peer) { directory_->Withdraw(peer); }

void FakeTransport::SetConnectFault(const PeerAddress& peer, Status status) {
  MutexLock lock(state_->mutex);
  state_->connect_faults[peer] = std::move(status);
}

void FakeTransport::SetPeerFault(const PeerAddress& peer, Status status) {
  MutexLock lock(state_->mutex);
  state_->peer_faults[peer] = std::move(status);
}

void FakeTransport::SetSliceHook(SliceHook hook) {
  MutexLock lock(state_->mutex);
  state_->hook = std::move(hook);
}

void FakeTransport::BreakConnections() {
  MutexLock lock(state_->mutex);
  ++state_->generation;
}

uint64_t FakeTransport::connects(const PeerAddress& peer) const {
  MutexLock lock(state_->mutex);
  const auto found = state_->connects.find(peer);
  return found == state_->connects.end() ? 0 : found->second;
}

uint64_t FakeTransport::slices() const {
  MutexLock lock(state_->mutex);
  return state_->slices;
}

uint64_t FakeTransport::batches() const {
  MutexLock lock(state_->mutex);
  return state_->batches;
}

uint64_t FakeTransport::fences() const {
  MutexLock lock(state_->mutex);
  return state_->fences;
}

bool FakeTransport::CanReach(const PeerAddress& peer) const {
  MutexLock lock(state_->mutex);
  return state_->nodes.count(peer) != 0;
}

Result<std::shared_ptr<Connection>> FakeTransport::Connect(const PeerAddress& peer,
                                                           TimePoint deadline) {
  uint64_t generation = 0;
  {
    MutexLock lock(state_->mutex);
    ++state_->connects[peer];
    generation = state_->generation;
    RETURN_IF_ERROR(FaultOf(state_->connect_faults, peer));
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Connection> real, real_->Connect(peer, deadline));
  return std::shared_ptr<Connection>(
      std::make_shared<FakeConnection>(peer, std::move(real), state_, generation));
}

Status FakeTransport::RegisterMemory(MutableByteSpan memory) {
  MutexLock lock(state_->mutex);
  for (const auto& [start, size] : state_->registered) {
    if (start < memory.data() + memory.size() && memory.data() < start + size) {
      return Status(ErrorCode::kInvalidParams, "fake: overlaps another registration");
    }
  }
  state_->registered[memory.data()] = memory.size();
  return Status::Ok();
}

Status FakeTransport::UnregisterMemory(const std::byte* start) {
  MutexLock lock(state_->mutex);
  if (state_->registered.erase(start) == 1) return Status::Ok();
  return Status(ErrorCode::kInvalidParams, "fake: not registered");
}

}  // namespace mooncake::testing
