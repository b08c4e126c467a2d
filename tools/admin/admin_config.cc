#include "tools/admin/admin_config.h"

#include <cstdlib>

#include "client/store_client.h"
#include "master/api/types.h"

namespace mooncake::admin {

std::string MasterFromEnvironment() {
  const char* value = std::getenv(kMasterVariable);
  return value == nullptr ? "" : value;
}

Result<AdminConfig> MakeConfig(const AdminOptions& options, const std::string& environment) {
  AdminConfig config;
  config.json = options.json;
  config.escaped = options.escaped;
  const std::string& given = !options.master.empty() ? options.master : environment;
  const char* const source = !options.master.empty() ? "--master" : kMasterVariable;
  const auto master = ParseHostPort(given.empty() ? kDefaultMaster : given);
  if (!master.ok()) return Annotate(master.status(), source);
  config.master = *master;

  config.tenant = options.tenant.empty() ? kDefaultTenant : options.tenant;
  if (config.tenant.size() > kMaxTenantBytes) {
    return Status(ErrorCode::kInvalidParams, "--tenant: " + std::to_string(config.tenant.size()) +
                                                 " bytes; at most " +
                                                 std::to_string(kMaxTenantBytes));
  }
  if (!options.timeout.empty()) {
    const auto timeout = ParseDuration(options.timeout, Seconds(1));
    if (!timeout.ok()) return Annotate(timeout.status(), "--timeout");
    if (*timeout < Millis(1) || *timeout > kMaxCallTimeout) {
      return Status(ErrorCode::kInvalidParams,
                    "--timeout: " + options.timeout + "; from 1ms to 24h");
    }
    config.timeout = *timeout;
    config.walk_timeout = *timeout;
  }
  return config;
}

}  // namespace mooncake::admin
