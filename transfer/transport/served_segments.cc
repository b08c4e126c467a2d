// No lock of this file is taken while another is held.
#include "transfer/transport/served_segments.h"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transfer/base/seal.h"

namespace mooncake {
namespace internal {

// One running access, in the list of its segment.
struct AccessNode {
  AccessNode* previous = nullptr;
  AccessNode* next = nullptr;
  uint64_t offset = 0;
  uint64_t length = 0;
  PutId put_id;
  bool write = false;
  TimePoint deadline = kNever;
  std::shared_ptr<CutTarget> target;
  std::atomic<bool> cut{false};  // set by who cuts, polled by who copies; orders nothing
};

struct ServedState {
  explicit ServedState(const ServedSegment& s) : segment(s), epoch(s.epoch) {}

  // Cuts every access that `wanted` picks; the targets are returned, to be cut without the lock.
  template <typename Wanted>
  std::vector<std::shared_ptr<CutTarget>> Mark(const Wanted& wanted) MC_REQUIRES(mutex) {
    std::vector<std::shared_ptr<CutTarget>> targets;
    for (AccessNode* node = first; node != nullptr; node = node->next) {
      if (!wanted(*node)) continue;
      node->cut.store(true, std::memory_order_relaxed);
      if (node->target) targets.push_back(node->target);
    }
    return targets;
  }

  template <typename Wanted>
  bool AnyActive(const Wanted& wanted) const MC_REQUIRES(mutex) {
    for (const AccessNode* node = first; node != nullptr; node = node->next) {
      if (wanted(*node)) return true;
    }
    return false;
  }

  // Cuts what `wanted` picks and waits for its end. False at the deadline.
  template <typename Wanted>
  bool CutAndWait(const Clock& clock, TimePoint deadline, const Wanted& wanted) MC_EXCLUDES(mutex) {
    std::vector<std::shared_ptr<CutTarget>> targets;
    {
      MutexLock lock(mutex);
      targets = Mark(wanted);
    }
    for (const auto& target : targets) target->Cut();
    MutexLock lock(mutex);
    while (AnyActive(wanted)) {
      const Duration left = deadline - clock.Now();
      if (left <= Duration::zero()) return false;
      ended.WaitFor(mutex, std::min<Duration>(left, Millis(50)));
    }
    return true;
  }

