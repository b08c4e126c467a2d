// stat, exists, mv: what touches names and no data.
#include <array>
#include <cstdio>
#include <memory>
#include <ostream>

#include "tools/admin/caution.h"
#include "tools/admin/commands.h"
#include "tools/admin/human.h"
#include "tools/admin/json_view.h"
#include "tools/admin/key_text.h"
#include "tools/admin/report.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

struct KeysRequest {
  std::vector<std::string> typed;
  bool replicas = false;
};

std::string Octal(uint32_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode);
  return text.data();
}

void PrintStat(std::ostream& out, const std::string& key, const ObjectStat& stat) {
  out << EscapeForDisplay(key) << "\n";
  out << "  size      " << FormatCount(stat.size) << " bytes (" << FormatSize(stat.size) << ")\n";
  out << "  version   " << stat.put_id.value << "\n";
  out << "  replicas  " << stat.replica_count << "\n";
  out << "  written   " << FormatTime(stat.created_ms) << " UTC\n";
  out << "  lease     "
      << (stat.lease_left > Duration::zero() ? FormatAge(stat.lease_left) + " left" : "none")
      << "\n";
  if (stat.hard_pin) out << "  pinned    hard\n";
  if (stat.soft_pin_left > Duration::zero())
    out << "  pinned    softly, " << FormatAge(stat.soft_pin_left) << " left\n";
  if (!stat.group.empty()) out << "  group     " << EscapeForDisplay(stat.group) << "\n";
  if (stat.attributes) {
    const ObjectAttributes& a = *stat.attributes;
    out << "  file      " << NameOf(a.kind) << ", mode " << Octal(a.mode) << ", uid " << a.uid
        << ", gid " << a.gid << ", modified " << FormatTime(a.mtime_ns / 1000000) << " UTC\n";
  }
}

// Where the bytes are. Grants a lease, which is why it is asked for.
class ReplicaReport {
 public:
  static Result<ReplicaReport> Make(Session& session, const std::vector<std::string>& keys) {
    ReplicaReport report;
    std::vector<ObjectName> names;
    for (const std::string& key : keys) names.push_back({session.config().tenant, key});
    report.lists_ = session.master().BatchGetReplicaList(names, session.Deadline());
    ASSIGN_OR_RETURN(report.segments_, session.master().GetSegments({}, session.Deadline()));
    return report;
  }
  void Print(std::ostream& out, size_t i) const {
    if (!lists_[i].ok()) return;
    for (const ReplicaDescriptor& replica : lists_[i]->replicas) {
      out << "  replica   " << NameOf(replica.status);
      for (const Extent& extent : replica.extents) {
        out << ", " << FormatSize(extent.length) << " at " << extent.offset << " of "
            << SegmentName(extent.segment);
      }
      out << "\n";
    }
  }
  void Put(Json& json, size_t i) const {
    if (!lists_[i].ok()) return;
    json["placement"] = Json::array();
    for (const ReplicaDescriptor& replica : lists_[i]->replicas) {
      Json entry = ToJson(replica);
      for (Json& extent : entry["extents"]) {
        for (const SegmentInfo& segment : segments_) {
          if (segment.descriptor.id.ToString() == extent["segment"])
            SetText(extent, "name", segment.descriptor.name);
        }
      }
      json["placement"].push_back(std::move(entry));
    }
  }

 private:
  std::string SegmentName(const SegmentId& id) const {
    for (const SegmentInfo& segment : segments_) {
      if (segment.descriptor.id == id) return EscapeForDisplay(segment.descriptor.name);
    }
    return id.ToString();
  }
  std::vector<Result<ReplicaList>> lists_;
  std::vector<SegmentInfo> segments_;
};

