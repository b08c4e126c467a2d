// rm: by key, or by pattern after a look at what would go.
#include <memory>
#include <ostream>
#include <span>

#include "tools/admin/caution.h"
#include "tools/admin/commands.h"
#include "tools/admin/human.h"
#include "tools/admin/json_view.h"
#include "tools/admin/key_text.h"
#include "tools/admin/report.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

constexpr size_t kKeysPerCall = 1000;

struct RemoveRequest {
  std::vector<std::string> typed;
  std::string pattern;
  std::string segment;  // clear only what is there
  bool by_regex = false;
  bool force = false;
  bool full_match = false;
  Caution caution;
  uint32_t sample = 10;
};

ExitStatus Usage(Session& session, const std::string& message) {
  return Fail(session, "rm", Status(ErrorCode::kInvalidParams, message));
}

std::vector<Status> ClearOnSegment(Session& session, std::span<const std::string> keys,
                                   const std::string& segment) {
  std::vector<ObjectName> names;
  for (const std::string& key : keys) {
    names.push_back({.tenant = session.config().tenant, .key = key});
  }
  return session.master().BatchReplicaClear(names, segment, session.Deadline());
}

// What removing would answer for each key; says which would go.
std::vector<Status> LookAtKeys(Session& session, Client& client, std::span<const std::string> keys,
                               bool force) {
  const auto stats = client.BatchStat(keys);
  std::vector<Status> answers;
  for (size_t i = 0; i < keys.size(); ++i) {
    answers.push_back(stats[i].status());
    if (!stats[i].ok()) continue;
    if (!force && stats[i]->lease_left > Duration::zero()) {
      answers.back() = Status(ErrorCode::kObjectHasLease, "it is read under a lease");
    } else if (!session.config().json) {
      session.console().out << EscapeForDisplay(keys[i]) << "  " << FormatSize(stats[i]->size)
                            << " would be removed\n";
    }
  }
  return answers;
}

ExitStatus RemoveKeys(Session& session, const RemoveRequest& request) {
  const auto keys = KeysFromArguments(session, request.typed);
  if (!keys.ok()) return Fail(session, "rm", keys.status());
  auto client = session.client();
  if (!client.ok()) return Fail(session, "rm", client.status());
  ExitStatus exit = ExitStatus::kOk;
  Json objects = Json::array();
  const std::span<const std::string> all = *keys;
  for (size_t start = 0; start < all.size(); start += kKeysPerCall) {
    const auto chunk = all.subspan(start, std::min(kKeysPerCall, all.size() - start));
    const auto results =
        request.caution.dry_run   ? LookAtKeys(session, **client, chunk, request.force)
        : request.segment.empty() ? (*client)->BatchRemove(chunk, request.force)
                                  : ClearOnSegment(session, chunk, request.segment);
    for (size_t i = 0; i < chunk.size(); ++i) {
      Json json;
      SetText(json, "key", chunk[i]);
      json[request.caution.dry_run ? "would_be_removed" : "removed"] = results[i].ok();
      if (!results[i].ok()) {
        exit = Worse(exit, KeyExitStatus(results[i].code()));
        json["error"] = ToJson(results[i]);
        Complain(session, "rm " + Quoted(chunk[i]), results[i]);
      }
      if (session.config().json) objects.push_back(std::move(json));
    }
  }
  if (session.config().json) Print(session, Json{{"objects", std::move(objects)}});
  return exit;
}

void PrintSample(Session& session, const RemoveByRegexReply& reply) {
  std::ostream& out = session.console().out;
  for (const RegexMatch& match : reply.sample) {
    out << "  " << EscapeForDisplay(match.key) << "  " << FormatSize(match.size) << "\n";
  }
  if (reply.matched > reply.sample.size()) {
    out << "  and " << FormatCount(reply.matched - reply.sample.size()) << " more\n";
  }
}

// Shows what matches and asks. nullopt: go on.
std::optional<ExitStatus> LookAndAsk(Session& session, Client& client, RemoveByRegexArgs args) {
  args.dry_run = true;
  const auto look = client.RemoveByRegex(args, session.config().walk_timeout);
  if (!look.ok()) return Fail(session, "rm --regex", look.status());
  if (session.config().json) {
    session.console().err << Plural(look->matched, "object") << " match\n";
  } else {
    session.console().out << Plural(look->matched, "object")
                          << (look->matched == 1 ? " matches" : " match") << "\n";
    PrintSample(session, *look);
  }
  if (look->matched == 0) return std::nullopt;  // the real run then says so, with its exit status
  if (Confirmed(session, std::string("Remove ") + (look->matched == 1 ? "it" : "them") +
                             " from tenant " + EscapeForDisplay(session.config().tenant) + "?"))
    return std::nullopt;
  return ExitStatus::kFailed;
}

