#include "client/client_factory.h"

#include <unistd.h>

#include <array>
#include <utility>
#include <vector>

#include "client/arguments.h"
#include "client/client_context.h"
#include "client/store_client_impl.h"
#include "master/api/remote_master.h"
#include "transfer/base/executor.h"
#include "transfer/base/machine.h"
#include "transfer/transport/transport_factory.h"

namespace mooncake {
namespace internal {
namespace {

std::string ProcessName() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return std::string(host.data()) + " pid " + std::to_string(getpid());
}

}  // namespace

Result<std::unique_ptr<Client>> MakeClient(const ClientOptions& options, ClientParts parts,
                                           const Clock& clock) {
  RETURN_IF_ERROR(CheckClientOptions(options));
  ClientOptions completed = options;
  if (completed.host_id.empty()) completed.host_id = MachineId();
  const ClientId id = RandomId<ClientId>();
  const std::string address = parts.address.empty() ? ProcessName() : parts.address;
  // The one call that tells whether there is a master at all; it also makes the client known there.
  ASSIGN_OR_RETURN(const PingReply reply,
                   parts.master->Ping(id, address, clock.Now() + options.timeout));
  auto context = std::make_shared<ClientContext>(completed, id, std::move(parts.master),
                                                 std::move(parts.engine), clock, address);
  context->leases->Start(reply.client_ttl);
  return std::unique_ptr<Client>(new StoreClient(std::move(context)));
}

}  // namespace internal

Result<std::unique_ptr<Client>> Client::Connect(const ClientOptions& options) {
  RETURN_IF_ERROR(internal::CheckClientOptions(options));
  const Result<HostPort> address = ParseHostPort(options.master);
  if (!address.ok()) return Annotate(address.status(), "master '" + options.master + "'");
  const Clock& clock = SystemClock();
  const TransportFactoryOptions transports{
      .host_id = options.host_id.empty() ? MachineId() : options.host_id,
      .shared_memory = options.use_shared_memory,
      .rdma = options.protocol == "rdma"};
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Transport>> paths,
                   MakeTransports(transports, clock));
  ASSIGN_OR_RETURN(
      std::unique_ptr<TransferEngine> engine,
      TransferEngine::Create(std::move(paths),
                             MakeThreadPool("mc-transfer", options.transfer_threads), clock, {}));
  internal::ClientParts parts{.master = MakeRemoteMaster({.address = *address}, clock),
                              .engine = std::move(engine)};
  Result<std::unique_ptr<Client>> client = internal::MakeClient(options, std::move(parts), clock);
  if (!client.ok())
    return Annotate(client.status(), "the master at " + options.master + " was not reached");
  return client;
}

}  // namespace mooncake
