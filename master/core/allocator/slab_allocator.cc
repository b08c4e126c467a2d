#include "master/core/allocator/slab_allocator.h"

#include <algorithm>
#include <bit>

#include "transfer/base/check.h"

namespace mooncake::core {
namespace {

// Each class is a quarter longer than the one before, and then as long as so many chunks in a slab can be.
std::vector<uint64_t> MakeClassSizes() {
  constexpr uint64_t kUnit = SegmentAllocator::kUnit;
  constexpr uint64_t kSlab = SlabAllocator::kSlabBytes;
  std::vector<uint64_t> sizes;
  for (uint64_t size = kUnit; size < kSlab;) {
    const uint64_t longest = kSlab / (kSlab / size) / kUnit * kUnit;
    sizes.push_back(longest);
    size = std::max(longest + kUnit, (longest + longest / 4) / kUnit * kUnit);
  }
  if (sizes.back() != kSlab) sizes.push_back(kSlab);
  MC_CHECK(sizes.size() <= 64) << "one word of bits";
  return sizes;
}

uint64_t BitsFrom(uint32_t bit) { return bit >= 64 ? 0 : ~uint64_t{0} << bit; }

}  // namespace

const std::vector<uint64_t>& SlabAllocator::ClassSizes() {
  static const std::vector<uint64_t> sizes = MakeClassSizes();
  return sizes;
}

uint32_t SlabAllocator::ChunksOf(uint32_t size_class) {
  return static_cast<uint32_t>(kSlabBytes / ClassSizes()[size_class]);
}

SlabAllocator::SlabAllocator(uint64_t size)
    : slabs_(size / kSlabBytes), partial_(ClassSizes().size()) {
  MC_CHECK(size <= uint64_t{1} << 46) << size;
  const auto count = static_cast<uint32_t>(slabs_.size());
  for (uint32_t slab = count; slab > 0; --slab) free_slabs_.push_back(slab - 1);
}

// Where a chunk for `bytes` would be taken from; kNoClass: nowhere.
uint32_t SlabAllocator::FindClass(uint64_t bytes) const {
  const std::vector<uint64_t>& sizes = ClassSizes();
  const auto own =
      static_cast<uint32_t>(std::lower_bound(sizes.begin(), sizes.end(), bytes) - sizes.begin());
  if (own == sizes.size()) return kNoClass;
  if (!free_slabs_.empty()) return own;
  const uint64_t fits = partial_classes_ & BitsFrom(own);
  return fits == 0 ? kNoClass : static_cast<uint32_t>(std::countr_zero(fits));
}

std::optional<SlabAllocator::Block> SlabAllocator::Allocate(uint64_t bytes) {
  MC_CHECK(bytes > 0);
  const uint32_t size_class = FindClass(bytes);
  if (size_class == kNoClass) return std::nullopt;
  return Take(size_class);
}

std::optional<SlabAllocator::Block> SlabAllocator::AllocateUpTo(uint64_t bytes,
                                                                uint64_t min_bytes) {
  if (min_bytes > kSlabBytes) return std::nullopt;
  if (auto block = Allocate(std::min(bytes, kSlabBytes))) return block;
  if (partial_classes_ == 0) return std::nullopt;
  const auto largest = static_cast<uint32_t>(63 - std::countl_zero(partial_classes_));
  if (ClassSizes()[largest] < min_bytes) return std::nullopt;
  return Take(largest);
}

SlabAllocator::Block SlabAllocator::Take(uint32_t size_class) {
  if (partial_[size_class].empty()) {
    const uint32_t slab = free_slabs_.back();
    free_slabs_.pop_back();
    slabs_[slab].size_class = size_class;
    slabs_[slab].fresh = 0;
    AddPartial(slab);
  }
  const uint32_t index = partial_[size_class].back();
  Slab& slab = slabs_[index];
  uint32_t chunk = slab.fresh;
  if (slab.given_back.empty()) {
    ++slab.fresh;
  } else {
    chunk = slab.given_back.back();
    slab.given_back.pop_back();
  }
  if (++slab.live == ChunksOf(size_class)) RemovePartial(index);
  used_bytes_ += ClassSizes()[size_class];
  ++live_blocks_;
  const uint32_t handle = NewNode();
  node(handle) = {nullptr, index, static_cast<uint16_t>(chunk), true};
  return Block{BlockOffset(handle), handle};
}

void SlabAllocator::Free(uint32_t handle) {
  MC_CHECK(handle < node_count_ && node(handle).used) << "freed twice: handle " << handle;
  Node& freed = node(handle);
  const uint32_t index = freed.slab;
  Slab& slab = slabs_[index];
  used_bytes_ -= ClassSizes()[slab.size_class];
  --live_blocks_;
  if (slab.live == ChunksOf(slab.size_class)) AddPartial(index);
  slab.given_back.push_back(freed.chunk);
  if (--slab.live == 0) {
    RemovePartial(index);
    slab.size_class = kNoClass;
    slab.given_back = {};
    free_slabs_.push_back(index);
  }
  freed = {nullptr, unused_nodes_, 0, false};
  unused_nodes_ = handle;
}

void SlabAllocator::AddPartial(uint32_t slab) {
  std::vector<uint32_t>& list = partial_[slabs_[slab].size_class];
  slabs_[slab].position = static_cast<uint32_t>(list.size());
  list.push_back(slab);
  partial_classes_ |= uint64_t{1} << slabs_[slab].size_class;
}

void SlabAllocator::RemovePartial(uint32_t slab) {
  const uint32_t size_class = slabs_[slab].size_class;
  std::vector<uint32_t>& list = partial_[size_class];
  const uint32_t last = list.back();
  list[slabs_[slab].position] = last;
  slabs_[last].position = slabs_[slab].position;
  list.pop_back();
  if (list.empty()) partial_classes_ &= ~(uint64_t{1} << size_class);
}

uint32_t SlabAllocator::NewNode() {
  if (unused_nodes_ != kNoHandle) {
    const uint32_t handle = unused_nodes_;
    unused_nodes_ = node(handle).slab;
    return handle;
  }
  if (node_count_ % kNodes == 0) nodes_.push_back(std::make_unique<Node[]>(kNodes));
  return node_count_++;
}

void SlabAllocator::DropNodesBelow(uint32_t handle) {
  for (uint32_t part = handle >> kNodesBits; part > 0 && nodes_[part - 1] != nullptr; --part) {
    nodes_[part - 1].reset();
  }
}

void SlabAllocator::ForgetOwner(uint32_t handle) {
  if (nodes_[handle >> kNodesBits] != nullptr) SetOwner(handle, nullptr);
}

uint64_t SlabAllocator::LargestFree() const {
  if (!free_slabs_.empty()) return kSlabBytes;
  if (partial_classes_ == 0) return 0;
  return ClassSizes()[static_cast<size_t>(63 - std::countl_zero(partial_classes_))];
}

uint64_t SlabAllocator::BlockOffset(uint32_t handle) const {
  const Node& block = node(handle);
  return block.slab * kSlabBytes + block.chunk * BlockBytes(handle);
}

uint64_t SlabAllocator::BlockBytes(uint32_t handle) const {
  return ClassSizes()[slabs_[node(handle).slab].size_class];
}

uint64_t SlabAllocator::MemoryBytes() const {
  uint64_t bytes = sizeof(*this) + nodes_.size() * kNodes * sizeof(Node) +
                   slabs_.capacity() * sizeof(Slab) + free_slabs_.capacity() * sizeof(uint32_t);
  for (const Slab& slab : slabs_) bytes += slab.given_back.capacity() * sizeof(uint16_t);
  for (const auto& list : partial_) bytes += list.capacity() * sizeof(uint32_t);
  return bytes;
}

std::vector<SlabAllocator::Range> SlabAllocator::Ranges() const {
  std::vector<Range> live;
  for (uint32_t handle = 0; handle < node_count_; ++handle) {
    if (IsLive(handle)) live.push_back({BlockOffset(handle), BlockBytes(handle), true, handle});
  }
  std::sort(live.begin(), live.end(),
            [](const Range& a, const Range& b) { return a.offset < b.offset; });
  std::vector<Range> ranges;
  uint64_t at = 0;
  for (const Range& range : live) {
    if (at < range.offset) ranges.push_back({at, range.offset - at, false, kNoHandle});
    ranges.push_back(range);
    at = range.offset + range.bytes;
  }
  if (at < capacity()) ranges.push_back({at, capacity() - at, false, kNoHandle});
  return ranges;
}

}  // namespace mooncake::core
