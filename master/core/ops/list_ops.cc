// Listing with a delimiter. A common prefix is stepped over with one search, however many keys are below it.
#include <algorithm>

#include "master/core/checks.h"
#include "master/core/ops/ops.h"
#include "master/core/prefix_rename.h"
#include "master/core/replicas.h"
#include "master/core/versions.h"

namespace mooncake::core {
namespace {

// The end of the common prefix that hides `key`, 0 when none does.
size_t CommonPrefixSize(const ListArgs& args, std::string_view key) {
  if (args.delimiter.empty() || key.substr(0, args.prefix.size()) != args.prefix) return 0;
  const size_t at = key.find(args.delimiter, args.prefix.size());
  return at == std::string_view::npos ? 0 : at + args.delimiter.size();
}

// The first key that may be listed. Nothing when start_after is behind them all.
std::optional<std::string> FirstKey(const ListArgs& args) {
  if (args.start_after.empty() || args.start_after < args.prefix) return args.prefix;
  const size_t common = CommonPrefixSize(args, args.start_after);
  if (common == 0) return args.start_after + '\0';
  std::string end = PrefixEnd(std::string_view(args.start_after).substr(0, common));
  if (end.empty()) return std::nullopt;
  return end;
}

}  // namespace

Result<ListWalk> StartListObjects(const ListArgs& args) {
  RETURN_IF_ERROR(CheckList(args));
  ListWalk walk;
  walk.args = args;
  walk.args.tenant = std::string(TenantOf(args.tenant));
  auto from = FirstKey(args);
  walk.done = !from.has_value();
  walk.from = std::move(from).value_or("");
  return walk;
}

void StepWalk(State& state, TimePoint now, ListWalk& walk, uint32_t max_keys) {
  if (walk.done) return;
  uint32_t budget = std::max<uint32_t>(max_keys, 1);
  if (!FinishRenames(state, now, &walk.args.tenant, budget)) return;
  const Tenant* tenant = state.table.FindTenant(walk.args.tenant);
  if (tenant == nullptr) walk.done = true;
  if (walk.done) return;
  std::vector<ListEntry>& entries = walk.reply.entries;
  auto it = tenant->readable.lower_bound(std::string_view(walk.from));
  for (uint32_t visited = 0; visited == 0 || visited < max_keys; ++visited) {
    if (it == tenant->readable.end() ||
        (*it)->key().substr(0, walk.args.prefix.size()) != walk.args.prefix) {
      walk.done = true;
      return;
    }
    const Object& object = **it;
    if (!IsReadable(state, object)) {
      ++it;
      continue;
    }
    if (entries.size() == walk.args.limit) {
      walk.reply.truncated = walk.done = true;
      return;
    }
    ListEntry& entry = entries.emplace_back();
    const size_t common = CommonPrefixSize(walk.args, object.key());
    if (common == 0) {
      entry.key = std::string(object.key());
      entry.stat = StatOf(state, now, object);
      ++it;
      continue;
    }
    entry.key = std::string(object.key().substr(0, common));
    entry.is_prefix = true;
    const std::string end = PrefixEnd(entry.key);
    it = end.empty() ? tenant->readable.end() : tenant->readable.lower_bound(std::string_view(end));
  }
  walk.done = it == tenant->readable.end();
  if (!walk.done) walk.from = std::string((*it)->key());
}

}  // namespace mooncake::core
