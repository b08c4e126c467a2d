// pin, unpin: what eviction leaves alone.
#include <algorithm>
#include <memory>
#include <ostream>
#include <span>

#include "tools/admin/commands.h"
#include "tools/admin/human.h"
#include "tools/admin/json_view.h"
#include "tools/admin/key_text.h"
#include "tools/admin/report.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

struct PinRequest {
  std::vector<std::string> typed;
  std::string ttl;
  bool hard = false;
};

// `change`: what becomes of each key.
ExitStatus SetPins(Session& session, const char* command, const std::vector<std::string>& typed,
                   const SetPinArgs& change) {
  const auto keys = KeysFromArguments(session, typed);
  if (!keys.ok()) return Fail(session, command, keys.status());
  std::vector<SetPinArgs> args;
  for (const std::string& key : *keys) {
    args.push_back(change);
    args.back().name = {session.config().tenant, key};
  }
  ExitStatus exit = ExitStatus::kOk;
  Json objects = Json::array();
  const std::span<const SetPinArgs> all = args;
  for (size_t start = 0; start < all.size(); start += kMaxBatch) {
    const auto chunk = all.subspan(start, std::min(kMaxBatch, all.size() - start));
    const auto answers = session.master().BatchSetPin(chunk, session.Deadline());
    for (size_t i = 0; i < chunk.size(); ++i) {
      Json json;
      SetText(json, "key", chunk[i].name.key);
      json["done"] = answers[i].ok();
      if (!answers[i].ok()) {
        exit = Worse(exit, KeyExitStatus(answers[i].code()));
        json["error"] = ToJson(answers[i]);
        Complain(session, std::string(command) + " " + Quoted(chunk[i].name.key), answers[i]);
      }
      objects.push_back(std::move(json));
    }
  }
  if (session.config().json) Print(session, Json{{"objects", std::move(objects)}});
  return exit;
}

ExitStatus RunPin(Session& session, const PinRequest& request) {
  SetPinArgs change;
  if (request.hard) {
    change.hard = true;
  } else {
    change.soft = SoftPinAction::kEnable;
    if (!request.ttl.empty()) {
      const auto ttl = ParseDuration(request.ttl, Seconds(1));
      if (!ttl.ok()) return Fail(session, "pin", Annotate(ttl.status(), "--ttl"));
      if (*ttl == Duration::zero()) {
        return Fail(session, "pin",
                    Status(ErrorCode::kInvalidParams, "--ttl: 0 pins nothing; unpin ends a pin"));
      }
      change.soft_ttl = *ttl;
    }
  }
  return SetPins(session, "pin", request.typed, change);
}

ExitStatus RunUnpin(Session& session, const PinRequest& request) {
  return SetPins(session, "unpin", request.typed, {.soft = SoftPinAction::kDisable, .hard = false});
}

}  // namespace

void AddPinCommands(CLI::App& app, Invocation& invocation) {
  auto pin = std::make_shared<PinRequest>();
  CLI::App* command = AddKeysCommand(
      app, invocation, "pin",
      "keep objects: for a while, while anything else can be evicted; or whatever happens (--hard)",
      pin, RunPin);
  CLI::Option* ttl =
      AddText(command, "--ttl", pin->ttl,
              "how long, as 90s or 12h: the master's default_kv_soft_pin_ttl if not given, at most "
              "its max_kv_soft_pin_ttl",
              "TIME");
  command
      ->add_flag("--hard", pin->hard,
                 "never evict them, until unpin or rm; too many of these leave no room for writes")
      ->excludes(ttl);
  command->footer(
      "A soft pin does not outlive the master; a hard one does, if the master keeps its state.\n"
      "Example: mooncake-admin pin --ttl=12h prompts/system");
  AddKeysCommand(app, invocation, "unpin", "end every pin of objects, soft or hard",
                 std::make_shared<PinRequest>(), RunUnpin)
      ->footer("Example: mooncake-admin unpin prompts/system");
}

}  // namespace mooncake::admin
