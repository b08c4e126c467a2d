// When was which key used last? Kept for a sample of all keys, chosen by their hash, whether an object of that name is held or
// not: so reuses that come after an eviction are seen too, and memory is bounded however many objects there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <absl/container/flat_hash_map.h>

namespace mooncake::core {

class ReuseSample {
 public:
  static constexpr size_t kMost = 1 << 16;  // keys; about 48 bytes each

  struct Use {
    uint64_t at = 0;  // counted in uses
    uint8_t of = 0;   // class
    float share = 1;  // of a request
  };

  bool Contains(uint64_t hash) const { return (hash >> (64 - kMaxShift)) % (1u << shift_) == 0; }
  // Of a key that the sample contains. Its use before this one, if it is still known.
  std::optional<Use> Record(uint64_t hash, Use use);
  // The use longest ago, when more are known than wanted; it is forgotten.
  std::optional<Use> Overflow();
  // So many keys should be remembered; when that is too many, every second one is, or fourth, and so on.
  void Aim(uint64_t keys);

  // visit(Use) for each.
  template <typename F>
  void ForEach(F&& visit) const {
    for (const Node& node : nodes_) {
      if (node.live) visit(node.use);
    }
  }
  size_t size() const { return by_hash_.size(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kMaxShift = 24;
  struct Node {
    uint64_t hash = 0;
    Use use;
    bool live = false;
    uint32_t older = kNone;
    uint32_t newer = kNone;
  };

  uint32_t NewNode(uint64_t hash);
  void Unlink(uint32_t at);
  void PushNewest(uint32_t at);
  void Drop(uint32_t at);

  uint32_t shift_ = 0;
  size_t wanted_ = 1024;
  uint32_t oldest_ = kNone;
  uint32_t newest_ = kNone;
  std::vector<Node> nodes_;
  std::vector<uint32_t> free_;
  absl::flat_hash_map<uint64_t, uint32_t> by_hash_;
};

}  // namespace mooncake::core
