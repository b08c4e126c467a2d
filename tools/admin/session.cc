#include "tools/admin/session.h"

#include <utility>

#include "master/api/remote_master.h"

namespace mooncake::admin {

Connector RealConnector(const Clock& clock) {
  return {.client = [](const ClientOptions& options) { return Client::Connect(options); },
          .master =
              [&clock](const HostPort& address) {
                return MakeRemoteMaster({.address = address}, clock);
              }};
}

Session::Session(AdminConfig config, Console console, Connector connector, const Clock& clock)
    : config_(std::move(config)),
      console_(console),
      connector_(std::move(connector)),
      clock_(clock) {}

Result<Client*> Session::client() {
  if (!client_) {
    ClientOptions options;
    options.master = config_.master.ToString();
    options.tenant = config_.tenant;
    options.timeout = config_.timeout;
    ASSIGN_OR_RETURN(client_, connector_.client(options));
  }
  return client_.get();
}

MasterApi& Session::master() {
  if (!master_) master_ = connector_.master(config_.master);
  return *master_;
}

}  // namespace mooncake::admin
