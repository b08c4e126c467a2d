#include "storenode/node/local_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include "transfer/base/unique_fd.h"
#include "transfer/base/units.h"

namespace mooncake {
namespace {

std::string ErrnoText(int error) { return std::generic_category().message(error); }

Result<std::string> NumericHost(const sockaddr* address, socklen_t length) {
  std::array<char, NI_MAXHOST> text{};
  const int error =
      getnameinfo(address, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  if (error != 0)
    return Status(ErrorCode::kInternal, std::string("getnameinfo: ") + gai_strerror(error));
  return std::string(text.data());
}

}  // namespace

bool IsWildcardHost(std::string_view host) {
  return host.empty() || host == "0.0.0.0" || host == "::";
}

Result<std::string> LocalAddressTowards(const std::string& peer) {
  ASSIGN_OR_RETURN(const HostPort target, ParseHostPort(peer));
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &found);
  if (error != 0) {
    return Status(ErrorCode::kTransferFail, "address of " + peer + ": " + gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::string failure = "no address";
  for (const addrinfo* candidate = found; candidate != nullptr; candidate = candidate->ai_next) {
    const UniqueFd fd(socket(candidate->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage local{};
    socklen_t length = sizeof(local);
    // Connecting a datagram socket only chooses the route.
    if (fd.get() >= 0 && connect(fd.get(), candidate->ai_addr, candidate->ai_addrlen) == 0 &&
        getsockname(fd.get(), reinterpret_cast<sockaddr*>(&local), &length) == 0) {
      return NumericHost(reinterpret_cast<const sockaddr*>(&local), length);
    }
    failure = ErrnoText(errno);
  }
  return Status(ErrorCode::kTransferFail, "route to " + peer + ": " + failure);
}

Result<std::string> HostName() {
  std::array<char, 256> text{};
  if (gethostname(text.data(), text.size() - 1) != 0 || text[0] == '\0') {
    return Status(ErrorCode::kInternal, "this machine has no host name");
  }
  return std::string(text.data());
}

}  // namespace mooncake
