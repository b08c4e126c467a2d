#include "transfer/transport/rdma/exported_segments.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "transfer/base/mutex.h"

namespace mooncake::rdma {

struct ExportedSegments::State {
  mutable Mutex mutex;
  CondVar changed;
  bool stopping MC_GUARDED_BY(mutex) = false;
  std::vector<std::shared_ptr<Export>> exports MC_GUARDED_BY(mutex);
};

struct ExportedSegments::Export final : public CutTarget {
  Export(const Device& with, const SegmentId& of, AccessEpoch in, std::shared_ptr<State> owner)
      : device(with), id(of), epoch(in), state(std::move(owner)) {}

  void Cut() override {
    // Under the lock, so that the thread which looks cannot miss it.
    MutexLock lock(state->mutex);
    cut.store(true, std::memory_order_relaxed);
    state->changed.NotifyAll();
  }

  const Device& device;
  const SegmentId id;
  const AccessEpoch epoch;
  const std::shared_ptr<State> state;
  std::atomic<bool> cut{
      false};          // set under state->mutex; polled between chunks, where it orders nothing
  bool ready = false;  // under state->mutex; the rest is fixed once true
  ServedAccess access;
  std::unique_ptr<RegisteredMemory> memory;
  SegmentKeys keys;  // a copy, which may be read while they are taken back
};

ExportedSegments::ExportedSegments(ServedSegments& segments, uint64_t chunk_bytes)
    : segments_(segments), chunk_bytes_(chunk_bytes), state_(std::make_shared<State>()) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "mc-rdma-keys");
    TakeBackLoop();
  });
}

ExportedSegments::~ExportedSegments() {
  {
    MutexLock lock(state_->mutex);
    state_->stopping = true;
    state_->changed.NotifyAll();
  }
  thread_.join();
}

size_t ExportedSegments::size() const {
  MutexLock lock(state_->mutex);
  return state_->exports.size();
}

Result<SegmentKeys> ExportedSegments::KeysFor(const Device& device, const SegmentId& id,
                                              AccessEpoch epoch) {
  std::shared_ptr<Export> found;
  bool mine = false;
  {
    MutexLock lock(state_->mutex);
    for (;;) {
      const auto at =
          std::find_if(state_->exports.begin(), state_->exports.end(), [&](const auto& e) {
            return &e->device == &device && e->id == id && e->epoch == epoch && !e->cut;
          });
      if (at == state_->exports.end()) {
        found = std::make_shared<Export>(device, id, epoch, state_);
        state_->exports.push_back(found);
        mine = true;
        break;
      }
      found = *at;
      if (found->ready) break;
      state_->changed.Wait(state_->mutex);  // another caller is making it
    }
  }
  if (mine) RETURN_IF_ERROR(Make(*found, found));
  return found->keys;
}

Status ExportedSegments::Make(Export& made, const std::shared_ptr<Export>& self) {
  Status status;
  std::unique_ptr<RegisteredMemory> memory;
  Result<ServedAccess> access = segments_.BeginExport(made.id, made.epoch, self);
  if (access.ok()) {
    const MutableByteSpan bytes = access->memory();
    uint64_t chunk = chunk_bytes_;
    while (bytes.size() / chunk >= kMaxKeys) chunk *= 2;
    auto registered = RegisteredMemory::Create(
        made.device, bytes, chunk,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
        [&] { return !made.cut.load(std::memory_order_relaxed); });
    status = registered.status();
    if (registered.ok()) memory = std::move(registered).value();
  } else {
    status = access.status();
  }
  MutexLock lock(state_->mutex);
  if (status.ok()) {
    made.keys = {.base = reinterpret_cast<uint64_t>(memory->memory().data()),
                 .size = memory->memory().size(),
                 .chunk_bytes = memory->chunk_bytes(),
                 .keys = {}};
    for (size_t i = 0; i < memory->chunks(); ++i) made.keys.keys.push_back(memory->rkey(i));
    made.memory = std::move(memory);
    made.access = std::move(access).value();
    made.ready = true;
  } else {
    std::erase(state_->exports, self);
  }
  state_->changed.NotifyAll();
  return status;
}

void ExportedSegments::TakeBackLoop() {
  std::vector<std::shared_ptr<Export>> cut;
  for (;;) {
    {
      MutexLock lock(state_->mutex);
      const auto take = [&cut, all = state_->stopping](const std::shared_ptr<Export>& e) {
        if (!e->ready || !(e->cut || all)) return false;
        cut.push_back(e);
        return true;
      };
      std::erase_if(state_->exports, take);
      if (cut.empty()) {
        if (state_->stopping && state_->exports.empty()) return;
        state_->changed.Wait(state_->mutex);
        continue;
      }
    }
    // The access ends with its export's keys, never before. A device that does not let go is asked again; the gate meanwhile
    // keeps the segment closed.
    std::erase_if(cut, [](const std::shared_ptr<Export>& e) {
      if (!e->memory->Release()) return false;
      e->access = ServedAccess();
      return true;
    });
    if (!cut.empty()) {
      MutexLock lock(state_->mutex);
      state_->changed.WaitFor(state_->mutex, Millis(20));
    }
  }
}

}  // namespace mooncake::rdma
