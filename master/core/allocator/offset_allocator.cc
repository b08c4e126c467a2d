#include "master/core/allocator/offset_allocator.h"

#include <algorithm>
#include <bit>

#include "transfer/base/check.h"

namespace mooncake::core {
namespace {

// How many blocks of the request's own bin are tried before a larger bin is taken. Blocks there may be a little too
// small; a bound keeps the operation O(1).
constexpr int kOwnBinTries = 8;

}  // namespace

OffsetAllocator::OffsetAllocator(uint64_t size) : capacity_units_(size / kUnit) {
  MC_CHECK(size <= uint64_t{1} << 46) << size;
  heads_.fill(kNone);
  if (capacity_units_ == 0) return;
  first_ = NewNode();
  Node& whole = node(first_);
  whole.offset = 0;
  whole.size = capacity_units_;
  whole.before = whole.after = kNone;
  PushFree(first_);
}

uint32_t OffsetAllocator::BinOf(uint64_t units) {
  if (units < kSteps) return static_cast<uint32_t>(units);
  const auto shift = static_cast<uint32_t>(std::bit_width(units)) - 1 - kMantissaBits;
  return (shift + 1) * kSteps + static_cast<uint32_t>((units >> shift) - kSteps);
}

uint32_t OffsetAllocator::NewNode() {
  if (pool_ != kNone) {
    const uint32_t index = pool_;
    pool_ = node(index).bin_next;
    return index;
  }
  if (node_count_ % kChunk == 0) chunks_.push_back(std::make_unique<Node[]>(kChunk));
  return node_count_++;
}

void OffsetAllocator::PushFree(uint32_t index) {
  Node& block = node(index);
  const uint32_t bin = BinOf(block.size);
  block.used = 0;
  block.bin_prev = kNone;
  block.bin_next = heads_[bin];
  if (block.bin_next != kNone) node(block.bin_next).bin_prev = index;
  heads_[bin] = index;
  words_[bin / 64] |= uint64_t{1} << (bin % 64);
  top_ |= uint64_t{1} << (bin / 64);
}

void OffsetAllocator::PopFree(uint32_t index) {
  Node& block = node(index);
  const uint32_t bin = BinOf(block.size);
  if (block.bin_next != kNone) node(block.bin_next).bin_prev = block.bin_prev;
  if (block.bin_prev != kNone) {
    node(block.bin_prev).bin_next = block.bin_next;
  } else {
    heads_[bin] = block.bin_next;
  }
  if (heads_[bin] == kNone) {
    words_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
    if (words_[bin / 64] == 0) top_ &= ~(uint64_t{1} << (bin / 64));
  }
}

uint32_t OffsetAllocator::FindFree(uint64_t units) const {
  const uint32_t own = BinOf(units);
  uint32_t fit = kNone;
  uint32_t index = heads_[own];
  for (int i = 0; i < kOwnBinTries && index != kNone; ++i, index = node(index).bin_next) {
    if (node(index).size == units) return index;
    if (node(index).size > units && fit == kNone) fit = index;
  }
  if (fit != kNone) return fit;
  const uint32_t next = own + 1;
  if (next >= kBins) return kNone;
  uint32_t word = next / 64;
  uint64_t bits = words_[word] & (~uint64_t{0} << (next % 64));
  if (bits == 0) {
    const uint64_t higher = word + 1 < 64 ? top_ & (~uint64_t{0} << (word + 1)) : 0;
    if (higher == 0) return kNone;
    word = static_cast<uint32_t>(std::countr_zero(higher));
    bits = words_[word];
  }
  return heads_[word * 64 + static_cast<uint32_t>(std::countr_zero(bits))];
}

std::optional<OffsetAllocator::Block> OffsetAllocator::Allocate(uint64_t bytes) {
  MC_CHECK(bytes > 0);
  if (bytes > free_bytes()) return std::nullopt;
  const uint64_t units = (bytes + kUnit - 1) / kUnit;
  const uint32_t found = FindFree(units);
  if (found == kNone) return std::nullopt;
  return Take(found, units);
}

std::optional<OffsetAllocator::Block> OffsetAllocator::AllocateUpTo(uint64_t bytes,
                                                                    uint64_t min_bytes) {
  if (auto block = Allocate(bytes)) return block;
  const uint32_t found = LargestNode(kOwnBinTries);
  if (found == kNone || node(found).size * kUnit < min_bytes) return std::nullopt;
  const uint64_t units = (bytes + kUnit - 1) / kUnit;
  return Take(found, std::min(units, uint64_t{node(found).size}));
}

std::optional<OffsetAllocator::Block> OffsetAllocator::TakeAt(uint32_t hole, uint64_t offset,
                                                              uint64_t bytes) {
  if (hole == kNone || node(hole).used != 0 || offset % kUnit != 0) return std::nullopt;
  const uint64_t from = offset / kUnit;
  const uint64_t units = (bytes + kUnit - 1) / kUnit;
  const uint64_t end = node(hole).offset + node(hole).size;
  if (from < node(hole).offset || from > end || units > end - from) return std::nullopt;
  if (from == node(hole).offset) return Take(hole, units);
  PopFree(hole);
  const uint32_t rest = NewNode();
  Node& front = node(hole);
  Node& back = node(rest);
  back.offset = from;
  back.size = end - from;
  back.before = hole;
  back.after = front.after;
  if (back.after != kNone) node(back.after).before = rest;
  front.after = rest;
  front.size = from - front.offset;
  PushFree(hole);
  PushFree(rest);
  return Take(rest, units);
}

OffsetAllocator::Block OffsetAllocator::Take(uint32_t found, uint64_t units) {
  PopFree(found);
  if (node(found).size > units) {
    const uint32_t rest = NewNode();
    Node& block = node(found);
    Node& tail = node(rest);
    tail.offset = block.offset + units;
    tail.size = block.size - units;
    tail.before = found;
    tail.after = block.after;
    if (tail.after != kNone) node(tail.after).before = rest;
    block.after = rest;
    block.size = units;
    PushFree(rest);
  }
  node(found).used = 1;
  SetOwner(found, nullptr);
  used_units_ += units;
  ++live_blocks_;
  return Block{node(found).offset * kUnit, found};
}

void OffsetAllocator::Merge(uint32_t left, uint32_t right) {
  Node& l = node(left);
  Node& r = node(right);
  l.size += r.size;
  l.after = r.after;
  if (l.after != kNone) node(l.after).before = left;
  r.bin_next = pool_;
  r.used = 0;
  r.size = 0;
  pool_ = right;
}

void OffsetAllocator::Free(uint32_t handle) {
  MC_CHECK(handle < node_count_ && node(handle).used != 0) << "freed twice: handle " << handle;
  used_units_ -= node(handle).size;
  --live_blocks_;
  node(handle).used = 0;
  const uint32_t before = node(handle).before;
  const uint32_t after = node(handle).after;
  if (after != kNone && node(after).used == 0) {
    PopFree(after);
    Merge(handle, after);
  }
  if (before != kNone && node(before).used == 0) {
    PopFree(before);
    Merge(before, handle);
    handle = before;
  }
  PushFree(handle);
}

void OffsetAllocator::SetOwner(uint32_t handle, void* owner) {
  const auto word = reinterpret_cast<uintptr_t>(owner);
  node(handle).bin_prev = static_cast<uint32_t>(word >> 32);
  node(handle).bin_next = static_cast<uint32_t>(word);
}

void* OffsetAllocator::Owner(uint32_t handle) const {
  const uintptr_t word = (uintptr_t{node(handle).bin_prev} << 32) | node(handle).bin_next;
  return reinterpret_cast<void*>(word);
}

void OffsetAllocator::DropNodesBelow(uint32_t handle) {
  for (uint32_t chunk = (handle >> kChunkBits); chunk > 0 && chunks_[chunk - 1] != nullptr;
       --chunk) {
    chunks_[chunk - 1].reset();
  }
}

void OffsetAllocator::ForgetOwner(uint32_t handle) {
  if (chunks_[handle >> kChunkBits] != nullptr) SetOwner(handle, nullptr);
}

uint64_t OffsetAllocator::LargestFree() const {
  const uint32_t largest = LargestNode(256);
  return largest == kNone ? 0 : node(largest).size * kUnit;
}

uint32_t OffsetAllocator::LargestNode(int tries) const {
  if (top_ == 0) return kNone;
  const auto word = static_cast<uint32_t>(63 - std::countl_zero(top_));
  const auto bin = word * 64 + static_cast<uint32_t>(63 - std::countl_zero(words_[word]));
  uint32_t largest = heads_[bin];
  uint32_t index = largest;
  for (int i = 0; i < tries && index != kNone; ++i, index = node(index).bin_next) {
    if (node(index).size > node(largest).size) largest = index;
  }
  return largest;
}

std::vector<OffsetAllocator::Range> OffsetAllocator::Ranges() const {
  std::vector<Range> ranges;
  for (uint32_t index = first_; index != kNone; index = node(index).after) {
    const Node& block = node(index);
    ranges.push_back({block.offset * kUnit, block.size * kUnit, block.used != 0, index});
  }
  return ranges;
}

}  // namespace mooncake::core
