// What both users of RocksDB need: numbers as keys, errors, and a walk that passes over damage.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <rocksdb/iterator.h>
#include <rocksdb/status.h>

#include "transfer/base/status.h"

namespace mooncake {

inline std::string BigEndian(uint64_t value) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (56 - 8 * i) & 0xff);
  return bytes;
}

// Of 8 bytes.
inline uint64_t FromBigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

inline Status FromRocksDb(const rocksdb::Status& status, const std::string& what) {
  if (status.ok()) return Status::Ok();
  return {ErrorCode::kPersistentFail, what + ": " + status.ToString()};
}

// Visits keys that are made of consecutive numbers. A block that cannot be read ends RocksDB's iterator; here the walk goes on
// behind it, with doubling steps, so that damage costs the records of its block and at most as many after it.
class SkippingWalk {
 public:
  SkippingWalk(rocksdb::Iterator& it, std::function<std::string(uint64_t)> key)
      : it_(it), key_(std::move(key)) {}

  void Seek(uint64_t number) {
    next_ = number;
    it_.Seek(key_(number));
    PassDamage();
  }
  bool Valid() const { return it_.Valid(); }
  void Next() {
    const rocksdb::Slice key = it_.key();
    next_ = FromBigEndian(std::string_view(key.data() + key.size() - 8, 8)) + 1;
    it_.Next();
    PassDamage();
  }

 private:
  void PassDamage() {
    for (uint64_t step = 1; !it_.Valid() && !it_.status().ok() && step < kFarthest; step *= 2) {
      next_ += step;
      it_.Seek(key_(next_));
    }
  }

  // No block holds so many records.
  static constexpr uint64_t kFarthest = 1 << 20;

  rocksdb::Iterator& it_;
  std::function<std::string(uint64_t)> key_;
  uint64_t next_ = 0;
};

}  // namespace mooncake
