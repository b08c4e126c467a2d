// Readers and views: one version of one object, kept readable by a lease that is renewed in the background.
#pragma once

#include <memory>

#include "client/client_context.h"
#include "client/store_client.h"

namespace mooncake::internal {

// kObjectNotFound, kReplicaIsNotReady, kRpcFail, kRpcTimeout.
Result<std::shared_ptr<ObjectReader>> OpenReader(std::shared_ptr<ClientContext> context,
                                                 const ObjectName& name, TimePoint deadline);

// kNotSupported: no replica is one extent in memory of this host.
Result<std::unique_ptr<ObjectView>> OpenView(std::shared_ptr<ClientContext> context,
                                             const ObjectName& name, TimePoint deadline);

}  // namespace mooncake::internal
