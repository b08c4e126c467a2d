// What a master does for clients and nodes, and tells the oracle of it.
#include "tests/sim/master_actor.h"

namespace mooncake::sim {
namespace {

ObjectName Named(const std::string& key) { return ObjectName{kDefaultTenant, key}; }

}  // namespace

Result<PingReply> MasterActor::Ping(const ClientId& client, const std::string& address) {
  return core_->Ping(Clock(), client, address);
}

Status MasterActor::Mount(const ClientId& client, const SegmentDescriptor& segment) {
  const bool known = !core_->GetSegments(std::span(&segment.id, 1)).empty();
  const Status status = core_->ReMountSegments(Clock(), client, std::span(&segment, 1));
  if (!known && status.ok()) oracle_.SegmentForgotten(term_, segment.id);
  return status;
}

Status MasterActor::GracefulUnmount(const ClientId& client, const SegmentId& segment,
                                    Duration grace) {
  return core_->GracefulUnmountSegment(Clock(), client, segment, grace);
}

Status MasterActor::Unmount(const ClientId& client, const SegmentId& segment) {
  return core_->UnmountSegment(Clock(), client, segment);
}

Status MasterActor::Report(const ClientId& client, const SegmentId& segment) {
  const auto ping = core_->Ping(Clock(), client, "client");
  if (ping.ok() && ping->status == PingStatus::kNeedRemount)
    RETURN_IF_ERROR(core_->ReMountSegments(Clock(), client, {}));
  return core_->ReportReplicaFailure(Clock(), client, std::span(&segment, 1));
}

bool MasterActor::Knows(const SegmentDescriptor& segment) {
  for (const SegmentInfo& info : core_->GetSegments(std::span(&segment.id, 1))) {
    if (info.descriptor.epoch == segment.epoch) return true;
  }
  return false;
}

void MasterActor::TraceStart(const std::string& key, const PutStartReply& reply) {
  world_.Trace(*this, [&] {
    std::string text = "starts put " + std::to_string(reply.put_id.value) + " of " + key;
    for (const ReplicaDescriptor& replica : reply.replicas) {
      for (const Extent& extent : replica.extents) {
        text += " [segment " + extent.segment.ToString() + " epoch " +
                std::to_string(extent.epoch.value) + " at " + std::to_string(extent.offset) +
                " + " + std::to_string(extent.length) + "]";
      }
    }
    return text;
  });
}

void MasterActor::TraceDone(const std::string& what, const std::string& key, const Status& status) {
  world_.Trace(*this, [&] { return what + " " + key + ": " + status.ToString(); });
}

Result<PutStartReply> MasterActor::PutStart(const PutStartArgs& args, uint64_t token) {
  auto reply = core_->PutStart(Clock(), args);
  touched_ = {args.name.key};
  if (reply.ok()) {
    TraceStart(args.name.key, *reply);
    oracle_.Started(term_, args.name.key, *reply, args.size, token);
    last_started_[args.name.key] = reply->put_id;
  }
  return reply;
}

Status MasterActor::PutEnd(const PutEndArgs& args) {
  PutEndArgs used = args;
  if (setup_.canary == Canary::kEndWithoutPutId && last_started_.count(args.name.key) != 0) {
    used.put_id = last_started_[args.name.key];
  }
  const Status status = core_->PutEnd(Clock(), ToMillis(world_.now().time_since_epoch()), used);
  TraceDone("ends put " + std::to_string(used.put_id.value) + " of", args.name.key, status);
  touched_ = {args.name.key};
  if (status.ok()) oracle_.Committed(term_, args.name.key, used.put_id);
  return status;
}

Status MasterActor::PutRevoke(const PutRevokeArgs& args) {
  PutRevokeArgs used = args;
  if (setup_.canary == Canary::kRevokeUnsettled) used.settled = true;
  const Status status = core_->PutRevoke(Clock(), used);
  TraceDone((used.settled ? "revokes settled put " : "revokes put ") +
                std::to_string(used.put_id.value) + " of",
            args.name.key, status);
  touched_ = {args.name.key};
  return status;
}

Result<ReplicaList> MasterActor::Get(const std::string& key) {
  auto reply = core_->GetReplicaList(Clock(), Named(key));
  if (reply.ok() && setup_.canary == Canary::kShortLease) reply->lease = Seconds(10);
  touched_ = {key};
  if (reply.ok()) oracle_.Leased(term_, *reply);
  return reply;
}

Result<Duration> MasterActor::Renew(const std::string& key, PutId put_id) {
  auto lease = core_->RenewLease(Clock(), LeaseRef{Named(key), put_id});
  touched_ = {key};
  if (lease.ok()) oracle_.Renewed(term_, put_id, *lease);
  return lease;
}

Status MasterActor::Remove(const std::string& key, bool force) {
  const Status status = core_->Remove(Clock(), Named(key), force);
  TraceDone("removes", key, status);
  touched_ = {key};
  if (status.ok()) oracle_.Removed(term_, key, force);
  return status;
}

Status MasterActor::Clear(const std::string& key, const std::string& segment) {
  const auto before = core_->Stat(Clock(), Named(key));
  const Status status = core_->ClearReplicas(Clock(), Named(key), segment);
  TraceDone("clears " + segment + " of", key, status);
  touched_ = {key};
  if (!status.ok() || !before.ok()) return status;
  oracle_.CheckUnleased(term_, key);
  if (!Has(key, before->put_id)) oracle_.Removed(term_, key, false);
  return status;
}

Status MasterActor::Rename(const std::string& from, const std::string& to, bool no_replace) {
  const Status status = core_->Rename(Clock(), Named(from), Named(to), no_replace);
  TraceDone("renames " + from + " to", to, status);
  touched_ = {from, to};
  if (status.ok()) oracle_.Renamed(term_, from, to);
  return status;
}

Result<uint64_t> MasterActor::RenamePrefix(const std::string& from, const std::string& to) {
  std::vector<std::string> moving;
  for (const std::string& key : oracle_.KeysUnder(from)) {
    touched_.push_back(key);
    touched_.push_back(to + key.substr(from.size()));
    if (core_->Stat(Clock(), Named(key)).ok()) moving.push_back(key);
  }
  auto walk = core_->StartRenamePrefix(Clock(), kDefaultTenant, from, to);
  TraceDone("renames all of " + from + " to", to, walk.status());
  if (!walk.ok()) return walk.status();
  for (const std::string& key : moving) oracle_.Renamed(term_, key, to + key.substr(from.size()));
  // What is not done now is done by Tick, or on the way of others.
  for (uint64_t steps = world_.rng.Below(4); steps > 0 && !walk->done; --steps)
    core_->Step(Clock(), *walk, 1);
  return walk->moved;
}

Status MasterActor::SetAttributes(const std::string& key) {
  ObjectAttributes attributes;
  attributes.mode = 0644;
  attributes.mtime_ns = world_.now().time_since_epoch().count();
  touched_ = {key};
  return core_->SetAttributes(Clock(), Named(key), kNoPut, attributes);
}

Result<bool> MasterActor::Exist(const std::string& key, bool lease) {
  touched_ = {key};
  return core_->ExistKey(Clock(), Named(key), lease);
}

Result<ObjectStat> MasterActor::Stat(const std::string& key) {
  touched_ = {key};
  return core_->Stat(Clock(), Named(key));
}

Result<ListReply> MasterActor::List(const std::string& prefix, const std::string& delimiter) {
  ListArgs args;
  args.prefix = prefix;
  args.delimiter = delimiter;
  args.limit = 100;
  touched_ = oracle_.KeysUnder(prefix);
  return core_->ListObjects(Clock(), args);
}

// By force, so that all that matched is gone.
Result<RemoveByRegexReply> MasterActor::RemoveByRegex(const std::string& pattern) {
  RemoveByRegexArgs args;
  args.pattern = pattern;
  args.force = true;
  args.sample_limit = 100;
  auto reply = core_->RemoveByRegex(Clock(), args);
  touched_ = oracle_.KeysUnder("");
  if (!reply.ok()) return reply;
  for (const RegexMatch& match : reply->sample) oracle_.Removed(term_, match.key, true);
  return reply;
}

Result<uint64_t> MasterActor::RemoveAll() {
  auto removed = core_->RemoveAll(Clock(), "", true);
  oracle_.MasterLostAll();
  Written(0);
  return removed;
}

}  // namespace mooncake::sim
