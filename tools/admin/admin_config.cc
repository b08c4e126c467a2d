#include "tools/admin/admin_config.h"

#include <cstdlib>
#include <filesystem>

#include "client/store_client.h"
#include "master/api/types.h"
#include "transfer/base/config_reader.h"

namespace mooncake::admin {

namespace {

constexpr char kFileName[] = "mooncake/admin.yaml";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// "": none.
std::string ConfigFile(const AdminOptions& options, const Environment& environment) {
  if (!options.config_path.empty()) return options.config_path;
  for (const std::string& path : environment.config_files) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return "";
}

Status FillFrom(const std::string& path, AdminOptions& options) {
  ASSIGN_OR_RETURN(const auto entries, ReadConfigFile(path));
  for (const auto& [name, value] : entries) {
    std::string* target = name == "master"    ? &options.master
                          : name == "tenant"  ? &options.tenant
                          : name == "timeout" ? &options.timeout
                                              : nullptr;
    if (target == nullptr) {
      return Status(ErrorCode::kInvalidParams,
                    path + ": there is no option '" + EscapeForDisplay(name) +
                        "' here; possible are master, tenant and timeout");
    }
    if (target->empty()) *target = value;
  }
  return Status::Ok();
}

Status SetTimeout(const std::string& text, AdminConfig& config) {
  const auto timeout = ParseDuration(text, Seconds(1));
  if (!timeout.ok()) return Annotate(timeout.status(), "--timeout");
  if (*timeout < Millis(1) || *timeout > kMaxCallTimeout)
    return Status(ErrorCode::kInvalidParams, "--timeout: " + text + "; from 1ms to 24h");
  config.timeout = *timeout;
  config.walk_timeout = *timeout;
  return Status::Ok();
}

}  // namespace

Environment ProcessEnvironment() {
  Environment environment{.master = Variable(kMasterVariable), .config_files = {}};
  const std::string home = Variable("HOME");
  std::string folder = Variable("XDG_CONFIG_HOME");
  if (folder.empty() && !home.empty()) folder = home + "/.config";
  if (!folder.empty()) environment.config_files.push_back(folder + "/" + kFileName);
  environment.config_files.push_back(std::string("/etc/") + kFileName);
  return environment;
}

Result<AdminConfig> MakeConfig(AdminOptions options, const Environment& environment) {
  const char* source = "--master";
  if (options.master.empty() && !environment.master.empty()) {
    options.master = environment.master;
    source = kMasterVariable;
  }
  const std::string file = ConfigFile(options, environment);
  const bool named = !options.master.empty();
  if (!file.empty()) RETURN_IF_ERROR(FillFrom(file, options));
  AdminConfig config;
  config.json = options.json;
  config.escaped = options.escaped;
  const auto master = ParseHostPort(options.master.empty() ? kDefaultMaster : options.master);
  if (!master.ok()) return Annotate(master.status(), named ? source : file);
  config.master = *master;

  config.tenant = options.tenant.empty() ? kDefaultTenant : options.tenant;
  if (config.tenant.size() > kMaxTenantBytes) {
    return Status(ErrorCode::kInvalidParams, "--tenant: " + std::to_string(config.tenant.size()) +
                                                 " bytes; at most " +
                                                 std::to_string(kMaxTenantBytes));
  }
  if (!options.timeout.empty()) RETURN_IF_ERROR(SetTimeout(options.timeout, config));
  return config;
}

}  // namespace mooncake::admin
