#include "tests/property/master/core_model.h"

#include <algorithm>

namespace mooncake::core {
namespace {

bool On(const ReplicaDescriptor& replica, const SegmentId& id) {
  return std::any_of(replica.extents.begin(), replica.extents.end(),
                     [&](const Extent& e) { return e.segment == id; });
}

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.rfind(prefix, 0) == 0;
}

}  // namespace

TimePoint CoreModel::LeaseUntil(const Version& version) const {
  const auto group = group_leases_.find(version.group);
  return group == group_leases_.end() ? version.lease_until
                                      : std::max(version.lease_until, group->second);
}

void CoreModel::Lease(TimePoint now, Version& version) {
  version.lease_until = now + options_.lease_ttl;
  if (!version.group.empty()) group_leases_[version.group] = version.lease_until;
}

void CoreModel::ForgetGroups() {
  std::erase_if(group_leases_, [&](const auto& group) {
    return std::none_of(readable_.begin(), readable_.end(),
                        [&](const auto& item) { return item.second.group == group.first; });
  });
}

void CoreModel::Drop(TimePoint now, const std::string& key) {
  Version version = readable_.at(key);
  version.lease_until = LeaseUntil(version);
  version.group.clear();
  if (version.lease_until > now) detached_[version.id] = version;
  readable_.erase(key);
  ForgetGroups();
}

ErrorCode CoreModel::PutStart(TimePoint now, const PutStartArgs& args,
                              const std::optional<PutStartReply>& reply) {
  const auto readable = readable_.find(args.name.key);
  const auto write = writes_.find(args.name.key);
  if (args.mode == WriteMode::kCreate) {
    if (readable != readable_.end()) return ErrorCode::kObjectAlreadyExists;
    if (write != writes_.end() &&
        now - write->second.started <= options_.put_start_discard_timeout) {
      return ErrorCode::kObjectAlreadyExists;
    }
  } else if (args.expected != kNoPut &&
             (readable == readable_.end() || readable->second.id != args.expected)) {
    return ErrorCode::kInvalidVersion;
  } else if (readable != readable_.end() && !args.config.group.empty() &&
             args.config.group != readable->second.group) {
    return ErrorCode::kInvalidParams;
  }
  if (!reply.has_value()) return ErrorCode::kNoAvailableHandle;
  writes_[args.name.key] = {reply->put_id, args.client, args.size,         now,
                            args.expected, false,       args.config.group, reply->replicas};
  return ErrorCode::kOk;
}

ErrorCode CoreModel::PutEnd(TimePoint now, const PutEndArgs& args) {
  const std::string& key = args.name.key;
  const auto readable = readable_.find(key);
  const auto write = writes_.find(key);
  if (write == writes_.end() || write->second.id != args.put_id) {
    if (readable != readable_.end() && readable->second.id == args.put_id) return ErrorCode::kOk;
    return readable == readable_.end() && write == writes_.end() ? ErrorCode::kObjectNotFound
                                                                 : ErrorCode::kInvalidWrite;
  }
  if (write->second.client != args.client) return ErrorCode::kIllegalClient;
  const Write done = write->second;
  writes_.erase(write);
  if (done.base_removed) return ErrorCode::kInvalidVersion;
  if (done.size > 0 && done.replicas.empty()) return ErrorCode::kInvalidWrite;
  const std::string group = readable != readable_.end() ? readable->second.group : done.group;
  if (readable != readable_.end()) Drop(now, key);
  readable_[key] = {done.id, done.size, TimePoint{}, done.replicas, group, false};
  return ErrorCode::kOk;
}

ErrorCode CoreModel::PutRevoke(TimePoint, const PutRevokeArgs& args) {
  const std::string& key = args.name.key;
  const auto write = writes_.find(key);
  if (write == writes_.end() || write->second.id != args.put_id) {
    const auto readable = readable_.find(key);
    if (readable != readable_.end() && readable->second.id == args.put_id)
      return ErrorCode::kObjectAlreadyExists;
    return readable == readable_.end() && write == writes_.end() ? ErrorCode::kObjectNotFound
                                                                 : ErrorCode::kInvalidWrite;
  }
  if (write->second.client != args.client) return ErrorCode::kIllegalClient;
  writes_.erase(write);
  return ErrorCode::kOk;
}

ErrorCode CoreModel::Get(TimePoint now, const std::string& key) {
  const auto readable = readable_.find(key);
  if (readable == readable_.end()) {
    return writes_.contains(key) ? ErrorCode::kReplicaIsNotReady : ErrorCode::kObjectNotFound;
  }
  Lease(now, readable->second);
  return ErrorCode::kOk;
}

