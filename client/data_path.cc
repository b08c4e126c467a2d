#include "client/data_path.h"

namespace mooncake::internal {

std::atomic<uint64_t>& DataPath::Counter(const SegmentId& segment) const {
  return in_flight_[std::hash<SegmentId>()(segment) % kCounters];
}

uint64_t DataPath::LoadOf(const SegmentId& segment) const {
  return Counter(segment).load(std::memory_order_relaxed);
}

Locality DataPath::LocalityOf(const PeerAddress& peer) const {
  switch (engine_->LocalityOf(peer)) {
    case PeerLocality::kSameProcess:
      return Locality::kSameProcess;
    case PeerLocality::kSameHost:
      return Locality::kSameHost;
    case PeerLocality::kRemote:
      break;
  }
  return Locality::kRemote;
}

void DataPath::Execute(std::span<PeerSlice> slices, TimePoint deadline) {
  for (const PeerSlice& item : slices) {
    Counter(item.slice.segment).fetch_add(item.slice.length(), std::memory_order_relaxed);
  }
  const TimePoint started = clock_.Now();
  engine_->Execute(slices, deadline);
  for (const PeerSlice& item : slices) {
    Counter(item.slice.segment).fetch_sub(item.slice.length(), std::memory_order_relaxed);
  }
  Judge(slices, started);
}

void DataPath::Judge(std::span<const PeerSlice> slices, TimePoint started) {
  bool any_failed = false;
  for (const PeerSlice& item : slices) any_failed = any_failed || !item.slice.status.ok();
  if (!any_failed && !any_suspect_.load(std::memory_order_relaxed)) return;

  const TimePoint now = clock_.Now();
  MutexLock lock(mutex_);
  for (const PeerSlice& item : slices) {
    const ErrorCode code = item.slice.status.code();
    const bool failed = code == ErrorCode::kTransferFail ||
                        (code == ErrorCode::kRpcTimeout && now - started >= kFairTry);
    if (failed) {
      suspects_.OnFailure(item.slice.segment, now);
      if (failures_.size() < kMaxFailures) failures_.insert(item.slice.segment);
    }
    if (code == ErrorCode::kOk) suspects_.OnSuccess(item.slice.segment);
  }
  any_suspect_.store(!suspects_.empty(), std::memory_order_relaxed);
}

std::vector<SegmentId> DataPath::TakeFailures() {
  MutexLock lock(mutex_);
  std::vector<SegmentId> taken(failures_.begin(), failures_.end());
  failures_.clear();
  return taken;
}

TimePoint DataPath::SuspectUntil(const SegmentId& segment) const {
  if (!any_suspect_.load(std::memory_order_relaxed)) return TimePoint::min();
  MutexLock lock(mutex_);
  return suspects_.SuspectUntil(segment);
}

}  // namespace mooncake::internal
