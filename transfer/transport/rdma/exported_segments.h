// The keys to a node's segments. An export is an access of the whole segment at the gate: when the epoch moves on or the segment goes,
// the gate cuts it, its keys are taken back, and only then the access ends, for which the gate waits.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/transport/rdma/device.h"
#include "transfer/transport/rdma/message.h"
#include "transfer/transport/served_segments.h"

namespace mooncake::rdma {

// Thread-safe.
class ExportedSegments {
 public:
  // `segments` must outlive it.
  ExportedSegments(ServedSegments& segments, uint64_t chunk_bytes);
  // Takes all keys back.
  ~ExportedSegments();
  ExportedSegments(const ExportedSegments&) = delete;
  ExportedSegments& operator=(const ExportedSegments&) = delete;

  // Registers the segment with the device if that has not been done for this epoch, which takes as long as pinning its memory does.
  // kSegmentNotFound, kInvalidVersion, kNotSupported (the device or the limit of locked memory).
  Result<SegmentKeys> KeysFor(const Device& device, const SegmentId& id, AccessEpoch epoch);

  // Exports that exist.
  size_t size() const;

 private:
  struct Export;
  struct State;

  // Fills `made`, which is in the list.
  Status Make(Export& made, const std::shared_ptr<Export>& self);
  void TakeBackLoop();

  ServedSegments& segments_;
  const uint64_t chunk_bytes_;
  const std::shared_ptr<State>
      state_;  // exports, which the gate may hold a little longer, wake us through it
  std::thread thread_;
};

}  // namespace mooncake::rdma
