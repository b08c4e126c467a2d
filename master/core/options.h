// What the core may be told about policy. Filled once by the shell, validated once.
#pragma once

#include <cstdint>
#include <string>

#include "master/api/types.h"
#include "transfer/base/status.h"
#include "transfer/base/time.h"

namespace mooncake::core {

enum class PlacementKind : uint8_t { kRandom, kFreeRatioFirst, kLocalFirst };

struct CoreOptions {
  Duration lease_ttl = Millis(10000);
  Duration soft_pin_ttl = Seconds(1800);
  Duration max_soft_pin_ttl = Seconds(86400);
  bool allow_evict_soft_pinned = true;
  // Eviction starts above `eviction_high_watermark` of the bytes (all segments together, or one of them) and
  // goes on until `eviction_ratio` below it. Both in thousandths; 1000 = only when an allocation fails.
  uint32_t eviction_high_watermark_permille = 900;
  uint32_t eviction_ratio_permille = 50;
  Duration put_discard_timeout = Seconds(30);   // age after which another PutStart may preempt a write
  Duration put_release_timeout = Seconds(600);  // age after which its space is given back
  Duration client_ttl = Seconds(10);
  PlacementKind placement = PlacementKind::kRandom;
  uint32_t max_extents_per_replica = 64;        // how far an object may be split when no hole is large enough
  uint64_t min_split_bytes = uint64_t{1} << 20;  // never into pieces smaller than this

  // kInvalidParams with the option's name and both values.
  Status Validate() const;

  // How long after PutStart nodes accept writes of that put: the release timeout less a margin for a write
  // that was admitted just before (at most 20 s at the node) and for clock estimates.
  Duration WriteGrant() const {
    return put_release_timeout >= Seconds(60) ? put_release_timeout - Seconds(30) : put_release_timeout / 2;
  }
};

// "random", "free_ratio_first", "local_first"; kInvalidParams names the choices.
Status ParsePlacement(const std::string& text, PlacementKind& out);

}  // namespace mooncake::core
