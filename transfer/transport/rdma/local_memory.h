// The caller's memory, registered with every device of this host, and where it is found again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "transfer/base/mutex.h"
#include "transfer/base/result.h"
#include "transfer/transport/rdma/device.h"
#include "transfer/transport/rdma/work_plan.h"

namespace mooncake::rdma {

// Thread-safe.
class LocalMemory {
 public:
  // `devices` must outlive it.
  LocalMemory(const DeviceSet& devices, uint64_t chunk_bytes)
      : devices_(devices), chunk_bytes_(chunk_bytes) {}

  // kInvalidParams: empty, or overlaps other registered memory. kNotSupported: a device refused; the message says why.
  Status Register(MutableByteSpan memory);
  // By the start. Nobody may be using it. kInvalidParams: not registered.
  Status Unregister(const std::byte* start);

  // Appends the runs that cover `bytes`. False, and nothing appended, when they are not wholly in one registration.
  bool Find(const Device& device, ByteSpan bytes, std::vector<LocalRun>& runs) const;

 private:
  struct Entry {
    MutableByteSpan memory;
    std::map<const Device*, std::unique_ptr<RegisteredMemory>> by_device;
  };
  // The last entry that starts at or before `at`; null: none.
  const Entry* At(const std::byte* at) const MC_REQUIRES_SHARED(mutex_);

  const DeviceSet& devices_;
  const uint64_t chunk_bytes_;
  mutable SharedMutex mutex_;
  std::map<const std::byte*, Entry> entries_ MC_GUARDED_BY(mutex_);
};

// Appends the runs of `bytes`, which lie in `registered`.
void AppendRuns(const RegisteredMemory& registered, ByteSpan bytes, std::vector<LocalRun>& runs);

}  // namespace mooncake::rdma