ExitStatus RunStat(Session& session, const KeysRequest& request) {
  const auto keys = KeysFromArguments(session, request.typed);
  if (!keys.ok()) return Fail(session, "stat", keys.status());
  auto client = session.client();
  if (!client.ok()) return Fail(session, "stat", client.status());
  const auto stats = (*client)->BatchStat(*keys);
  std::optional<ReplicaReport> replicas;
  if (request.replicas) {
    auto report = ReplicaReport::Make(session, *keys);
    if (!report.ok()) return Fail(session, "stat", report.status());
    replicas = std::move(*report);
  }
  ExitStatus exit = ExitStatus::kOk;
  Json objects = Json::array();
  for (size_t i = 0; i < keys->size(); ++i) {
    const std::string& key = (*keys)[i];
    Json json;
    if (stats[i].ok()) {
      json = ToJson(key, *stats[i]);
      if (replicas) replicas->Put(json, i);
      if (!session.config().json) {
        PrintStat(session.console().out, key, *stats[i]);
        if (replicas) replicas->Print(session.console().out, i);
      }
    } else {
      exit = Worse(exit, KeyExitStatus(stats[i].code()));
      SetText(json, "key", key);
      json["error"] = ToJson(stats[i].status());
      Complain(session, "stat " + Quoted(key), stats[i].status());
    }
    objects.push_back(std::move(json));
  }
  if (session.config().json) Print(session, Json{{"objects", std::move(objects)}});
  return exit;
}

ExitStatus RunExists(Session& session, const KeysRequest& request) {
  const auto keys = KeysFromArguments(session, request.typed);
  if (!keys.ok()) return Fail(session, "exists", keys.status());
  auto client = session.client();
  if (!client.ok()) return Fail(session, "exists", client.status());
  const auto answers = (*client)->BatchExist(*keys);
  ExitStatus exit = ExitStatus::kOk;
  Json objects = Json::array();
  for (size_t i = 0; i < keys->size(); ++i) {
    const std::string& key = (*keys)[i];
    Json json;
    SetText(json, "key", key);
    if (answers[i].ok()) {
      json["exists"] = *answers[i];
      if (!*answers[i]) exit = Worse(exit, ExitStatus::kFailed);
      if (!session.config().json) {
        session.console().out << (*answers[i] ? "yes  " : "no   ") << EscapeForDisplay(key) << "\n";
      }
    } else {
      exit = Worse(exit, KeyExitStatus(answers[i].code()));
      json["error"] = ToJson(answers[i].status());
      Complain(session, "exists " + Quoted(key), answers[i].status());
    }
    objects.push_back(std::move(json));
  }
  if (session.config().json) Print(session, Json{{"objects", std::move(objects)}});
  return exit;
}

struct MoveRequest {
  std::string from;
  std::string to;
  bool no_replace = false;
  bool prefix = false;
  Caution caution;
};

// TO is there and would be replaced.
std::optional<ExitStatus> AskBeforeReplacing(Session& session, Client& client,
                                             const MoveRequest& request, const std::string& to) {
  const auto there = client.Stat(to);
  if (!there.ok()) return std::nullopt;  // it is gone by now
  return AskBefore(session, "mv", request.caution,
                   EscapeForDisplay(to) + " is there, " + FormatSize(there->size) + " written " +
                       FormatTime(there->created_ms) + " UTC, and is replaced");
}

// Renames unless TO is there; in a dry run says only how that would end.
Status MoveIfFree(Client& client, const std::string& from, const std::string& to, bool dry_run) {
  if (!dry_run) return client.Rename(from, to, /*no_replace=*/true);
  RETURN_IF_ERROR(client.Stat(from).status());
  return client.Stat(to).ok() ? Status(ErrorCode::kObjectAlreadyExists, Quoted(to) + " is there")
                              : Status::Ok();
}

ExitStatus FailToMove(Session& session, const MoveRequest& request, const std::string& what,
                      const Status& status) {
  if (status.code() != ErrorCode::kObjectAlreadyExists) return Fail(session, what, status);
  // The cure for this code is that of put, which is not the one here.
  return Fail(session, what,
              Status(ErrorCode::kInvalidWrite,
                     status.message() + "; remove it first" +
                         (request.no_replace ? ", or leave out --no-replace" : "")));
}

