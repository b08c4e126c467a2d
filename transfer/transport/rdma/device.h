// The RDMA devices of this host, opened, and memory registered with one of them. Verbs types stay inside rdma/.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include "transfer/base/byte_span.h"
#include "transfer/base/result.h"

namespace mooncake::rdma {

// An opened device with its protection domain. Immutable, so thread-safe.
class Device {
 public:
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  ibv_context* context() const { return context_; }
  ibv_pd* domain() const { return domain_; }
  std::string name() const { return ::ibv_get_device_name(context_->device); }
  // Bytes that one work request may move.
  uint64_t max_message() const { return max_message_; }
  // One-sided reads that may be under way on a queue pair, in either role.
  uint8_t max_reads() const { return max_reads_; }

 private:
  friend class DeviceSet;
  // `context` belongs to librdmacm.
  Device(ibv_context* context, ibv_pd* domain) : context_(context), domain_(domain) {}
  Status Query();

  ibv_context* const context_;
  ibv_pd* const domain_;
  uint64_t max_message_ = 0;
  uint8_t max_reads_ = 0;
};

// All devices that librdmacm knows. Immutable, so thread-safe.
class DeviceSet {
 public:
  // kNotSupported: no device; the message says what to do about it.
  static Result<std::unique_ptr<DeviceSet>> Open();

  // Null: not one of them.
  const Device* Find(const ibv_context* context) const;
  std::span<const std::unique_ptr<Device>> devices() const { return devices_; }

 private:
  std::vector<std::unique_ptr<Device>> devices_;
};

// A range of memory registered in chunks, since one registration can be bounded by the device and is not interruptible.
// Immutable but for Release().
class RegisteredMemory {
 public:
  // `access` as for ibv_reg_mr. `go_on` is asked before each chunk; false ends it with kInvalidVersion. kNotSupported: the limit of
  // locked memory, or the device, does not allow it.
  template <typename GoOn>
  static Result<std::unique_ptr<RegisteredMemory>> Create(const Device& device,
                                                          MutableByteSpan memory,
                                                          uint64_t chunk_bytes, int access,
                                                          const GoOn& go_on) {
    std::unique_ptr<RegisteredMemory> registered(new RegisteredMemory(memory, chunk_bytes));
    while (!registered->complete()) {
      if (!go_on()) return Status(ErrorCode::kInvalidVersion, "registration was called off");
      RETURN_IF_ERROR(registered->AddChunk(device, access));
    }
    return registered;
  }
  static Result<std::unique_ptr<RegisteredMemory>> Create(const Device& device,
                                                          MutableByteSpan memory,
                                                          uint64_t chunk_bytes, int access) {
    return Create(device, memory, chunk_bytes, access, [] { return true; });
  }
  ~RegisteredMemory();
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;

  // Takes all keys back: afterwards no request that names one can reach the memory. False: the device did not let go of
  // all of them; call it again.
  bool Release();

  MutableByteSpan memory() const { return memory_; }
  uint64_t chunk_bytes() const { return chunk_bytes_; }
  size_t chunks() const { return chunks_.size(); }
  uint32_t rkey(size_t chunk) const { return chunks_[chunk]->rkey; }
  // Of the chunk that `address`, which must be inside, is in; `left`: bytes from there to the end of the chunk.
  uint32_t LocalKey(const std::byte* address, uint64_t& left) const;

 private:
  RegisteredMemory(MutableByteSpan memory, uint64_t chunk_bytes)
      : memory_(memory), chunk_bytes_(chunk_bytes) {}
  bool complete() const { return chunks_.size() * chunk_bytes_ >= memory_.size(); }
  Status AddChunk(const Device& device, int access);

  const MutableByteSpan memory_;
  const uint64_t chunk_bytes_;
  std::vector<ibv_mr*> chunks_;
};

}  // namespace mooncake::rdma
