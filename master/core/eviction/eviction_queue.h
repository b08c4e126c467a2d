// The objects of a segment that may be evicted, coldest first. Four of them, because the order of last use then is also
// the order of lease ends: in the Read queues every object had its lease at its last touch, in the Unread queues
// none has one. So the coldest object of a queue says whether the queue has anything to give, without a scan.
#pragma once

#include <array>
#include <cstddef>

#include "master/core/object.h"
#include "transfer/base/check.h"

namespace mooncake::core {

// Intrusive list through Object::colder and Object::warmer.
class EvictionQueue {
 public:
  Object* coldest() const { return coldest_; }
  bool empty() const { return coldest_ == nullptr; }

  void PushWarmest(Object* object) {
    object->colder = warmest_;
    object->warmer = nullptr;
    (warmest_ == nullptr ? coldest_ : warmest_->warmer) = object;
    warmest_ = object;
  }
  void Remove(Object* object) {
    (object->colder == nullptr ? coldest_ : object->colder->warmer) = object->warmer;
    (object->warmer == nullptr ? warmest_ : object->warmer->colder) = object->colder;
    object->colder = object->warmer = nullptr;
  }
  // `to` takes the place of `from`.
  void Replace(Object* from, Object* to) {
    to->colder = from->colder;
    to->warmer = from->warmer;
    (to->colder == nullptr ? coldest_ : to->colder->warmer) = to;
    (to->warmer == nullptr ? warmest_ : to->warmer->colder) = to;
    from->colder = from->warmer = nullptr;
  }

 private:
  Object* coldest_ = nullptr;
  Object* warmest_ = nullptr;
};

// Of whatever has `touched` and `put_id`: least recently used first, and of those the older version.
struct ColderFirst {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a.touched != b.touched ? a.touched < b.touched : a.put_id < b.put_id;
  }
};

using EvictionQueues = std::array<EvictionQueue, static_cast<size_t>(Queue::kNone)>;

}  // namespace mooncake::core
