// What a client asks of the master beside puts and gets.
#include "tests/sim/client_actor.h"

namespace mooncake::sim {

void ClientActor::Metadata() {
  const std::string key = RandomKey();
  if (world_.rng.Chance(setup_.directory_percent, 100)) return RenameDirectory();
  const uint64_t choice = world_.rng.Below(96);
  if (choice < 18) return RemoveKey(key);
  if (choice < 36) return RenameKey(key, RandomKey());
  if (choice < 54) return AskExist(key);
  if (choice < 68) return AskStat(key);
  if (choice < 78) return AskList();
  if (choice < 90) return ClearReplicas(key);
  if (choice < 92) return RemoveSome();
  master_.Ask<Status>(
      kRpc, [key](MasterActor& m) { return m.SetAttributes(key); },
      [](const std::optional<Status>&) {});
}

void ClientActor::RemoveKey(const std::string& key) {
  const bool force = world_.rng.Chance(1, 2);
  master_.Ask<Status>(
      kRpc, [key, force](MasterActor& m) { return m.Remove(key, force); },
      [this](const std::optional<Status>& reply) { CountDone(counts_.removed, reply); });
}

void ClientActor::RenameKey(const std::string& key, const std::string& other) {
  const bool no_replace = world_.rng.Chance(1, 3);
  master_.Ask<Status>(
      kRpc, [key, other, no_replace](MasterActor& m) { return m.Rename(key, other, no_replace); },
      [this](const std::optional<Status>& reply) { CountDone(counts_.renamed, reply); });
}

void ClientActor::AskExist(const std::string& key) {
  const bool lease = world_.rng.Chance(1, 4);
  master_.Ask<Result<bool>>(
      kRpc, [key, lease](MasterActor& m) { return m.Exist(key, lease); },
      [this, key, started = world_.now()](const std::optional<Result<bool>>& reply) {
        if (!reply || !reply->ok()) return;
        **reply ? oracle_.FoundReturned(key, started) : oracle_.NotFoundReturned(key, started);
      });
}

void ClientActor::AskStat(const std::string& key) {
  master_.Ask<Result<ObjectStat>>(
      kRpc, [key](MasterActor& m) { return m.Stat(key); },
      [this, key, started = world_.now()](const std::optional<Result<ObjectStat>>& reply) {
        if (!reply) return;
        if (reply->ok()) return oracle_.StatReturned(key, started, **reply);
        if (reply->code() == ErrorCode::kObjectNotFound) oracle_.NotFoundReturned(key, started);
      });
}

void ClientActor::AskList() {
  const std::string prefix = RandomDirectory();
  master_.Ask<Result<ListReply>>(
      kRpc, [prefix](MasterActor& m) { return m.List(prefix, ""); },
      [this, prefix, started = world_.now()](const std::optional<Result<ListReply>>& reply) {
        if (reply && reply->ok()) oracle_.ListReturned(prefix, started, **reply);
      });
}

void ClientActor::ClearReplicas(const std::string& key) {
  std::string segment;
  if (world_.rng.Chance(3, 4)) segment = nodes_[world_.rng.Below(nodes_.size())]->name();
  master_.Ask<Status>(
      kRpc, [key, segment](MasterActor& m) { return m.Clear(key, segment); },
      [this](const std::optional<Status>& reply) { CountDone(counts_.cleared, reply); });
}

void ClientActor::RenameDirectory() {
  const std::string from = RandomDirectory();
  const std::string to = RandomDirectory();
  master_.Ask<Result<uint64_t>>(
      kRpc, [from, to](MasterActor& m) { return m.RenamePrefix(from, to); },
      [this](const std::optional<Result<uint64_t>>& reply) {
        counts_.directories_renamed += reply && reply->ok();
      });
}

void ClientActor::RemoveSome() {
  const std::string pattern = "^" + RandomDirectory() + "k[0-3]$";
  master_.Ask<Result<RemoveByRegexReply>>(
      kRpc, [pattern](MasterActor& m) { return m.RemoveByRegex(pattern); },
      [this](const std::optional<Result<RemoveByRegexReply>>& reply) {
        if (reply && reply->ok()) counts_.removed += (*reply)->removed;
      });
}

void ClientActor::ReportFailure(const SegmentId& segment) {
  const ClientId client = Identity();
  master_.Ask<Status>(
      kRpc, [client, segment](MasterActor& m) { return m.Report(client, segment); },
      [this](const std::optional<Status>& reply) { CountDone(counts_.reported, reply); });
}

}  // namespace mooncake::sim
