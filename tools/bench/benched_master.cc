#include "tools/bench/benched_master.h"

#include "master/api/remote_master.h"

namespace mooncake::bench {
namespace {

class NoPolicies final : public QuotaPolicyStore {
 public:
  Result<QuotaPolicies> Load() override { return QuotaPolicies(); }
  Status Save(const QuotaPolicies&) override { return Status::Ok(); }
  std::string Describe() const override { return "nowhere"; }
};

}  // namespace

Result<std::unique_ptr<BenchedMaster>> BenchedMaster::Create(const Clock& clock,
                                                             const Clock& master_clock,
                                                             const Options& options) {
  std::unique_ptr<BenchedMaster> master(new BenchedMaster(clock));
  MasterServiceOptions service_options;
  service_options.core.client_ttl = options.client_ttl;
  service_options.core.multi_tenants = options.quotas;
  ASSIGN_OR_RETURN(
      master->service_,
      MasterService::Create(service_options, master_clock, nullptr,
                            options.quotas ? std::make_unique<NoPolicies>() : nullptr));
  MasterService& service = *master->service_;
  ASSIGN_OR_RETURN(master->server_,
                   ThriftServer::Start(
                       {.address = {"127.0.0.1", 0}, .latencies = &service.latencies()}, service,
                       [&service] { return service.term(); }, clock));
  master->remote_ = MakeRemoteMaster({.address = master->server_->address()}, clock);
  return master;
}

Status BenchedMaster::Mount(const ClientId& owner, const std::string& name, uint64_t objects) {
  SegmentDescriptor segment;
  segment.id = {1, ++segments_};
  segment.name = name;
  segment.size = objects * kMiB;
  segment.epoch = {1};
  segment.owner = owner;
  segment.host_id = "bench";
  segment.protocol = "tcp";
  segment.endpoint = "127.0.0.1:1";
  return service_->MountSegment(owner, segment, Deadline());
}

Status BenchedMaster::Fill(const std::string& prefix, uint64_t count, const std::string& segment) {
  for (uint64_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(PutObject(*service_, {kDefaultTenant, KeyOf(prefix, i)}, Deadline(), segment));
  }
  return Status::Ok();
}

Status BenchedMaster::PutObject(MasterApi& api, const ObjectName& name, TimePoint deadline,
                                const std::string& segment) {
  PutStartArgs start;
  start.client = kClient;
  start.name = name;
  start.size = kObjectBytes;
  if (!segment.empty()) start.config.preferred_segments = {segment};
  auto started = api.BatchPutStart({&start, 1}, deadline);
  RETURN_IF_ERROR(started[0].status());
  PutEndArgs end;
  end.client = kClient;
  end.name = start.name;
  end.put_id = started[0]->put_id;
  return api.BatchPutEnd({&end, 1}, deadline)[0];
}

}  // namespace mooncake::bench