  void SetWord(uint64_t value) MC_REQUIRES(mutex) {
    // Release pairs with the acquire loads of shared-memory readers (shm_mapping.cc). The fence keeps the writes that the
    // new epoch will admit behind the word.
    if (segment.epoch_word == nullptr) return;
    segment.epoch_word->store(value, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  const ServedSegment segment;
  Mutex mutex;
  CondVar ended;
  AccessEpoch epoch MC_GUARDED_BY(mutex);
  bool open MC_GUARDED_BY(mutex) = true;  // false while the epoch changes and once removed
  AccessNode* first MC_GUARDED_BY(mutex) = nullptr;
};

}  // namespace internal

using internal::AccessNode;
using internal::ServedState;

namespace {

std::string Name(const SegmentId& id) { return "segment " + id.ToString(); }

Status NotFound(const SegmentId& id) {
  return Status(ErrorCode::kSegmentNotFound, Name(id) + " is not served here");
}

Status CheckRange(const ServedState& state, uint64_t offset, uint64_t length) {
  const uint64_t size = state.segment.memory.size();
  if (offset <= size && length <= size - offset) return Status::Ok();
  return Status(ErrorCode::kInvalidParams, Name(state.segment.id) + ": " + std::to_string(length) +
                                               " bytes at " + std::to_string(offset) +
                                               " are outside its " + std::to_string(size));
}

Status WrongEpoch(const SegmentId& id, AccessEpoch asked, AccessEpoch current, bool open) {
  return Status(ErrorCode::kInvalidVersion, Name(id) + ": epoch " + std::to_string(asked.value) +
                                                " asked, " + (open ? "serving " : "changing to ") +
                                                std::to_string(current.value));
}

}  // namespace

ServedAccess::ServedAccess() = default;
ServedAccess::ServedAccess(ServedAccess&&) noexcept = default;
ServedAccess& ServedAccess::operator=(ServedAccess&& other) noexcept {
  if (this != &other) {
    End();
    state_ = std::move(other.state_);
    node_ = std::move(other.node_);
  }
  return *this;
}
ServedAccess::~ServedAccess() { End(); }

void ServedAccess::End() {
  if (node_ == nullptr) return;
  {
    MutexLock lock(state_->mutex);
    (node_->previous != nullptr ? node_->previous->next : state_->first) = node_->next;
    if (node_->next != nullptr) node_->next->previous = node_->previous;
  }
  state_->ended.NotifyAll();
  node_.reset();
  state_.reset();
}

MutableByteSpan ServedAccess::memory() const {
  return state_->segment.memory.subspan(node_->offset, node_->length);
}
TimePoint ServedAccess::deadline() const { return node_->deadline; }
bool ServedAccess::cut() const { return node_->cut.load(std::memory_order_relaxed); }

const std::shared_ptr<void>& ServedAccess::keep_alive() const { return state_->segment.keep_alive; }

struct ServedSegments::Table {
  std::unordered_map<SegmentId, std::shared_ptr<ServedState>> segments;
};

// Expiry in order of arrival: all fences live equally long.
struct ServedSegments::Fences {
  std::unordered_map<PutId, TimePoint> until;
  std::deque<std::pair<TimePoint, PutId>> order;

