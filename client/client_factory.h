// Makes a Client from parts: for the embedded store, whose master is in the same process, and for tests.
#pragma once

#include <memory>
#include <string>

#include "client/store_client.h"
#include "master/api/master_api.h"
#include "transfer/base/clock.h"
#include "transfer/engine/transfer_engine.h"

namespace mooncake::internal {

struct ClientParts {
  std::shared_ptr<MasterApi> master;
  std::shared_ptr<TransferEngine> engine;
  std::string address;  // told to the master, for people; "" = host name and process id
};

// As Client::Connect, which calls it. options.master, use_shared_memory and transfer_threads are not looked at: they are in the
// parts already. `clock` must outlive the client and its readers.
Result<std::unique_ptr<Client>> MakeClient(const ClientOptions& options, ClientParts parts,
                                           const Clock& clock);

}  // namespace mooncake::internal
