#include "master/core/segment_pool.h"

#include <algorithm>
#include <utility>

#include "transfer/base/check.h"
#include "transfer/base/seal.h"

namespace mooncake::core {

uint32_t SegmentPool::Mount(const SegmentDescriptor& descriptor) {
  uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = slot_count();
    slots_.push_back(std::make_unique<Segment>());
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    *slots_[slot] = Segment{};
  }
  Segment& segment = at(slot);
  segment.descriptor = descriptor;
  segment.status = SegmentStatus::kOk;
  segment.live = true;
  segment.host = HostNumber(descriptor.host_id);
  segment.allocator = MakeSegmentAllocator(kind_, descriptor.size);
  MC_CHECK(by_id_.emplace(descriptor.id, slot).second) << descriptor.id.ToString();
  MC_CHECK(by_name_.emplace(descriptor.name, slot).second) << descriptor.name;
  capacity_ += descriptor.size;
  RefreshAllocatable();
  return slot;
}

// A segment that names no host counts as a host of its own.
uint32_t SegmentPool::HostNumber(const std::string& host_id) {
  const auto number = static_cast<uint32_t>(hosts_.size());
  const std::string name =
      host_id.empty() ? std::string(1, '\0') + std::to_string(number) : host_id;
  return hosts_.try_emplace(name, number).first->second;
}

void SegmentPool::Kill(uint32_t slot) {
  Segment& segment = at(slot);
  MC_CHECK(segment.live);
  capacity_ -= segment.capacity();
  used_ -= segment.used();
  held_ -= std::exchange(segment.held, 0);
  for (size_t why = 0; why < nameless_.size(); ++why)
    nameless_[why] -= std::exchange(segment.nameless[why], 0);
  segment.live = false;
  segment.status = SegmentStatus::kUnmounting;
  by_id_.erase(segment.descriptor.id);
  by_name_.erase(segment.descriptor.name);
  unswept_.push_back(slot);
  RefreshAllocatable();
}

void SegmentPool::SetStatus(uint32_t slot, SegmentStatus status) {
  MC_CHECK(at(slot).live);
  at(slot).status = status;
  RefreshAllocatable();
}

void SegmentPool::SetQuarantined(uint32_t slot, bool quarantined) {
  at(slot).quarantined = quarantined;
  RefreshAllocatable();
}

void SegmentPool::FinishSweep(uint32_t slot) {
  Segment& segment = at(slot);
  MC_CHECK(!segment.live && segment.allocator != nullptr);
  for (const EvictionQueue& queue : segment.queues) MC_CHECK(queue.empty());
  segment.allocator.reset();
  std::erase(unswept_, slot);
  FreeSlotIfUnused(slot);
}

void SegmentPool::FreeSlotIfUnused(uint32_t slot) {
  const Segment& segment = at(slot);
  if (!segment.live && segment.allocator == nullptr && segment.extents == 0)
    free_slots_.push_back(slot);
}

void SegmentPool::RefreshAllocatable() {
  allocatable_.clear();
  largest_capacity_ = 0;
  for (const auto& [name, slot] : by_name_) {
    if (!at(slot).takes_new()) continue;
    allocatable_.push_back(slot);
    largest_capacity_ = std::max(largest_capacity_, at(slot).capacity());
  }
}

uint32_t SegmentPool::FindById(const SegmentId& id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? kNoSlot : it->second;
}

uint32_t SegmentPool::FindByName(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? kNoSlot : it->second;
}

bool SegmentPool::Fill(uint32_t slot, const SegmentAllocator::Block& block, uint64_t length,
                       uint8_t replica, ExtentRef& out) {
  Segment& segment = at(slot);
  used_ += segment.allocator->BlockBytes(block.handle);
  ++segment.extents;
  out.slot = slot;
  out.block = block.handle;
  out.offset = block.offset;
  out.length = length & ((uint64_t{1} << 56) - 1);
  out.replica = replica;
  return true;
}

bool SegmentPool::Allocate(uint32_t slot, uint64_t data_bytes, uint8_t replica, ExtentRef& out) {
  const auto block = at(slot).allocator->Allocate(ExtentFootprint(data_bytes));
  return block.has_value() && Fill(slot, *block, data_bytes, replica, out);
}

bool SegmentPool::AllocateUpTo(uint32_t slot, uint64_t data_bytes, uint64_t min_data_bytes,
                               uint8_t replica, ExtentRef& out) {
  SegmentAllocator& allocator = *at(slot).allocator;
  const auto block = allocator.AllocateUpTo(ExtentFootprint(data_bytes),
                                            ExtentFootprint(std::min(data_bytes, min_data_bytes)));
  if (!block.has_value()) return false;
  const uint64_t room = allocator.BlockBytes(block->handle) - kSealBytes;
  return Fill(slot, *block, std::min(room, data_bytes), replica, out);
}

bool SegmentPool::Claim(uint32_t& hole, ExtentRef& extent) {
  SegmentAllocator& allocator = *at(extent.slot).allocator;
  const auto block = allocator.TakeAt(hole, extent.offset, ExtentFootprint(extent.length));
  if (!block.has_value()) return false;
  hole = allocator.After(block->handle);
  return Fill(extent.slot, *block, extent.length, static_cast<uint8_t>(extent.replica), extent);
}

void SegmentPool::Release(const ExtentRef& extent) {
  Segment& segment = at(extent.slot);
  MC_CHECK(segment.extents > 0);
  --segment.extents;
  if (segment.live) {
    used_ -= segment.allocator->BlockBytes(extent.block);
    segment.allocator->Free(extent.block);
  } else if (segment.allocator != nullptr) {
    segment.allocator->ForgetOwner(extent.block);  // the sweep must not meet it
  }
  FreeSlotIfUnused(extent.slot);
}

void SegmentPool::Hold(const ExtentRef& extent) {
  Segment& segment = at(extent.slot);
  const uint64_t bytes = segment.allocator->BlockBytes(extent.block);
  segment.held += bytes;
  held_ += bytes;
  SetOwner(extent, nullptr);
}

void SegmentPool::ReleaseHeld(const ExtentRef& extent) {
  Segment& segment = at(extent.slot);
  if (segment.live) {
    const uint64_t bytes = segment.allocator->BlockBytes(extent.block);
    segment.held -= bytes;
    held_ -= bytes;
  }
  Release(extent);
}

void SegmentPool::AddNameless(Nameless why, std::span<const ExtentRef> extents) {
  for (const ExtentRef& extent : extents) {
    Segment& segment = at(extent.slot);
    if (!segment.live) continue;
    segment.nameless[static_cast<size_t>(why)] += extent.length;
    nameless_[static_cast<size_t>(why)] += extent.length;
  }
}

void SegmentPool::SubtractNameless(Nameless why, std::span<const ExtentRef> extents) {
  for (const ExtentRef& extent : extents) {
    Segment& segment = at(extent.slot);
    if (!segment.live) continue;
    segment.nameless[static_cast<size_t>(why)] -= extent.length;
    nameless_[static_cast<size_t>(why)] -= extent.length;
  }
}

void SegmentPool::SetOwner(const ExtentRef& extent, Object* object) {
  Segment& segment = at(extent.slot);
  if (segment.live || object != nullptr) {
    segment.allocator->SetOwner(extent.block, object);
  } else if (segment.allocator != nullptr) {
    segment.allocator->ForgetOwner(extent.block);
  }
}

Object* SegmentPool::Owner(uint32_t slot, uint32_t block) const {
  return static_cast<Object*>(at(slot).allocator->Owner(block));
}

}  // namespace mooncake::core
