// What operators allow each tenant, and the port to where that is kept.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "master/api/quota_types.h"
#include "transfer/base/result.h"

namespace mooncake {

// Tenant -> requested bytes, 1 to kMaxQuotaBytes. A name is 1 to kMaxTenantBytes bytes, whatever they are.
using QuotaPolicies = std::map<std::string, uint64_t>;

// kInvalidParams: a name or a quota that no store keeps; the message names it.
Status CheckQuotaPolicies(const QuotaPolicies& policies);

// All policies of a cluster, as one value that outlives the master. Calls block on I/O, with a bound; one at a time.
//
// A store remembers what it has seen, so that two masters, or a master and an editor, cannot undo each other's changes unnoticed:
// Save replaces only what this store's last Load or Save has seen, or what is gone.
class QuotaPolicyStore {
 public:
  virtual ~QuotaPolicyStore() = default;

  // All or nothing. kInvalidParams: what is kept there is not readable as policies; kObjectNotFound: there is nothing, and that is
  // not as good as an empty one here; kPersistentFail, kRpcFail, kRpcTimeout: the place does not answer, or with an error. Each
  // message names the place and the cure.
  virtual Result<QuotaPolicies> Load() = 0;

  // Durable when it returns OK. kInvalidParams: not policies, or too many for the place; kInvalidVersion: changed since this store
  // last saw it, Load again; kUnavailableInCurrentStatus: another process is saving. With these nothing has changed. kPersistentFail,
  // kRpcFail, kRpcTimeout: what is kept is the old or the new value, whole; saving again is safe.
  virtual Status Save(const QuotaPolicies& policies) = 0;

  // For messages: "file /etc/mooncake/tenants.yaml", "etcd 10.0.0.1:2379".
  virtual std::string Describe() const = 0;
};

}  // namespace mooncake
