// What the core should do, said with plain maps and without placement: which names are readable in which version, and
// which versions must still have their bytes. The model does not evict; the property test keeps room enough, or
// tells it what vanished.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "master/api/types.h"
#include "master/core/options.h"

namespace mooncake::core {

class CoreModel {
 public:
  struct Version {
    PutId id;
    uint64_t size = 0;
    TimePoint lease_until{};
    std::vector<ReplicaDescriptor> replicas;
    std::string group;
    bool renamed = false;  // while leased, so that a reader may know it by an older name
  };
  struct Write {
    PutId id;
    ClientId client;
    uint64_t size = 0;
    TimePoint started;
    PutId expected;
    bool base_removed = false;
    std::string group;
    std::vector<ReplicaDescriptor> replicas;
  };

  explicit CoreModel(const CoreOptions& options) : options_(options) {}

  // What the core must answer. For PutStart, kNoAvailableHandle is the core's to decide.
  ErrorCode PutStart(TimePoint now, const PutStartArgs& args,
                     const std::optional<PutStartReply>& reply);
  ErrorCode PutEnd(TimePoint now, const PutEndArgs& args);
  ErrorCode PutRevoke(TimePoint now, const PutRevokeArgs& args);
  ErrorCode Get(TimePoint now, const std::string& key);
  ErrorCode Renew(TimePoint now, const std::string& key, PutId id);
  ErrorCode Remove(TimePoint now, const std::string& key, bool force);
  ErrorCode Clear(TimePoint now, const std::string& key, const SegmentId& segment);
  ErrorCode Rename(TimePoint now, const std::string& from, const std::string& to, bool no_replace);
  std::optional<uint64_t> RenamePrefix(TimePoint now, const std::string& from,
                                       const std::string& to, ErrorCode& code);
  void Expire(TimePoint now);
  // A segment is gone: replicas with an extent there, and what has none left.
  void LoseSegment(TimePoint now, const SegmentId& id);
  // Evicted by the core. False if it must not have been.
  bool Evicted(TimePoint now, const std::string& key);
  // Of the version or its group.
  TimePoint LeaseUntil(const Version& version) const;

  const std::map<std::string, Version>& readable() const { return readable_; }
  const std::map<std::string, Write>& writes() const { return writes_; }
  const std::map<PutId, Version>& detached() const { return detached_; }

 private:
  void Drop(TimePoint now, const std::string& key);
  void Lease(TimePoint now, Version& version);
  // A group is forgotten with its last member, its lease too.
  void ForgetGroups();

  const CoreOptions options_;
  std::map<std::string, Version> readable_;
  std::map<std::string, Write> writes_;
  std::map<PutId, Version> detached_;
  std::map<std::string, TimePoint> group_leases_;
};

}  // namespace mooncake::core
