// Which keys were seen lately, held or not, and how often: two bytes each, without the keys. It may take one key for another (one
// in some ten thousand), and forgets by overwriting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace mooncake::core {

class KeyMemory {
 public:
  KeyMemory();

  static constexpr uint8_t kMostUses = 3;

  // Earlier uses of the key, at most kMostUses; nothing if it is not remembered.
  std::optional<uint8_t> Find(uint64_t hash) const;
  void Remember(uint64_t hash, size_t uses);
  // Room for so many keys, and some more. Never shrinks; at most 2^26 slots, 128 MiB. Doubles without a pause: the halves share what
  // was known until one of them is written to.
  void MakeRoom(uint64_t keys);

 private:
  static constexpr uint64_t kChunk = 1 << 15;  // slots
  static constexpr uint64_t kMostChunks = 1 << 11;
  using Chunk = std::array<uint16_t, kChunk>;  // tag << 2 | uses; 0: empty

  static uint16_t TagOf(uint64_t hash) { return static_cast<uint16_t>((hash >> 50) | 1); }
  uint64_t ChunkOf(uint64_t hash) const { return (hash / kChunk) & (chunks_.size() - 1); }

  std::vector<std::shared_ptr<Chunk>> chunks_;
};

}  // namespace mooncake::core
