// top: the master at work, look after look.
#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <thread>

#include "tools/admin/commands.h"
#include "tools/admin/report.h"
#include "tools/admin/top_view.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

constexpr Duration kDefaultInterval = Seconds(2);
constexpr Duration kLeastInterval = Millis(100);
constexpr size_t kMostRows = 10;
// No number that anybody means; CLI11 reads -1 as the largest there is.
constexpr uint64_t kMostOfAny = 1'000'000'000;
// Cursor to the corner and all below it cleared: what was above scrolls away with the shell's lines.
constexpr char kClear[] = "\x1b[H\x1b[J";

struct TopRequest {
  std::string interval;
  uint64_t count = 0;
  std::optional<size_t> rows;
};

Result<std::vector<TenantQuota>> Tenants(Session& session) {
  auto page = session.master().ListQuotas("", kMaxListLimit, session.Deadline());
  if (page.ok()) return std::move(page->quotas);
  if (page.code() == ErrorCode::kUnavailableInCurrentMode) return std::vector<TenantQuota>();
  return page.status();
}

Result<TopSample> Look(Session& session) {
  MasterApi& master = session.master();
  TopSample sample;
  ASSIGN_OR_RETURN(sample.activity, master.GetActivity(session.Deadline()));
  ASSIGN_OR_RETURN(sample.status, master.GetStatus(session.Deadline()));
  sample.at = session.clock().Now();
  ASSIGN_OR_RETURN(sample.segments, master.GetSegments({}, session.Deadline()));
  ASSIGN_OR_RETURN(sample.tenants, Tenants(session));
  return sample;
}

void Show(Session& session, const TopSample& before, const TopSample& now, size_t rows) {
  const int width = session.console().width;
  const TopLayout layout{.master = session.config().master.ToString(),
                         .width = static_cast<size_t>(width),
                         .rows = rows};
  if (session.config().json) return Print(session, TopJson(before, now, layout));
  session.console().out << (width > 0 ? kClear : "") << RenderTop(before, now, layout)
                        << (width > 0 ? "" : "\n") << std::flush;
}

ExitStatus RunTop(Session& session, const TopRequest& request) {
  Duration interval = kDefaultInterval;
  if (!request.interval.empty()) {
    const auto parsed = ParseDuration(request.interval, Seconds(1));
    if (!parsed.ok()) return Fail(session, "top", Annotate(parsed.status(), "--interval"));
    interval = std::max(*parsed, kLeastInterval);
  }
  const int height = session.console().height;
  const size_t fit = height > 0 ? RowsThatFit(static_cast<size_t>(height), kMostRows) : kMostRows;
  std::optional<TopSample> before;
  for (uint64_t shown = 0; request.count == 0 || shown < request.count;) {
    if (shown > 0) std::this_thread::sleep_for(interval);
    auto now = Look(session);
    // A master that restarts is what one wants to watch.
    if (!now.ok() && !before) return Fail(session, "top", now.status());
    ++shown;
    if (!now.ok()) {
      Complain(session, "top", now.status());
      continue;
    }
    Show(session, before ? *before : TopSampleAtStart(*now), *now, request.rows.value_or(fit));
    if (!session.console().out.good()) break;
    before = std::move(*now);
  }
  return ExitStatus::kOk;
}

}  // namespace

void AddTopCommand(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<TopRequest>();
  CLI::App* top =
      app.add_subcommand("top", "rates, hit ratio, latencies, memory by segment and tenant, live");
  AddText(top, "--interval", request->interval,
          "between two looks, as 500ms or 10s: 2s if not given, at least 100ms", "TIME");
  top->add_option("--count", request->count, "stop after so many looks; 0, the default: never")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{0}, kMostOfAny).description(""));
  top->add_option("--rows", request->rows,
                  "of each table, the busiest and the fullest: 10 if not given, less on a terminal "
                  "with few lines; 0: all")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{0}, kMostOfAny).description(""));
  top->footer(
      "The first look shows averages since the master's start. Reads that clients serve from their "
      "own leases do not\n"
      "reach the master and are not counted. P50 and P99 are upper bounds, from the whole request "
      "to the whole reply at\n"
      "the master. With --json each look is one line. Ctrl-C ends it.\n"
      "Example: mooncake-admin top --interval=5s");
  top->callback([&invocation, request] {
    invocation.run = [request](Session& session) { return RunTop(session, *request); };
  });
}

}  // namespace mooncake::admin
