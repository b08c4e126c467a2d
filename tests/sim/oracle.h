// What happened, as the world's omniscient observer sees it, and the checks of promises P1 to P3 against it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "master/api/types.h"
#include "tests/sim/node_actor.h"
#include "tests/sim/world.h"

namespace mooncake::sim {

class Oracle {
 public:
  explicit Oracle(const World& world) : world_(world) {}

  // What the master did, at the moment it did it.
  void Started(const std::string& key, PutId put_id, uint64_t size, uint64_t token);
  void Committed(const std::string& key, PutId put_id);
  void Removed(const std::string& key);
  void Renamed(const std::string& from, const std::string& to);
  // From now on anything committed so far may be gone: a node or the master died, or something was evicted.
  void LossPossible() { last_loss_ = world_.now(); }
  void MasterLostAll();

  // What clients were told.
  void PutReturned(const std::string& key, PutId put_id, const Status& status);
  void GetReturned(const std::string& key, TimePoint started, PutId put_id, uint64_t size,
                   const std::vector<Piece>& pieces);
  void NotFoundReturned(const std::string& key, TimePoint started);

  void Violation(const std::string& what);
  const std::optional<std::string>& violation() const { return violation_; }
  uint64_t reads_checked() const { return reads_checked_; }

 private:
  struct Put {
    std::string key;
    uint64_t size = 0;
    uint64_t token = 0;
    bool refused = false;  // its writer was told that it failed
    bool committed = false;
  };
  struct Interval {
    PutId put_id;
    TimePoint from;
    TimePoint to;  // kNever: still
  };
  void Close(const std::string& key);

  const World& world_;
  std::map<uint64_t, Put> puts_;
  std::map<std::string, std::vector<Interval>> history_;
  TimePoint last_loss_{};
  uint64_t reads_checked_ = 0;
  std::optional<std::string> violation_;
};

}  // namespace mooncake::sim
