#include "master/core/object_table.h"

#include <algorithm>
#include <utility>

#include <absl/hash/hash.h>

#include "transfer/base/check.h"

namespace mooncake::core {

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

ObjectTable::ObjectTable(uint32_t parts) : parts_(parts) { MC_CHECK(parts > 0); }

ObjectTable::~ObjectTable() {
  for (Part& part : parts_) {
    for (Object* object : part) Object::Destroy(object);
  }
}

uint32_t ObjectTable::HashOf(const Tenant& tenant, std::string_view key) {
  const size_t hash = absl::Hash<std::pair<const Tenant*, std::string_view>>()({&tenant, key});
  return static_cast<uint32_t>(hash ^ (uint64_t{hash} >> 32));
}

const Tenant* ObjectTable::FindTenant(std::string_view name) const {
  if (last_ != nullptr && last_->name == name) return last_;
  const auto it = tenants_.find(name);
  if (it == tenants_.end()) return nullptr;
  last_ = it->second.get();
  return last_;
}

Tenant* ObjectTable::FindTenant(std::string_view name) {
  return const_cast<Tenant*>(std::as_const(*this).FindTenant(name));
}

Object* ObjectTable::Find(std::string_view tenant, std::string_view key) const {
  const Tenant* found = FindTenant(tenant);
  return found == nullptr ? nullptr : Find(*found, key);
}

Object* ObjectTable::Find(const Tenant& tenant, std::string_view key) const {
  const Probe probe{&tenant, key, HashOf(tenant, key)};
  const Part& part = PartOf(probe.hash);
  const auto it = part.find(probe);
  return it == part.end() ? nullptr : *it;
}

Tenant& ObjectTable::FindOrAddTenant(std::string_view name) {
  if (Tenant* known = FindTenant(name)) return *known;
  const auto it = tenants_.emplace(std::string(name), std::make_unique<Tenant>()).first;
  Tenant& tenant = *it->second;
  tenant.name = std::string(name);
  if (free_numbers_.empty()) {
    tenant.number = static_cast<uint32_t>(by_number_.size());
    by_number_.push_back(&tenant);
  } else {
    tenant.number = free_numbers_.back();
    free_numbers_.pop_back();
    by_number_[tenant.number] = &tenant;
  }
  return tenant;
}

void ObjectTable::ForgetIfUnused(Tenant* tenant) {
  const TenantBooks& books = tenant->books;
  if (tenant->objects > 0 || books.nameless > 0 || books.requested > 0) return;
  MC_CHECK(books.charged == 0) << books.charged;
  MC_CHECK(tenant->readable.empty() && tenant->writing.empty() && tenant->groups.empty());
  if (last_ == tenant) last_ = nullptr;
  by_number_[tenant->number] = nullptr;
  free_numbers_.push_back(tenant->number);
  const auto it = tenants_.find(tenant->name);
  MC_CHECK(it != tenants_.end());
  tenants_.erase(it);
}

Object* ObjectTable::Insert(std::string_view tenant, std::string_view key) {
  Tenant* owner = &FindOrAddTenant(tenant);
  Object* object = Object::Create(owner, HashOf(*owner, key), key);
  MC_CHECK(PartOf(object->hash).insert(object).second);
  owner->longest_key = std::max(owner->longest_key, key.size());
  ++owner->objects;
  ++size_;
  return object;
}

void ObjectTable::Erase(Object* object) {
  MC_CHECK(!object->has_version() && object->pending == nullptr);
  Tenant* tenant = object->tenant;
  MC_CHECK(PartOf(object->hash).erase(object) == 1);
  Object::Destroy(object);
  --size_;
  --tenant->objects;
  ForgetIfUnused(tenant);
}

}  // namespace mooncake::core
