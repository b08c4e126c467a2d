// Values under an id, each with a deadline, found by id or by what is due first. Equal deadlines come in order of
// id, so that nothing depends on a hash table's order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include "transfer/base/check.h"
#include "transfer/base/time.h"

namespace mooncake::core {

template <typename Id, typename T>
class TimedMap {
 public:
  struct Item {
    TimePoint deadline;
    T value;
  };

  // `id` must be new.
  T& Insert(const Id& id, TimePoint deadline, T value) {
    auto [it, fresh] = items_.try_emplace(id, Item{deadline, std::move(value)});
    MC_CHECK(fresh) << "an id was inserted twice";
    order_.insert({deadline, id});
    return it->second.value;
  }
  Item* Find(const Id& id) {
    const auto it = items_.find(id);
    return it == items_.end() ? nullptr : &it->second;
  }
  const Item* Find(const Id& id) const {
    const auto it = items_.find(id);
    return it == items_.end() ? nullptr : &it->second;
  }
  // `id` must be there.
  void SetDeadline(const Id& id, TimePoint deadline) {
    Item* item = Find(id);
    MC_CHECK(item != nullptr);
    order_.erase({item->deadline, id});
    item->deadline = deadline;
    order_.insert({deadline, id});
  }
  std::optional<T> Take(const Id& id) {
    const auto it = items_.find(id);
    if (it == items_.end()) return std::nullopt;
    order_.erase({it->second.deadline, id});
    std::optional<T> value(std::move(it->second.value));
    items_.erase(it);
    return value;
  }
  TimePoint NextDeadline() const { return order_.empty() ? kNever : order_.begin()->first; }
  // The id that is due first, if its deadline has come.
  std::optional<Id> Due(TimePoint now) const {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    return order_.begin()->second;
  }
  size_t size() const { return items_.size(); }

  // In order of deadline, then id.
  template <typename F>
  void ForEach(F&& visit) const {
    for (const auto& [deadline, id] : order_) visit(id, *Find(id));
  }

 private:
  struct Hash {
    size_t operator()(const Id& id) const {
      return static_cast<size_t>(std::hash<Id>()(id) * uint64_t{0x9e3779b97f4a7c15});
    }
  };
  absl::flat_hash_map<Id, Item, Hash> items_;
  absl::btree_set<std::pair<TimePoint, Id>> order_;
};

}  // namespace mooncake::core
