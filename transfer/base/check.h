// MC_CHECK: a promise of our own code, checked in every build. Never reachable from outside input.
#pragma once

#include <sstream>

namespace mooncake::internal {

// Collects the message; its destructor prints file, line, condition and message to stderr and aborts.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  [[noreturn]] ~CheckFailure();

  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

// Lets the conditional operator below have type void on both sides.
struct CheckVoidify {
  void operator&(std::ostream&) const {}
};

}  // namespace mooncake::internal

#define MC_CHECK(condition)                           \
  (__builtin_expect(static_cast<bool>(condition), 1)) \
      ? static_cast<void>(0)                          \
      : ::mooncake::internal::CheckVoidify() &        \
            ::mooncake::internal::CheckFailure(__FILE__, __LINE__, #condition).stream()

#define MC_CHECK_OK(expr)                                                                \
  do {                                                                                   \
    const auto mc_check_status_ = (expr);                                                \
    MC_CHECK(mc_check_status_.ok()) << ::mooncake::internal::ToStatus(mc_check_status_); \
  } while (false)
