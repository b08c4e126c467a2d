#include "master/core/object.h"

#include <cstring>
#include <new>

namespace mooncake::core {

Object* Object::Create(Tenant* tenant, uint32_t hash, std::string_view key) {
  void* memory = ::operator new(sizeof(Object) + key.size());
  auto* object = new (memory) Object;
  object->tenant = tenant;
  object->hash = hash;
  object->key_size = static_cast<uint16_t>(key.size());
  std::memcpy(reinterpret_cast<char*>(object + 1), key.data(), key.size());
  return object;
}

void Object::Destroy(Object* object) {
  object->~Object();
  ::operator delete(object);
}

}  // namespace mooncake::core