void ReportRemoval(Session& session, const RemoveRequest& request,
                   const RemoveByRegexReply& reply) {
  if (session.config().json) {
    Json json = ToJson(reply);
    json["dry_run"] = request.caution.dry_run;
    Print(session, json);
    return;
  }
  if (request.caution.dry_run) {
    session.console().out << Plural(reply.matched, "object") << " would be removed\n";
    PrintSample(session, reply);
    return;
  }
  session.console().out << "removed " << Plural(reply.removed, "object") << "\n";
  if (reply.skipped > 0) {
    session.console().out.flush();
    session.console().err << "mooncake-admin: " << Plural(reply.skipped, "object")
                          << " left alone: being written, or read under a lease"
                          << (request.force ? "" : " (--force removes those that are read)")
                          << std::endl;
  }
}

ExitStatus RemoveByPattern(Session& session, const RemoveRequest& request) {
  if (request.pattern.empty())
    return Usage(session,
                 "the pattern is empty and would match every key; '.' says that on purpose");
  if (const auto stop = CheckCanAsk(session, "rm --regex", request.caution)) return *stop;
  auto client = session.client();
  if (!client.ok()) return Fail(session, "rm --regex", client.status());
  RemoveByRegexArgs args;
  args.tenant = session.config().tenant;
  // The group keeps alternatives together: ^a|b$ would be something else.
  args.pattern = request.full_match ? "^(?:" + request.pattern + ")$" : request.pattern;
  args.force = request.force;
  args.dry_run = request.caution.dry_run;
  args.sample_limit = request.caution.dry_run || !request.caution.yes ? request.sample : 0;
  if (!request.caution.dry_run && !request.caution.yes) {
    if (const auto stop = LookAndAsk(session, **client, args)) return *stop;
  }
  const auto reply = (*client)->RemoveByRegex(args, session.config().walk_timeout);
  if (!reply.ok()) return Fail(session, "rm --regex", reply.status());
  ReportRemoval(session, request, *reply);
  return reply->skipped == 0 || request.caution.dry_run ? ExitStatus::kOk : ExitStatus::kFailed;
}

ExitStatus RunRemove(Session& session, const RemoveRequest& request) {
  if (!request.by_regex && request.typed.empty())
    return Usage(session, "no key is named, and no --regex");
  if (request.by_regex && !request.typed.empty())
    return Usage(session, "keys and --regex do not go together: two commands, please");
  if (!request.segment.empty() && (request.by_regex || request.force))
    return Usage(session, "--segment goes with keys only, and leaves alone what is being read");
  if (!request.by_regex && request.full_match)
    return Usage(session, "--full-match belongs to --regex");
  return request.by_regex ? RemoveByPattern(session, request) : RemoveKeys(session, request);
}

}  // namespace

void AddRemoveCommand(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<RemoveRequest>();
  CLI::App* rm = app.add_subcommand("rm", "remove objects, by key or by pattern");
  AddTexts(rm, "KEY", request->typed, "keys");
  rm->add_flag("-f,--force", request->force,
               "those too that are read under a lease; readers keep the value to the end");
  AddText(rm, "--segment", request->segment,
          "only the replicas on this segment; the object stays while it has others", "NAME");
  CLI::Option* regex = AddText(
      rm, "--regex", request->pattern,
      "RE2 pattern instead of keys. It is SEARCHED for: 'b' matches 'abc'; anchor it with ^ "
      "and $, or use --full-match",
      "PATTERN");
  rm->add_flag("--full-match", request->full_match,
               "with --regex: the pattern has to match the whole key");
  rm->add_option("--sample", request->sample,
                 "with --regex: show so many of the matches: 10 if not given")
      ->type_name("N");
  rm->add_flag("--dry-run", request->caution.dry_run, "show what would be removed, remove nothing");
  rm->add_flag("-y,--yes", request->caution.yes,
               "with --regex: do not ask (keys are not asked for)");
  rm->footer("Example: mooncake-admin --tenant=research rm --regex '^tmp/' --dry-run");
  rm->callback([&invocation, request, regex] {
    request->by_regex = regex->count() > 0;
    invocation.run = [request](Session& session) { return RunRemove(session, *request); };
  });
}

}  // namespace mooncake::admin
