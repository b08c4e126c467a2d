// A value or the Status that says why there is none. std::expected is not in our tool chains.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "transfer/base/check.h"
#include "transfer/base/status.h"

namespace mooncake {

template <typename T>
class [[nodiscard]] Result {
  static_assert(!std::is_same_v<std::decay_t<T>, Status>, "use Status itself");

 public:
  using value_type = T;

  // Implicit on purpose, so that functions can `return value;` and `return status;`.
  Result(T value) : state_(std::in_place_index<1>, std::move(value)) {}
  Result(Status status) : state_(std::in_place_index<0>, std::move(status)) {
    MC_CHECK(!std::get<0>(state_).ok()) << "a Result made from an OK status has no value";
  }
  Result(ErrorCode code, std::string message) : Result(Status(code, std::move(message))) {}

  bool ok() const { return state_.index() == 1; }
  explicit operator bool() const { return ok(); }

  // Status::Ok() when there is a value.
  Status status() const { return ok() ? Status::Ok() : std::get<0>(state_); }
  ErrorCode code() const { return ok() ? ErrorCode::kOk : std::get<0>(state_).code(); }
  const std::string& message() const {
    static const std::string empty;
    return ok() ? empty : std::get<0>(state_).message();
  }

  T& value() & {
    MC_CHECK(ok()) << std::get<0>(state_).ToString();
    return std::get<1>(state_);
  }
  const T& value() const& {
    MC_CHECK(ok()) << std::get<0>(state_).ToString();
    return std::get<1>(state_);
  }
  T&& value() && {
    MC_CHECK(ok()) << std::get<0>(state_).ToString();
    return std::move(std::get<1>(state_));
  }
  T value_or(T fallback) const& { return ok() ? std::get<1>(state_) : std::move(fallback); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  void Ignore(std::string_view why) const { (void)why; }

 private:
  std::variant<Status, T> state_;
};

namespace internal {
template <typename T>
Status ToStatus(const Result<T>& result) {
  return result.status();
}
}  // namespace internal

}  // namespace mooncake

// ASSIGN_OR_RETURN(auto x, F()): x = value of F(), or return F()'s status.
#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_IMPL(MC_CONCAT(mc_result_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                          \
  if (!tmp.ok()) return tmp.status();         \
  lhs = std::move(tmp).value()