ExitStatus MoveKey(Session& session, Client& client, const MoveRequest& request,
                   const std::string& from, const std::string& to) {
  const std::string what = "mv " + Quoted(from) + " " + Quoted(to);
  Status status = MoveIfFree(client, from, to, request.caution.dry_run);
  if (status.code() == ErrorCode::kObjectAlreadyExists && !request.no_replace) {
    if (const auto stop = AskBeforeReplacing(session, client, request, to)) return *stop;
    status = client.Rename(from, to);
  } else if (status.ok() && request.caution.dry_run) {
    return ShowOnly(session,
                    EscapeForDisplay(from) + " would be " + EscapeForDisplay(to) + " from then on");
  }
  if (!status.ok()) return FailToMove(session, request, what, status);
  if (session.config().json) Print(session, Json{{"moved", 1}});
  return ExitStatus::kOk;
}

ExitStatus MovePrefix(Session& session, Client& client, const MoveRequest& request,
                      const std::string& from, const std::string& to) {
  const std::string what = "mv --prefix " + Quoted(from) + " " + Quoted(to);
  if (request.caution.dry_run) {
    return Fail(session, what,
                Status(ErrorCode::kInvalidParams,
                       "--dry-run is for one key: --prefix replaces nothing; ls shows what "
                       "it would move"));
  }
  const auto moved = client.RenamePrefix(from, to);
  if (!moved.ok()) return FailToMove(session, request, what, moved.status());
  if (*moved == 0)
    return Fail(session, what, Status(ErrorCode::kObjectNotFound, "no key begins with it"));
  if (session.config().json) {
    Print(session, Json{{"moved", *moved}});
  } else {
    session.console().out << "moved " << Plural(*moved, "object") << "\n";
  }
  return ExitStatus::kOk;
}

ExitStatus RunMove(Session& session, const MoveRequest& request) {
  const auto from = KeyFromArgument(session, request.from);
  if (!from.ok()) return Fail(session, "mv FROM", from.status());
  const auto to = KeyFromArgument(session, request.to);
  if (!to.ok()) return Fail(session, "mv TO", to.status());
  auto client = session.client();
  if (!client.ok()) return Fail(session, "mv", client.status());
  return (request.prefix ? MovePrefix : MoveKey)(session, **client, request, *from, *to);
}

}  // namespace

void AddNameCommands(CLI::App& app, Invocation& invocation) {
  auto stat = std::make_shared<KeysRequest>();
  CLI::App* command = AddKeysCommand(
      app, invocation, "stat", "size, version, replicas, leases, pins of keys", stat, RunStat);
  command->add_flag("--placement", stat->replicas,
                    "also on which segments; this takes a read lease on each key");
  command->footer("Example: mooncake-admin stat --placement greeting");
  AddKeysCommand(app, invocation, "exists", "whether keys are there; exit status 1 unless all are",
                 std::make_shared<KeysRequest>(), RunExists)
      ->footer("Example: mooncake-admin exists greeting || echo it is gone");

  auto move = std::make_shared<MoveRequest>();
  CLI::App* mv =
      app.add_subcommand("mv", "give an object another key, at once and without moving data");
  AddText(mv, "FROM", move->from, "the key now")->required();
  AddText(mv, "TO", move->to,
          "the key from now on; an object of this key is replaced, if you say so")
      ->required();
  mv->add_flag("-n,--no-replace", move->no_replace, "fail if TO exists");
  mv->add_flag(
      "--prefix", move->prefix,
      "rename all keys that begin with FROM, in one step; refused if any of the new keys exists");
  AddCaution(mv, move->caution);
  mv->footer("Example: mooncake-admin mv --prefix tmp/run7/ models/run7/");
  mv->callback([&invocation, move] {
    invocation.run = [move](Session& session) { return RunMove(session, *move); };
  });
}

}  // namespace mooncake::admin
