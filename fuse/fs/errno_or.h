// A value or the errno that the kernel is to be told. 0 is never an error.
#pragma once

#include <cerrno>
#include <optional>
#include <utility>

#include "transfer/base/check.h"

namespace mooncake::fs {

struct [[nodiscard]] Errno {
  int value = 0;
  bool ok() const { return value == 0; }
  friend bool operator==(const Errno&, const Errno&) = default;
};
inline constexpr Errno kSuccess{0};

template <typename T>
class [[nodiscard]] ErrnoOr {
 public:
  // Implicit on purpose, so that functions can `return value;` and `return Errno{ENOENT};`.
  ErrnoOr(T value) : value_(std::move(value)) {}
  ErrnoOr(Errno error) : error_(error) { MC_CHECK(!error.ok()) << "success without a value"; }

  bool ok() const { return value_.has_value(); }
  Errno error() const { return error_; }
  T& operator*() {
    MC_CHECK(ok()) << "errno " << error_.value;
    return *value_;
  }
  const T& operator*() const {
    MC_CHECK(ok()) << "errno " << error_.value;
    return *value_;
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

 private:
  std::optional<T> value_;
  Errno error_;
};

}  // namespace mooncake::fs
