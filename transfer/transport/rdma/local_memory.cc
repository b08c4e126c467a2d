#include "transfer/transport/rdma/local_memory.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace mooncake::rdma {

void AppendRuns(const RegisteredMemory& registered, ByteSpan bytes, std::vector<LocalRun>& runs) {
  while (!bytes.empty()) {
    uint64_t left = 0;
    const uint32_t key = registered.LocalKey(bytes.data(), left);
    const uint64_t step = std::min<uint64_t>(left, bytes.size());
    runs.push_back({reinterpret_cast<uint64_t>(bytes.data()), step, key});
    bytes = bytes.subspan(step);
  }
}

const LocalMemory::Entry* LocalMemory::At(const std::byte* at) const {
  const auto after = entries_.upper_bound(at);
  return after == entries_.begin() ? nullptr : &std::prev(after)->second;
}

Status LocalMemory::Register(MutableByteSpan memory) {
  if (memory.empty()) return Status(ErrorCode::kInvalidParams, "no memory to register");
  Entry entry;
  entry.memory = memory;
  for (const auto& device : devices_.devices()) {
    ASSIGN_OR_RETURN(
        entry.by_device[device.get()],
        RegisteredMemory::Create(*device, memory, chunk_bytes_, IBV_ACCESS_LOCAL_WRITE));
  }
  WriterLock lock(mutex_);
  const Entry* before = At(memory.data() + memory.size() - 1);
  if (before != nullptr && before->memory.data() + before->memory.size() > memory.data()) {
    return Status(ErrorCode::kInvalidParams, std::to_string(memory.size()) + " bytes overlap " +
                                                 std::to_string(before->memory.size()) +
                                                 " that are registered");
  }
  entries_.emplace(memory.data(), std::move(entry));
  return Status::Ok();
}

Status LocalMemory::Unregister(const std::byte* start) {
  Entry entry;  // its keys are taken back without the lock
  WriterLock lock(mutex_);
  const auto found = entries_.find(start);
  if (found == entries_.end()) {
    return Status(ErrorCode::kInvalidParams, "no memory is registered at this address");
  }
  std::swap(entry, found->second);
  entries_.erase(found);
  return Status::Ok();
}

bool LocalMemory::Find(const Device& device, ByteSpan bytes, std::vector<LocalRun>& runs) const {
  if (bytes.empty()) return true;
  ReaderLock lock(mutex_);
  const Entry* entry = At(bytes.data());
  if (entry == nullptr || bytes.data() + bytes.size() > entry->memory.data() + entry->memory.size())
    return false;
  const auto registered = entry->by_device.find(&device);
  if (registered == entry->by_device.end()) return false;
  AppendRuns(*registered->second, bytes, runs);
  return true;
}

}  // namespace mooncake::rdma
