#include "master/core/eviction/key_memory.h"

#include <algorithm>
#include <iterator>

namespace mooncake::core {

KeyMemory::KeyMemory() : chunks_(1, std::make_shared<Chunk>()) {}

std::optional<uint8_t> KeyMemory::Find(uint64_t hash) const {
  const uint16_t slot = (*chunks_[ChunkOf(hash)])[hash % kChunk];
  if (slot >> 2 != TagOf(hash)) return std::nullopt;
  return static_cast<uint8_t>(slot & kMostUses);
}

void KeyMemory::Remember(uint64_t hash, size_t uses) {
  std::shared_ptr<Chunk>& chunk = chunks_[ChunkOf(hash)];
  if (chunk.use_count() > 1) chunk = std::make_shared<Chunk>(*chunk);
  (*chunk)[hash % kChunk] =
      static_cast<uint16_t>(TagOf(hash) << 2 | std::min<size_t>(uses, kMostUses));
}

void KeyMemory::MakeRoom(uint64_t keys) {
  while (chunks_.size() < kMostChunks && chunks_.size() * kChunk < keys) {
    const size_t half = chunks_.size();
    chunks_.reserve(2 * half);
    std::copy_n(chunks_.begin(), half, std::back_inserter(chunks_));
  }
}

}  // namespace mooncake::core
