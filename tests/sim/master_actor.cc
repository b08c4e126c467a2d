#include "tests/sim/master_actor.h"

namespace mooncake::sim {
namespace {

constexpr Duration kTick = Millis(10);

ObjectName Named(const std::string& key) { return ObjectName{kDefaultTenant, key}; }

}  // namespace

MasterActor::MasterActor(World& world, int id, Oracle& oracle, const core::CoreOptions& options,
                         Canary canary)
    : Actor(world, id, "master"), oracle_(oracle), options_(options), canary_(canary) {
  if (canary_ == Canary::kShortLease) options_.lease_ttl = Millis(1);
  Start();
}

void MasterActor::Start() {
  core_ = std::make_unique<core::MetadataCore>(options_, Term{++term_}, world_.rng.Next());
  losses_seen_ = 0;
  world_.After(*this, kTick, [this] { Tick(); });
}

void MasterActor::OnCrash() {
  core_.reset();
  last_started_.clear();
  oracle_.MasterLostAll();
}

void MasterActor::OnRestart() { Start(); }

void MasterActor::NoteLosses() {
  const core::Counters counters = core_->GetCounters();
  const uint64_t losses =
      counters.evicted_objects + counters.expired_clients + counters.replaced_segments;
  if (losses != losses_seen_) oracle_.LossPossible();
  losses_seen_ = losses;
}

void MasterActor::Tick() {
  core_->Tick(world_.now(), static_cast<uint32_t>(world_.rng.Between(1, 200)));
  NoteLosses();
  world_.After(*this, kTick, [this] { Tick(); });
}

Result<PingReply> MasterActor::Ping(const ClientId& client, const std::string& address) {
  return core_->Ping(world_.now(), client, address);
}

Status MasterActor::Mount(const ClientId& client, const SegmentDescriptor& segment) {
  const Status status = core_->ReMountSegments(world_.now(), client, std::span(&segment, 1));
  oracle_.LossPossible();  // an earlier life of that name is gone
  return status;
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
  auto reply = core_->PutStart(world_.now(), args);
  NoteLosses();
  if (reply.ok()) {
    TraceStart(args.name.key, *reply);
    oracle_.Started(args.name.key, reply->put_id, args.size, token);
    last_started_[args.name.key] = reply->put_id;
  }
  return reply;
}

Status MasterActor::PutEnd(const PutEndArgs& args) {
  PutEndArgs used = args;
  if (canary_ == Canary::kEndWithoutPutId && last_started_.count(args.name.key) != 0) {
    used.put_id = last_started_[args.name.key];
  }
  const Status status =
      core_->PutEnd(world_.now(), ToMillis(world_.now().time_since_epoch()), used);
  TraceDone("ends put " + std::to_string(used.put_id.value) + " of", args.name.key, status);
  if (status.ok()) oracle_.Committed(args.name.key, used.put_id);
  return status;
}

Status MasterActor::PutRevoke(const PutRevokeArgs& args) {
  PutRevokeArgs used = args;
  if (canary_ == Canary::kRevokeUnsettled) used.settled = true;
  const Status status = core_->PutRevoke(world_.now(), used);
  TraceDone((used.settled ? "revokes settled put " : "revokes put ") +
                std::to_string(used.put_id.value) + " of",
            args.name.key, status);
  return status;
}

Result<ReplicaList> MasterActor::Get(const std::string& key) {
  auto reply = core_->GetReplicaList(world_.now(), Named(key));
  if (reply.ok() && canary_ == Canary::kShortLease) reply->lease = Seconds(10);
  return reply;
}

Result<Duration> MasterActor::Renew(const std::string& key, PutId put_id) {
  return core_->RenewLease(world_.now(), LeaseRef{Named(key), put_id});
}

Status MasterActor::Remove(const std::string& key, bool force) {
  const Status status = core_->Remove(world_.now(), Named(key), force);
  TraceDone("removes", key, status);
  if (status.ok()) oracle_.Removed(key);
  return status;
}

Status MasterActor::Rename(const std::string& from, const std::string& to, bool no_replace) {
  const Status status = core_->Rename(world_.now(), Named(from), Named(to), no_replace);
  TraceDone("renames " + from + " to", to, status);
  if (status.ok()) oracle_.Renamed(from, to);
  return status;
}

Result<bool> MasterActor::Exist(const std::string& key, bool lease) {
  return core_->ExistKey(world_.now(), Named(key), lease);
}

Result<ObjectStat> MasterActor::Stat(const std::string& key) {
  return core_->Stat(world_.now(), Named(key));
}

Result<ListReply> MasterActor::List(const std::string& prefix, const std::string& delimiter) {
  ListArgs args;
  args.prefix = prefix;
  args.delimiter = delimiter;
  args.limit = 100;
  return core_->ListObjects(world_.now(), args);
}

Result<uint64_t> MasterActor::RemoveAll() {
  auto removed = core_->RemoveAll(world_.now(), "", true);
  oracle_.MasterLostAll();
  return removed;
}

}  // namespace mooncake::sim
