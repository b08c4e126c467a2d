// The master: the real MetadataCore behind a front that tells the oracle what happened, with a modelled disk. Alone, it starts again by
// itself; one of several asks the election.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "master/core/metadata_core.h"
#include "tests/sim/durable_log.h"
#include "tests/sim/election.h"
#include "tests/sim/oracle.h"
#include "tests/sim/world.h"

namespace mooncake::sim {

// No reply: this one is not the master.
template <typename Reply>
struct Answer {
  uint64_t term = 0;
  std::optional<Reply> reply;
};

// What all masters of a run share.
struct MasterSetup {
  core::CoreOptions options;
  DurableLog* log = nullptr;
  Election* election = nullptr;     // null: there is one master
  uint32_t lose_disk_permille = 0;  // of restarts that find nothing
  uint64_t max_sync_us = 1000;
  uint64_t quota = 0;           // bytes of the only tenant, with options.multi_tenants
  uint64_t snapshot_pause = 1;  // ticks between two steps, about
  Canary canary = Canary::kNone;
};

class MasterActor final : public Actor {
 public:
  MasterActor(World& world, int id, Oracle& oracle, const MasterSetup& setup);

  void OnCrash() override;
  void OnRestart() override { Start(); }

  // Null when it is not, or not yet, the master.
  core::MetadataCore* core() { return core_.get(); }
  bool Leads() const;
  // Its own clock, another one in each life.
  TimePoint Clock() const { return world_.now() + skew_; }

  // Carries out an operation and answers when the log allows.
  template <typename Reply>
  void Serve(const std::function<Reply()>& op, std::function<void(Answer<Reply>)> answer) {
    if (!Leads()) return answer({term_, std::nullopt});
    touched_.clear();
    auto reply = std::make_shared<Reply>(op());
    if (Refused(*reply)) touched_.clear();
    const uint64_t shown = oracle_.Now();
    const uint64_t after = core_->AnswerAfter();
    NoteLosses();
    GiveAfter(Written(after),
              [this, reply, answer = std::move(answer), keys = touched_, shown, term = term_] {
                for (const std::string& key : keys) oracle_.Shown(term, key, shown);
                answer({term, std::move(*reply)});
              });
  }

  Result<PingReply> Ping(const ClientId& client, const std::string& address);
  Status Mount(const ClientId& client, const SegmentDescriptor& segment);
  Status GracefulUnmount(const ClientId& client, const SegmentId& segment, Duration grace);
  Status Unmount(const ClientId& client, const SegmentId& segment);
  bool Knows(const SegmentDescriptor& segment);
  // Of a client, which is made known for it.
  Status Report(const ClientId& client, const SegmentId& segment);

  Result<PutStartReply> PutStart(const PutStartArgs& args, uint64_t token);
  Status PutEnd(const PutEndArgs& args);
  Status PutRevoke(const PutRevokeArgs& args);
  Result<ReplicaList> Get(const std::string& key);
  Result<Duration> Renew(const std::string& key, PutId put_id);
  Status Remove(const std::string& key, bool force);
  Status Clear(const std::string& key, const std::string& segment);
  Status Rename(const std::string& from, const std::string& to, bool no_replace);
  Result<uint64_t> RenamePrefix(const std::string& from, const std::string& to);
  Status SetAttributes(const std::string& key);
  Result<bool> Exist(const std::string& key, bool lease);
  Result<ObjectStat> Stat(const std::string& key);
  Result<ListReply> List(const std::string& prefix, const std::string& delimiter);
  Result<RemoveByRegexReply> RemoveByRegex(const std::string& pattern);
  Result<uint64_t> RemoveAll();

  uint64_t restores() const { return restores_; }
  uint64_t from_snapshots() const { return from_snapshots_; }
  uint64_t versions_restored() const { return versions_restored_; }
  uint64_t successions() const { return successions_; }

 private:
  struct Waiting {
    uint64_t after;
    std::function<void()> give;
  };

  // Not now, as long as a predecessor may answer: says nothing of any key.
  static bool Refused(const Status& reply) {
    return reply.code() == ErrorCode::kUnavailableInCurrentStatus;
  }
  template <typename T>
  static bool Refused(const Result<T>& reply) {
    return !reply.ok() && Refused(reply.status());
  }
  static bool Refused(bool) { return false; }

  bool durable() const { return setup_.options.durability != core::Durability::kNone; }
  void Start();
  void Campaign();
  void Lead(uint64_t term);
  void Restore();
  void StepDown();
  void Tick();
  void TakeSnapshot();
  // Takes what the core recorded. What the answer at hand waits for, if the core said `after`.
  uint64_t Written(uint64_t after);
  // At once or a moment later, in which it may freeze.
  void GiveAfter(uint64_t sequence, std::function<void()> give);
  void Give(std::function<void()> give);
  core::RestoreArgs ReadBack(core::Restorer& restorer);
  void TellRestored(bool disk_lost);
  bool Has(const std::string& key, PutId put_id) const;
  void StartSync();
  void Synced(uint64_t until);
  void NoteLosses();
  void TraceStart(const std::string& key, const PutStartReply& reply);
  void TraceDone(const std::string& what, const std::string& key, const Status& status);

  Oracle& oracle_;
  const MasterSetup setup_;
  uint64_t term_ = 0;
  TimePoint lead_until_{};
  std::unique_ptr<core::MetadataCore> core_;
  std::deque<core::LogRecord> unsynced_;
  uint64_t written_ = 0;
  uint64_t synced_ = 0;
  bool syncing_ = false;
  uint64_t sync_moment_ = 0;  // what happened until then is in the sync under way
  std::deque<Waiting> waiting_;
  std::optional<core::SnapshotWalk> snapshot_;
  std::vector<std::string> touched_;  // keys that the operation at hand was about
  std::map<std::string, PutId> last_started_;
  uint64_t losses_seen_ = 0;
  uint64_t segments_seen_ = 0;
  Duration skew_{};
  uint64_t restores_ = 0;
  uint64_t from_snapshots_ = 0;
  uint64_t versions_restored_ = 0;
  uint64_t successions_ = 0;  // restores while another master may go on
};

}  // namespace mooncake::sim