  void Expire(TimePoint now) {
    while (!order.empty() && order.front().first <= now) {
      until.erase(order.front().second);
      order.pop_front();
    }
  }
};

ServedSegments::ServedSegments(const Clock& clock, const MasterClockEstimate& master_clock,
                               Options options)
    : clock_(clock),
      master_clock_(master_clock),
      options_(options),
      table_(std::make_unique<Table>()),
      fences_(std::make_unique<Fences>()) {}
ServedSegments::ServedSegments(const Clock& clock, const MasterClockEstimate& master_clock)
    : ServedSegments(clock, master_clock, Options{}) {}
ServedSegments::~ServedSegments() = default;

std::shared_ptr<ServedState> ServedSegments::Find(const SegmentId& id) const {
  ReaderLock lock(table_mutex_);
  const auto found = table_->segments.find(id);
  return found == table_->segments.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<ServedState>> ServedSegments::All() const {
  std::vector<std::shared_ptr<ServedState>> states;
  ReaderLock lock(table_mutex_);
  for (const auto& [id, state] : table_->segments) states.push_back(state);
  return states;
}

Status ServedSegments::Add(const ServedSegment& segment) {
  auto state = std::make_shared<ServedState>(segment);
  {
    MutexLock lock(state->mutex);
    state->SetWord(segment.epoch.value);
  }
  WriterLock lock(table_mutex_);
  if (!table_->segments.emplace(segment.id, std::move(state)).second) {
    return Status(ErrorCode::kSegmentAlreadyExists, Name(segment.id) + " is served already");
  }
  return Status::Ok();
}

Status ServedSegments::SetEpoch(const SegmentId& id, AccessEpoch epoch, TimePoint deadline) {
  const auto state = Find(id);
  if (state == nullptr) return NotFound(id);
  {
    MutexLock lock(state->mutex);
    if (state->open && state->epoch == epoch) return Status::Ok();
    state->open = false;
    state->epoch = epoch;
    state->SetWord(epoch.value);
  }
  if (!state->CutAndWait(clock_, deadline, [](const AccessNode&) { return true; })) {
    return Status(ErrorCode::kRpcTimeout, Name(id) + ": an access of the old epoch has not ended");
  }
  MutexLock lock(state->mutex);
  if (state->epoch == epoch)
    state->open = true;  // else another SetEpoch overtook us and will open it
  return Status::Ok();
}

Status ServedSegments::Remove(const SegmentId& id, TimePoint deadline) {
  std::shared_ptr<ServedState> state;
  {
    WriterLock lock(table_mutex_);
    const auto found = table_->segments.find(id);
    if (found == table_->segments.end()) return NotFound(id);
    state = std::move(found->second);
    table_->segments.erase(found);
  }
  {
    MutexLock lock(state->mutex);
    state->open = false;
    state->epoch = AccessEpoch{0};
    state->SetWord(0);
  }
  if (!state->CutAndWait(clock_, deadline, [](const AccessNode&) { return true; }))
    return Status(ErrorCode::kRpcTimeout, Name(id) + ": an access has not ended");
  return Status::Ok();
}

Status ServedSegments::Fence(PutId put_id, TimePoint deadline) {
  {
    MutexLock lock(fence_mutex_);
    const TimePoint now = clock_.Now();
    fences_->Expire(now);
    if (fences_->until.count(put_id) == 0) {
      if (fences_->order.size() >= options_.max_fences) {
        return Status(ErrorCode::kObjectReplicaBusy,
                      std::to_string(options_.max_fences) + " fences are alive; put " +
                          std::to_string(put_id.value) + " was not fenced");
      }
      const TimePoint until = SaturatingAdd(now, options_.fence_ttl);
      fences_->until.emplace(put_id, until);
      fences_->order.emplace_back(until, put_id);
    }
  }
  for (const auto& state : All()) {
    const bool ended = state->CutAndWait(clock_, deadline, [&](const AccessNode& node) {
      return node.write && node.put_id == put_id;
    });
    if (!ended) {
      return Status(ErrorCode::kRpcTimeout, Name(state->segment.id) + ": a write of put " +
                                                std::to_string(put_id.value) + " has not ended");
    }
  }
  return Status::Ok();
}

Status ServedSegments::Supersede(const SegmentId& id, AccessEpoch epoch, uint64_t seal_offset,
                                 PutId put_id) {
  const auto state = Find(id);
  if (state == nullptr) return NotFound(id);
  RETURN_IF_ERROR(CheckRange(*state, seal_offset, kSealBytes));
  // Under the segment's lock no write can be admitted; with none running over the seal, nobody can put another
  // version's seal there between the comparison and the store.
  MutexLock lock(state->mutex);
  if (!state->open || state->epoch != epoch)
    return WrongEpoch(id, epoch, state->epoch, state->open);
  const bool written = state->AnyActive([&](const AccessNode& node) {
    return node.write && node.offset < seal_offset + kSealBytes &&
           seal_offset < node.offset + node.length;
  });
  if (written) {
    return Status(
        ErrorCode::kReplicaIsGone,
        Name(id) + ": the seal at " + std::to_string(seal_offset) + " is being written anew");
  }
  const std::span<std::byte, kSealBytes> bytes(state->segment.memory.data() + seal_offset,
                                               kSealBytes);
  Seal seal;
  RETURN_IF_ERROR(DecodeSeal(bytes, seal));
  if (seal.put_id != put_id) {
    return Status(ErrorCode::kReplicaIsGone,
                  Name(id) + ": the seal at " + std::to_string(seal_offset) + " names put " +
                      std::to_string(seal.put_id.value) + ", not " + std::to_string(put_id.value));
  }
  // Readers of shared memory look at the byte at any time; they see the old or the new one.
  std::atomic_ref<std::byte>(bytes[kSealFlagOffset]).store(std::byte{1}, std::memory_order_release);
  return Status::Ok();
}

Result<ServedAccess> ServedSegments::Begin(const Range& range, PutId put_id, TimePoint deadline,
                                           bool write, const std::shared_ptr<CutTarget>& target) {
  ServedAccess access;
  access.state_ = Find(range.segment);
  if (access.state_ == nullptr) return NotFound(range.segment);
  ServedState& state = *access.state_;
  RETURN_IF_ERROR(CheckRange(state, range.offset, range.length));
  auto node = std::make_unique<AccessNode>();
  node->offset = range.offset;
  node->length = range.length;
  node->put_id = put_id;
  node->write = write;
  node->deadline = deadline;
  node->target = target;
  MutexLock lock(state.mutex);
  if (!state.open || state.epoch != range.epoch) {
    return WrongEpoch(range.segment, range.epoch, state.epoch, state.open);
  }
  node->next = state.first;
  if (state.first != nullptr) state.first->previous = node.get();
  state.first = node.get();
  access.node_ = std::move(node);
  return access;
}

Result<ServedAccess> ServedSegments::BeginRead(const Range& range,
                                               const std::shared_ptr<CutTarget>& target) {
  return Begin(range, kNoPut, kNever, /*write=*/false, target);
}

Result<ServedAccess> ServedSegments::BeginExport(const SegmentId& id, AccessEpoch epoch,
                                                 const std::shared_ptr<CutTarget>& target) {
  const auto state = Find(id);
  if (state == nullptr) return NotFound(id);
  return BeginRead({id, epoch, /*offset=*/0, state->segment.memory.size()}, target);
}

bool ServedSegments::CutOverdue(ServedState& state, const Range& range, TimePoint now) {
  bool any = false;
  const auto overdue = [&](const AccessNode& node) {
    const bool found = node.write && node.deadline <= now &&
                       node.offset < range.offset + range.length &&
                       range.offset < node.offset + node.length;
    any |= found;
    return found;
  };
  std::vector<std::shared_ptr<CutTarget>> targets;
  {
    MutexLock lock(state.mutex);
    targets = state.Mark(overdue);
  }
  for (const auto& target : targets) target->Cut();
  return any;
}

Result<ServedAccess> ServedSegments::BeginWrite(const Range& range, const WriteGrant& grant,
                                                const std::shared_ptr<CutTarget>& target) {
  const TimePoint now = clock_.Now();
  ASSIGN_OR_RETURN(const TimePoint grant_end, master_clock_.GrantEnd(grant.deadline_ms, now));
  const TimePoint deadline = std::min(grant_end, SaturatingAdd(now, kMaxWriteDuration));
  ASSIGN_OR_RETURN(ServedAccess access,
                   Begin(range, grant.put_id, deadline, /*write=*/true, target));
  if (CutOverdue(*access.state_, range, now)) {
    return Status(ErrorCode::kObjectReplicaBusy,
                  Name(range.segment) + ": an overdue write of " + std::to_string(range.length) +
                      " bytes at " + std::to_string(range.offset) + " has not ended");
  }
  // After the access is listed: either Fence() finds it there, or it is found fenced here.
  MutexLock lock(fence_mutex_);
  const auto fence = fences_->until.find(grant.put_id);
  if (fence != fences_->until.end() && fence->second > now) {
    return Status(ErrorCode::kInvalidVersion,
                  "write refused: put " + std::to_string(grant.put_id.value) + " was fenced");
  }
  return access;
}

Result<ServedSegments::Region> ServedSegments::OpenRegion(const SegmentId& id) const {
  const auto state = Find(id);
  if (state == nullptr) return NotFound(id);
  if (state->segment.region_fd < 0) {
    return Status(ErrorCode::kNotSupported, Name(id) + " is not in shared memory");
  }
  return Region{state->segment.keep_alive, state->segment.region_fd, state->segment.region_bytes};
}

bool ServedSegments::Has(const SegmentId& id) const { return Find(id) != nullptr; }

size_t ServedSegments::active_accesses() const {
  size_t total = 0;
  for (const auto& state : All()) {
    MutexLock lock(state->mutex);
    for (const AccessNode* node = state->first; node != nullptr; node = node->next) ++total;
  }
  return total;
}

}  // namespace mooncake
