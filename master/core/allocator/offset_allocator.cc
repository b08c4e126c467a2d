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
  Node& node = nodes_[first_];
  node.offset = 0;
  node.size = capacity_units_;
  node.before = node.after = kNone;
  PushFree(first_);
}

uint32_t OffsetAllocator::BinOf(uint64_t units) {
  if (units < kSteps) return static_cast<uint32_t>(units);
  const auto shift = static_cast<uint32_t>(std::bit_width(units)) - 1 - kMantissaBits;
  return (shift + 1) * kSteps + static_cast<uint32_t>((units >> shift) - kSteps);
}

uint32_t OffsetAllocator::NewNode() {
  if (pool_ != kNone) {
    const uint32_t node = pool_;
    pool_ = nodes_[node].bin_next;
    return node;
  }
  nodes_.push_back(Node{});
  return static_cast<uint32_t>(nodes_.size() - 1);
}

void OffsetAllocator::PushFree(uint32_t index) {
  Node& node = nodes_[index];
  const uint32_t bin = BinOf(node.size);
  node.used = 0;
  node.bin_prev = kNone;
  node.bin_next = heads_[bin];
  if (node.bin_next != kNone) nodes_[node.bin_next].bin_prev = index;
  heads_[bin] = index;
  words_[bin / 64] |= uint64_t{1} << (bin % 64);
  top_ |= uint64_t{1} << (bin / 64);
}

void OffsetAllocator::PopFree(uint32_t index) {
  Node& node = nodes_[index];
  const uint32_t bin = BinOf(node.size);
  if (node.bin_next != kNone) nodes_[node.bin_next].bin_prev = node.bin_prev;
  if (node.bin_prev != kNone) {
    nodes_[node.bin_prev].bin_next = node.bin_next;
  } else {
    heads_[bin] = node.bin_next;
  }
  if (heads_[bin] == kNone) {
    words_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
    if (words_[bin / 64] == 0) top_ &= ~(uint64_t{1} << (bin / 64));
  }
}

uint32_t OffsetAllocator::FindFree(uint64_t units) const {
  const uint32_t own = BinOf(units);
  uint32_t fit = kNone;
  uint32_t node = heads_[own];
  for (int i = 0; i < kOwnBinTries && node != kNone; ++i, node = nodes_[node].bin_next) {
    if (nodes_[node].size == units) return node;
    if (nodes_[node].size > units && fit == kNone) fit = node;
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
  if (found == kNone || nodes_[found].size * kUnit < min_bytes) return std::nullopt;
  const uint64_t units = (bytes + kUnit - 1) / kUnit;
  return Take(found, std::min(units, uint64_t{nodes_[found].size}));
}

OffsetAllocator::Block OffsetAllocator::Take(uint32_t found, uint64_t units) {
  PopFree(found);
  if (nodes_[found].size > units) {
    const uint32_t rest = NewNode();  // may move nodes_
    Node& block = nodes_[found];
    Node& tail = nodes_[rest];
    tail.offset = block.offset + units;
    tail.size = block.size - units;
    tail.before = found;
    tail.after = block.after;
    if (tail.after != kNone) nodes_[tail.after].before = rest;
    block.after = rest;
    block.size = units;
    PushFree(rest);
  }
  nodes_[found].used = 1;
  SetOwner(found, nullptr);
  used_units_ += units;
  ++live_blocks_;
  return Block{nodes_[found].offset * kUnit, found};
}

void OffsetAllocator::Merge(uint32_t left, uint32_t right) {
  Node& l = nodes_[left];
  Node& r = nodes_[right];
  l.size += r.size;
  l.after = r.after;
  if (l.after != kNone) nodes_[l.after].before = left;
  r.bin_next = pool_;
  r.used = 0;
  r.size = 0;
  pool_ = right;
}

void OffsetAllocator::Free(uint32_t handle) {
  MC_CHECK(handle < nodes_.size() && nodes_[handle].used != 0) << "freed twice: handle " << handle;
  used_units_ -= nodes_[handle].size;
  --live_blocks_;
  nodes_[handle].used = 0;
  const uint32_t before = nodes_[handle].before;
  const uint32_t after = nodes_[handle].after;
  if (after != kNone && nodes_[after].used == 0) {
    PopFree(after);
    Merge(handle, after);
  }
  if (before != kNone && nodes_[before].used == 0) {
    PopFree(before);
    Merge(before, handle);
    handle = before;
  }
  PushFree(handle);
}

void OffsetAllocator::SetOwner(uint32_t handle, void* owner) {
  const auto word = reinterpret_cast<uintptr_t>(owner);
  nodes_[handle].bin_prev = static_cast<uint32_t>(word >> 32);
  nodes_[handle].bin_next = static_cast<uint32_t>(word);
}

void* OffsetAllocator::Owner(uint32_t handle) const {
  const uintptr_t word = (uintptr_t{nodes_[handle].bin_prev} << 32) | nodes_[handle].bin_next;
  return reinterpret_cast<void*>(word);
}

uint64_t OffsetAllocator::LargestFree() const {
  const uint32_t node = LargestNode(256);
  return node == kNone ? 0 : nodes_[node].size * kUnit;
}

uint32_t OffsetAllocator::LargestNode(int tries) const {
  if (top_ == 0) return kNone;
  const auto word = static_cast<uint32_t>(63 - std::countl_zero(top_));
  const auto bin = word * 64 + static_cast<uint32_t>(63 - std::countl_zero(words_[word]));
  uint32_t largest = heads_[bin];
  uint32_t node = largest;
  for (int i = 0; i < tries && node != kNone; ++i, node = nodes_[node].bin_next) {
    if (nodes_[node].size > nodes_[largest].size) largest = node;
  }
  return largest;
}

std::vector<OffsetAllocator::Range> OffsetAllocator::Ranges() const {
  std::vector<Range> ranges;
  for (uint32_t node = first_; node != kNone; node = nodes_[node].after) {
    ranges.push_back(
        {nodes_[node].offset * kUnit, nodes_[node].size * kUnit, nodes_[node].used != 0, node});
  }
  return ranges;
}

}  // namespace mooncake::core
