// quota list, get, set, delete: how much each tenant may use.
#include <memory>
#include <ostream>

#include "tools/admin/caution.h"
#include "tools/admin/commands.h"
#include "tools/admin/human.h"
#include "tools/admin/json_view.h"
#include "tools/admin/report.h"
#include "tools/admin/table.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

struct QuotaRequest {
  std::string tenant;
  std::string size;
  Caution caution;
};

std::string StateOf(const TenantQuota& quota) {
  if (quota.requested == 0) return "no quota: reads and removals only";
  if (quota.admission_closed) return "being deleted";
  if (quota.over_quota()) return "over: writes wait for room";
  return quota.effective < quota.requested ? "cut to its share of the capacity" : "ok";
}

void ShowTable(Session& session, const std::vector<TenantQuota>& quotas) {
  Table table({{.title = "TENANT", .least = 8},
               {.title = "QUOTA", .right = true},
               {.title = "EFFECTIVE", .right = true},
               {.title = "USED", .right = true},
               {.title = "USE%", .right = true},
               {.title = "OBJECTS", .right = true},
               {.title = "EVICTED", .right = true},
               {.title = "REFUSED", .right = true},
               {.title = "STATE", .least = 8}});
  for (const TenantQuota& q : quotas) {
    table.Add({EscapeForDisplay(q.tenant), q.requested == 0 ? "-" : FormatSize(q.requested),
               FormatSize(q.effective), FormatSize(q.charged), FormatShare(q.charged, q.effective),
               FormatCount(q.objects), FormatSize(q.evicted_bytes), FormatCount(q.rejected),
               StateOf(q)});
  }
  session.console().out << table.Render(static_cast<size_t>(session.console().width));
}

void ShowOne(Session& session, const TenantQuota& quota) {
  if (session.config().json) return Print(session, ToJson(quota));
  ShowTable(session, {quota});
}

ExitStatus RunQuotaList(Session& session) {
  std::vector<TenantQuota> quotas;
  bool more = true;
  while (more) {
    auto page = session.master().ListQuotas(quotas.empty() ? "" : quotas.back().tenant,
                                            kMaxListLimit, session.Deadline());
    if (!page.ok()) return Fail(session, "quota list", page.status());
    more = page->truncated;
    for (TenantQuota& quota : page->quotas) quotas.push_back(std::move(quota));
  }
  if (session.config().json) {
    Json json;
    json["quotas"] = Json::array();
    for (const TenantQuota& quota : quotas) json["quotas"].push_back(ToJson(quota));
    Print(session, json);
    return ExitStatus::kOk;
  }
  if (quotas.empty()) {
    session.console().err << "mooncake-admin: no tenant has a quota, so nobody may write; "
                             "mooncake-admin quota set NAME SIZE gives one\n"
                          << std::flush;
    return ExitStatus::kOk;
  }
  ShowTable(session, quotas);
  return ExitStatus::kOk;
}

ExitStatus RunQuotaGet(Session& session, const QuotaRequest& request) {
  const auto tenant = TextFromArgument(session, request.tenant);
  if (!tenant.ok()) return Fail(session, "quota get", tenant.status());
  const auto quota = session.master().GetQuota(*tenant, session.Deadline());
  if (!quota.ok()) return Fail(session, "quota get", quota.status());
  ShowOne(session, *quota);
  return ExitStatus::kOk;
}

