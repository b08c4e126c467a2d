// What a command works with: the store (reached when it is first needed), the console, the options.
#pragma once

#include <functional>
#include <memory>

#include "client/store_client.h"
#include "master/api/master_api.h"
#include "tools/admin/admin_config.h"
#include "tools/admin/console.h"
#include "transfer/base/clock.h"

namespace mooncake::admin {

// How to reach the store; tests put fakes here.
struct Connector {
  std::function<Result<std::unique_ptr<Client>>(const ClientOptions&)> client;
  std::function<std::unique_ptr<MasterApi>(const HostPort&)> master;
};
Connector RealConnector(const Clock& clock);

// Thread-compatible. Lives for one command.
class Session {
 public:
  Session(AdminConfig config, Console console, Connector connector, const Clock& clock);

  // For objects: registers a client with the master.
  Result<Client*> client();
  // For questions about the cluster: leaves no trace there.
  MasterApi& master();
  TimePoint Deadline() const { return clock_.Now() + config_.timeout; }

  const AdminConfig& config() const { return config_; }
  Console& console() { return console_; }
  const Clock& clock() const { return clock_; }

 private:
  const AdminConfig config_;
  Console console_;
  const Connector connector_;
  const Clock& clock_;
  std::unique_ptr<MasterApi> master_;
  std::unique_ptr<Client> client_;
};

}  // namespace mooncake::admin
