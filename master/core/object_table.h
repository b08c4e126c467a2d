// Keys to objects: a hash table in parts (so that growth never pauses for long), and per tenant an ordered index of the
// keys with a readable version, for listing and walks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_set.h>

#include "master/core/object.h"

namespace mooncake::core {

struct KeyOrder {
  using is_transparent = void;
  bool operator()(const Object* a, const Object* b) const { return a->key() < b->key(); }
  bool operator()(const Object* a, std::string_view b) const { return a->key() < b; }
  bool operator()(std::string_view a, const Object* b) const { return a < b->key(); }
};
using KeyIndex = absl::btree_set<Object*, KeyOrder>;

// What a tenant may use and does use; quota.h.
struct TenantBooks {
  uint64_t charged =
      0;  // bytes of the blocks that it holds, under whatever name or none; those that wait for the log do not count
  uint64_t nameless = 0;   // detached versions and discarded puts
  uint64_t requested = 0;  // 0: no policy
  uint64_t effective = 0;  // what the capacity allows of it
  bool closed = false;     // its policy is about to go: no new writes
  // Eviction within the tenant goes on behind this key, and has met so many objects since the last victim.
  std::string hand;
  uint64_t looked = 0;
  uint64_t wish = 0;  // bytes that a put lacked; State::wishing
  uint64_t evicted_bytes = 0;
  uint64_t rejected = 0;  // puts, since start
};

// Exists while it has an object, a nameless version or a policy.
struct Tenant {
  std::string name;
  uint32_t number = 0;     // small; used again when it is gone
  uint64_t objects = 0;    // in the table, readable or not
  size_t longest_key = 0;  // there ever was
  KeyIndex readable;       // objects with a version
  KeyIndex writing;        // objects with a write in progress
  absl::btree_map<std::string, std::unique_ptr<Group>, std::less<>> groups;
  TenantBooks books;
};
using TenantMap = absl::btree_map<std::string, std::unique_ptr<Tenant>, std::less<>>;

// The first key after every key that starts with `prefix`; "" when there is none.
std::string PrefixEnd(std::string_view prefix);

// Not thread-safe.
class ObjectTable {
 public:
  explicit ObjectTable(uint32_t parts);
  ~ObjectTable();
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;

  Object* Find(std::string_view tenant, std::string_view key) const;
  Object* Find(const Tenant& tenant, std::string_view key) const;
  // The key must be new.
  Object* Insert(std::string_view tenant, std::string_view key);
  // Neither version nor write may be left. May delete the tenant.
  void Erase(Object* object);

  const Tenant* FindTenant(std::string_view name) const;
  Tenant* FindTenant(std::string_view name);
  Tenant& FindOrAddTenant(std::string_view name);
  // To be called when it may have lost the last thing that keeps it; don't touch it afterwards.
  void ForgetIfUnused(Tenant* tenant);
  Tenant& tenant(uint32_t number) { return *by_number_[number]; }
  const TenantMap& tenants() const { return tenants_; }
  uint64_t size() const { return size_; }

 private:
  struct Probe {
    const Tenant* tenant;
    std::string_view key;
    uint32_t hash;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Object* o) const { return Spread(o->hash); }
    size_t operator()(const Probe& p) const { return Spread(p.hash); }
    // The part was chosen by the high bits; spread the low ones.
    static size_t Spread(uint32_t hash) { return hash * uint64_t{0x9e3779b97f4a7c15}; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Object* a, const Object* b) const { return a == b; }
    bool operator()(const Object* a, const Probe& b) const {
      return a->hash == b.hash && a->tenant == b.tenant && a->key() == b.key;
    }
    bool operator()(const Probe& a, const Object* b) const { return operator()(b, a); }
  };
  using Part = absl::flat_hash_set<Object*, Hash, Equal>;

  static uint32_t HashOf(const Tenant& tenant, std::string_view key);
  Part& PartOf(uint32_t hash) { return parts_[(uint64_t{hash} * parts_.size()) >> 32]; }
  const Part& PartOf(uint32_t hash) const { return parts_[(uint64_t{hash} * parts_.size()) >> 32]; }

  std::vector<Part> parts_;
  TenantMap tenants_;
  std::vector<Tenant*> by_number_;
  std::vector<uint32_t> free_numbers_;
  mutable const Tenant* last_ = nullptr;  // the tenant found last: most calls ask for the same
  uint64_t size_ = 0;
};

}  // namespace mooncake::core
