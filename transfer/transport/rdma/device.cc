#include "transfer/transport/rdma/device.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <rdma/rdma_cma.h>

namespace mooncake::rdma {
namespace {

std::string LockedLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "unknown";
  if (limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return std::to_string(limit.rlim_cur / 1024) + " KiB";
}

}  // namespace

Device::~Device() { (void)::ibv_dealloc_pd(domain_); }

Status Device::Query() {
  ibv_device_attr attributes{};
  ibv_port_attr port{};
  int error = ::ibv_query_device(context_, &attributes);
  if (error == 0) error = ::ibv_query_port(context_, 1, &port);
  if (error != 0) {
    return Status(ErrorCode::kNotSupported,
                  "RDMA device " + name() + " cannot be queried: " + std::strerror(error));
  }
  if (attributes.max_sge < 3) {
    return Status(ErrorCode::kNotSupported,
                  "RDMA device " + name() + " takes fewer than 3 scatter entries a request");
  }
  max_message_ = port.max_msg_sz;
  // librdmacm's parameters are bytes; more than 16 gains nothing.
  const int reads = std::min(attributes.max_qp_rd_atom, attributes.max_qp_init_rd_atom);
  max_reads_ = static_cast<uint8_t>(std::clamp(reads, 1, 16));
  return Status::Ok();
}

Result<std::unique_ptr<DeviceSet>> DeviceSet::Open() {
  int count = 0;
  ibv_context** contexts = ::rdma_get_devices(&count);
  auto set = std::make_unique<DeviceSet>();
  Status failed(ErrorCode::kNotSupported,
                "no RDMA device: `rdma link` must show one and /dev/infiniband/rdma_cm must be "
                "open to this user (modules ib_uverbs and rdma_ucm); or use protocol tcp");
  for (int i = 0; i < count; ++i) {
    ibv_pd* domain = ::ibv_alloc_pd(contexts[i]);
    if (domain == nullptr) {
      failed = Status(ErrorCode::kNotSupported,
                      "RDMA device " + std::string(::ibv_get_device_name(contexts[i]->device)) +
                          ": no protection domain: " + std::strerror(errno));
      continue;
    }
    std::unique_ptr<Device> device(new Device(contexts[i], domain));
    const Status usable = device->Query();
    if (usable.ok()) {
      set->devices_.push_back(std::move(device));
    } else {
      failed = usable;
    }
  }
  // The list goes, the contexts stay open for as long as the process lives.
  if (contexts != nullptr) ::rdma_free_devices(contexts);
  if (set->devices_.empty()) return failed;
  return set;
}

const Device* DeviceSet::Find(const ibv_context* context) const {
  for (const auto& device : devices_) {
    if (device->context() == context) return device.get();
  }
  return nullptr;
}

Status RegisteredMemory::AddChunk(const Device& device, int access) {
  const uint64_t start = chunks_.size() * chunk_bytes_;
  const MutableByteSpan chunk =
      memory_.subspan(start, std::min(chunk_bytes_, memory_.size() - start));
  ibv_mr* region = ::ibv_reg_mr(device.domain(), chunk.data(), chunk.size(), access);
  if (region != nullptr) {
    chunks_.push_back(region);
    return Status::Ok();
  }
  const int error = errno;
  std::string what = "RDMA device " + device.name() + ": " + std::to_string(chunk.size()) +
                     " bytes at " + std::to_string(start) + " of " +
                     std::to_string(memory_.size()) +
                     " cannot be registered: " + std::strerror(error);
  if (error == ENOMEM || error == EPERM || error == EAGAIN) {
    what += "; the limit of locked memory is " + LockedLimit() +
            ": raise it (ulimit -l unlimited, LimitMEMLOCK=infinity) beyond all that is registered";
  }
  return Status(ErrorCode::kNotSupported, what);
}

bool RegisteredMemory::Release() {
  std::erase_if(chunks_, [](ibv_mr* region) { return ::ibv_dereg_mr(region) == 0; });
  return chunks_.empty();
}

RegisteredMemory::~RegisteredMemory() { (void)Release(); }

uint32_t RegisteredMemory::LocalKey(const std::byte* address, uint64_t& left) const {
  const auto offset = static_cast<uint64_t>(address - memory_.data());
  const uint64_t chunk = offset / chunk_bytes_;
  left = std::min((chunk + 1) * chunk_bytes_, memory_.size()) - offset;
  return chunks_[chunk]->lkey;
}

}  // namespace mooncake::rdma
