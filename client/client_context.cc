#include "client/client_context.h"

#include <unistd.h>

#include <utility>

namespace mooncake::internal {

ClientContext::ClientContext(const ClientOptions& client_options, ClientId client_id,
                             std::shared_ptr<MasterApi> master_api,
                             std::shared_ptr<TransferEngine> engine, const Clock& system_clock,
                             const std::string& address)
    : options(client_options),
      id(client_id),
      pid(getpid()),
      clock(system_clock),
      master(std::move(master_api)),
      directory(*master),
      data(std::move(engine), clock),
      fetcher(directory, data, clock),
      writer(*master, directory, data, clock, id),
      leases(std::make_shared<LeaseKeeper>(
          *master, clock, id, address,
          LeaseKeeper::Hooks{.also = [this] { data.Tick(); },
                             .tell = [this](TimePoint deadline) { TellFailures(deadline); },
                             .on_master = client_options.on_master})) {}

void ClientContext::TellFailures(TimePoint deadline) {
  const std::vector<SegmentId> failed = data.TakeFailures();
  if (failed.empty()) return;
  master->ReportReplicaFailure(id, failed, deadline)
      .Ignore("a hint; a failure that lasts is told with the next ping");
}

bool ClientContext::InForkedChild() const { return getpid() != pid; }

Status ClientContext::CheckProcess() const {
  if (!InForkedChild()) return Status::Ok();
  return Status(ErrorCode::kUnavailableInCurrentMode,
                "this client was made in process " + std::to_string(pid) +
                    " and does not work in its forked child " + std::to_string(getpid()) +
                    "; create a client after the fork");
}

TimePoint ClientContext::DeadlineOf(Duration timeout) const {
  return clock.Now() + (timeout == Duration::zero() ? options.timeout : timeout);
}

void ReleaseContext(std::shared_ptr<ClientContext> context) {
  if (context == nullptr || !context->InForkedChild()) return;
  new std::shared_ptr<ClientContext>(std::move(context));
}

}  // namespace mooncake::internal
