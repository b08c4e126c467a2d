// What a client, its readers and its views share. Lives until the last of them is gone.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "client/data_path.h"
#include "client/lease_keeper.h"
#include "client/object_fetcher.h"
#include "client/object_writer.h"
#include "client/segment_directory.h"
#include "client/store_client.h"
#include "master/api/master_api.h"

namespace mooncake::internal {

// Group members: all fixed after construction, each with its own synchronisation.
struct ClientContext {
  ClientContext(const ClientOptions& client_options, ClientId client_id,
                std::shared_ptr<MasterApi> master_api, std::shared_ptr<TransferEngine> engine,
                const Clock& system_clock, const std::string& address);

  // kUnavailableInCurrentMode in a child made by fork(): threads and connections stayed with the parent.
  Status CheckProcess() const;
  bool InForkedChild() const;
  // Which segments failed since the last time.
  void TellFailures(TimePoint deadline);
  // 0 = the client's own time-out.
  TimePoint DeadlineOf(Duration timeout) const;
  ObjectName NameOf(std::string_view key) const {
    return {.tenant = options.tenant, .key = std::string(key)};
  }

  const ClientOptions options;
  const ClientId id;
  const pid_t pid;
  const Clock& clock;
  const std::shared_ptr<MasterApi> master;
  SegmentDirectory directory;
  DataPath data;
  ObjectFetcher fetcher;
  ObjectWriter writer;
  const std::shared_ptr<LeaseKeeper> leases;
};

// Drops one reference; in a forked child it leaks it instead, because the threads to be joined are not there (F110).
void ReleaseContext(std::shared_ptr<ClientContext> context);

}  // namespace mooncake::internal