ErrorCode CoreModel::Renew(TimePoint now, const std::string& key, PutId id) {
  const auto readable = readable_.find(key);
  if (readable != readable_.end() && readable->second.id == id) return Get(now, key);
  if (const auto it = detached_.find(id); it != detached_.end() && it->second.lease_until > now) {
    it->second.lease_until = now + options_.lease_ttl;
    return ErrorCode::kOk;
  }
  for (auto& [name, version] : readable_) {
    if (version.id != id || !version.renamed) continue;
    Lease(now, version);
    return ErrorCode::kOk;
  }
  return ErrorCode::kObjectNotFound;
}

ErrorCode CoreModel::Remove(TimePoint now, const std::string& key, bool force) {
  const auto readable = readable_.find(key);
  const auto write = writes_.find(key);
  if (readable == readable_.end()) {
    return write != writes_.end() ? ErrorCode::kReplicaIsNotReady : ErrorCode::kObjectNotFound;
  }
  if (!force && LeaseUntil(readable->second) > now) return ErrorCode::kObjectHasLease;
  if (write != writes_.end() && write->second.expected == readable->second.id)
    write->second.base_removed = true;
  Drop(now, key);
  return ErrorCode::kOk;
}

ErrorCode CoreModel::Clear(TimePoint now, const std::string& key, const SegmentId& segment) {
  const auto readable = readable_.find(key);
  const auto is_there = [&](const ReplicaDescriptor& r) { return On(r, segment); };
  if (readable == readable_.end() || LeaseUntil(readable->second) > now) {
    return Remove(now, key, false);  // says why not
  }
  std::vector<ReplicaDescriptor>& replicas = readable->second.replicas;
  if (std::none_of(replicas.begin(), replicas.end(), is_there)) return ErrorCode::kReplicaNotFound;
  if (std::all_of(replicas.begin(), replicas.end(), is_there)) return Remove(now, key, false);
  std::erase_if(replicas, is_there);
  return ErrorCode::kOk;
}

ErrorCode CoreModel::Rename(TimePoint now, const std::string& from, const std::string& to,
                            bool no_replace) {
  if (!readable_.contains(from)) return ErrorCode::kObjectNotFound;
  if (from == to) return ErrorCode::kOk;
  if (writes_.contains(from)) return ErrorCode::kObjectReplicaBusy;
  if (readable_.contains(to) && no_replace) return ErrorCode::kObjectAlreadyExists;
  if (writes_.contains(to)) return ErrorCode::kObjectReplicaBusy;
  if (readable_.contains(to)) Drop(now, to);
  readable_[to] = readable_.at(from);
  readable_[to].renamed |= LeaseUntil(readable_[to]) > now;
  readable_.erase(from);
  return ErrorCode::kOk;
}

std::optional<uint64_t> CoreModel::RenamePrefix(TimePoint now, const std::string& from,
                                                const std::string& to, ErrorCode& code) {
  for (const auto& [key, write] : writes_) {
    if (!StartsWith(key, from) && !StartsWith(key, to)) continue;
    code = ErrorCode::kObjectReplicaBusy;
    return std::nullopt;
  }
  std::map<std::string, Version> moved;
  for (const auto& [key, version] : readable_) {
    if (StartsWith(key, from)) moved[to + key.substr(from.size())] = version;
  }
  for (const auto& [key, version] : moved) {
    if (!readable_.contains(key)) continue;
    code = ErrorCode::kObjectAlreadyExists;
    return std::nullopt;
  }
  for (const auto& [key, version] : moved) {
    readable_.erase(from + key.substr(to.size()));
    readable_[key] = version;
    readable_[key].renamed |= LeaseUntil(version) > now;
  }
  code = ErrorCode::kOk;
  return moved.size();
}

void CoreModel::Expire(TimePoint now) {
  std::erase_if(writes_, [&](const auto& item) {
    return now - item.second.started >= options_.put_start_release_timeout;
  });
  std::erase_if(detached_, [&](const auto& item) { return item.second.lease_until <= now; });
  for (auto& [key, version] : readable_) version.renamed &= LeaseUntil(version) > now;
}

void CoreModel::LoseSegment(TimePoint, const SegmentId& id) {
  const auto lose = [&](std::vector<ReplicaDescriptor>& replicas) {
    std::erase_if(replicas, [&](const ReplicaDescriptor& r) { return On(r, id); });
  };
  for (auto& [key, write] : writes_) lose(write.replicas);
  for (auto& [key, version] : readable_) lose(version.replicas);
  for (auto& [put_id, version] : detached_) lose(version.replicas);
  const auto lost = [](const auto& item) {
    return item.second.size > 0 && item.second.replicas.empty();
  };
  std::erase_if(readable_, lost);
  std::erase_if(detached_, lost);
  ForgetGroups();
}

bool CoreModel::Evicted(TimePoint now, const std::string& key) {
  const auto readable = readable_.find(key);
  if (readable == readable_.end() || LeaseUntil(readable->second) > now || writes_.contains(key))
    return false;
  readable_.erase(readable);
  ForgetGroups();
  return true;
}

}  // namespace mooncake::core
