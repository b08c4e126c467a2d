// A master in this process, to be measured: directly and through its RPC port. Its segments are nobody's memory, so no operation
// touches data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "master/api/master_api.h"
#include "master/server/master_service.h"
#include "master/server/thrift_server.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/base/units.h"

namespace mooncake::bench {

class BenchedMaster {
 public:
  static constexpr ClientId kClient{3, 4};
  static constexpr uint64_t kObjectBytes = kMiB - 64;  // a MiB with its seal

  struct Options {
    Duration client_ttl = Seconds(86400);
    bool quotas = false;  // kept nowhere
  };
  // `clock` is for callers; the master lives by `master_clock`. Both must outlive it.
  static Result<std::unique_ptr<BenchedMaster>> Create(const Clock& clock,
                                                       const Clock& master_clock,
                                                       const Options& options);

  // A segment of `objects` objects, lent by `owner`.
  Status Mount(const ClientId& owner, const std::string& name, uint64_t objects);
  // Objects KeyOf(prefix, 0 .. count - 1), on `segment` unless it is "".
  Status Fill(const std::string& prefix, uint64_t count, const std::string& segment = "");

  static std::string KeyOf(const std::string& prefix, uint64_t i) {
    return prefix + std::to_string(i);
  }
  static Status PutObject(MasterApi& api, const ObjectName& name, TimePoint deadline,
                          const std::string& segment = "");

  TimePoint Deadline() const { return clock_.Now() + Seconds(60); }
  MasterService& local() { return *service_; }
  MasterApi& remote() { return *remote_; }

 private:
  explicit BenchedMaster(const Clock& clock) : clock_(clock) {}
  const Clock& clock_;
  uint64_t segments_ = 0;
  std::unique_ptr<MasterService> service_;
  std::unique_ptr<ThriftServer> server_;
  std::unique_ptr<MasterApi> remote_;
};

}  // namespace mooncake::bench