ExitStatus RunQuotaSet(Session& session, const QuotaRequest& request) {
  const auto tenant = TextFromArgument(session, request.tenant);
  if (!tenant.ok()) return Fail(session, "quota set", tenant.status());
  const auto bytes = ParseSize(request.size);
  if (!bytes.ok()) return Fail(session, "quota set", Annotate(bytes.status(), "SIZE"));
  const auto now = session.master().GetQuota(*tenant, session.Deadline());
  const std::string name = "tenant " + EscapeForDisplay(*tenant);
  if (now.ok() && *bytes < now->charged) {
    const std::string what = name + " uses " + FormatSize(now->charged) + ", more than " +
                             FormatSize(*bytes) + ": its writes will evict its own objects";
    if (const auto stop = AskBefore(session, "quota set", request.caution, what)) return *stop;
  } else if (request.caution.dry_run) {
    return ShowOnly(session, name + " would get a quota of " + FormatSize(*bytes));
  }
  const auto quota = session.master().SetQuota(*tenant, *bytes, session.Deadline());
  if (!quota.ok()) return Fail(session, "quota set", quota.status());
  ShowOne(session, *quota);
  return ExitStatus::kOk;
}

ExitStatus RunQuotaDelete(Session& session, const QuotaRequest& request) {
  const auto tenant = TextFromArgument(session, request.tenant);
  if (!tenant.ok()) return Fail(session, "quota delete", tenant.status());
  const auto now = session.master().GetQuota(*tenant, session.Deadline());
  if (!now.ok()) return Fail(session, "quota delete", now.status());
  const std::string what = "tenant " + EscapeForDisplay(*tenant) + " loses its quota of " +
                           FormatSize(now->requested) + " and may not write any more; it uses " +
                           FormatSize(now->charged) +
                           (now->charged > 0 ? ", and only an empty tenant's can go" : "");
  if (const auto stop = AskBefore(session, "quota delete", request.caution, what)) return *stop;
  const auto last = session.master().DeleteQuota(*tenant, session.Deadline());
  if (!last.ok()) return Fail(session, "quota delete", last.status());
  if (session.config().json) {
    Print(session, ToJson(*last));
  } else {
    session.console().out << "tenant " << EscapeForDisplay(*tenant) << " had "
                          << FormatSize(last->requested) << " and may not write any more\n";
  }
  return ExitStatus::kOk;
}

enum class Takes : uint8_t { kTenant, kTenantAndCaution, kTenantSizeAndCaution };

void Add(CLI::App& group, Invocation& invocation, const char* name, const char* help,
         ExitStatus (*run)(Session&, const QuotaRequest&), Takes takes) {
  auto request = std::make_shared<QuotaRequest>();
  CLI::App* command = group.add_subcommand(name, help);
  AddText(command, "TENANT", request->tenant, "its name")->required();
  if (takes == Takes::kTenantSizeAndCaution) {
    AddText(command, "SIZE", request->size,
            "bytes, seals and rounding included; units as 512M, 10G, 2T")
        ->required();
  }
  if (takes != Takes::kTenant) AddCaution(command, request->caution);
  command->callback([&invocation, request, run] {
    invocation.run = [request, run](Session& session) { return run(session, *request); };
  });
}

}  // namespace

void AddQuotaCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* quota = app.add_subcommand("quota", "how much each tenant may use");
  quota->require_subcommand(1);
  quota->footer(
      "Quotas are caps, not reservations. When they add up to more than the capacity, each gets "
      "its "
      "share of it (EFFECTIVE).\n"
      "A tenant at its cap makes room by evicting its own objects; when all of those are leased or "
      "pinned, writes are\n"
      "refused (on a mount: EDQUOT, 'Disk quota exceeded').\n"
      "Example: mooncake-admin quota set research 200G");
  quota->add_subcommand("list", "all tenants with a quota, or with objects")
      ->callback([&invocation] { invocation.run = RunQuotaList; });
  Add(*quota, invocation, "get", "one tenant", RunQuotaGet, Takes::kTenant);
  Add(*quota, invocation, "set",
      "gives a tenant a quota, or another one; nothing is evicted before it writes", RunQuotaSet,
      Takes::kTenantSizeAndCaution);
  Add(*quota, invocation, "delete",
      "takes the quota of an empty tenant away: it may not write any more", RunQuotaDelete,
      Takes::kTenantAndCaution);
}

}  // namespace mooncake::admin
