// HTTP for operators and probes: GET /health, /ready, /role, /metrics, /metrics/summary, /get_all_segments,
// /get_segments_detail. No authentication: bind it to an address that only they reach.
#pragma once

#include <functional>
#include <memory>

#include "master/server/master_service.h"
#include "master/server/metrics_text.h"
#include "transfer/base/units.h"

namespace mooncake {

// Thread-safe. Serves from Start until destruction. `service` must outlive it.
class AdminHttp {
 public:
  // kRpcFail with cause and cure when the port cannot be had. Port 0: any free one.
  static Result<std::unique_ptr<AdminHttp>> Start(const HostPort& address, MasterService& service,
                                                  std::function<ConnectionNumbers()> connections);
  ~AdminHttp();  // ends within about two seconds, however slow a client is

  const HostPort& address() const;

 private:
  class Impl;
  explicit AdminHttp(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mooncake
