#include "master/core/allocator/segment_allocator.h"

#include "master/core/allocator/offset_allocator.h"
#include "master/core/allocator/slab_allocator.h"

namespace mooncake::core {

std::unique_ptr<SegmentAllocator> MakeSegmentAllocator(MemoryAllocator kind, uint64_t size) {
  switch (kind) {
    case MemoryAllocator::kOffset:
      return std::make_unique<OffsetAllocator>(size);
    case MemoryAllocator::kCachelib:
      return std::make_unique<SlabAllocator>(size);
  }
  return nullptr;
}

}  // namespace mooncake::core
