// The calls about what outlives the master. None of them takes the metadata's lock, except a snapshot's steps.
#include <algorithm>
#include <utility>

#include "master/server/master_service.h"
#include "transfer/base/units.h"

namespace mooncake {
namespace {

Status KeepsNothing() {
  return {ErrorCode::kUnavailableInCurrentMode,
          "this master keeps no state: start it with --state_dir=FOLDER"};
}

SnapshotDescriptor Describe(const SnapshotInfo& info) {
  SnapshotDescriptor out;
  out.id = info.id;
  out.records = info.footer.records;
  out.bytes = info.bytes;
  out.begun_ms = info.footer.wall_ms;
  out.term = info.footer.term;
  out.from = info.footer.from;
  out.until = info.footer.until;
  if (!info.health.ok()) out.trouble = info.health.message();
  return out;
}

}  // namespace

Result<SnapshotDescriptor> MasterService::TakeSnapshot(TimePoint deadline) {
  return Counted(MasterCall::kTakeSnapshot, [&]() -> Result<SnapshotDescriptor> {
    if (snapshotter_ == nullptr) return KeepsNothing();
    ASSIGN_OR_RETURN(const SnapshotInfo info, snapshotter_->TakeNow(deadline));
    return Describe(info);
  }());
}

// Files of other names were put there by somebody else.
Result<std::vector<SnapshotDescriptor>> MasterService::Snapshots() const {
  if (store_ == nullptr) return KeepsNothing();
  ASSIGN_OR_RETURN(const std::vector<SnapshotInfo> infos, store_->ListSnapshots());
  std::vector<SnapshotDescriptor> snapshots;
  for (const SnapshotInfo& info : infos) {
    if (IsSnapshotId(info.id)) snapshots.push_back(Describe(info));
  }
  return snapshots;
}

Result<std::vector<SnapshotDescriptor>> MasterService::ListSnapshots(TimePoint) {
  return Counted(MasterCall::kListSnapshots, Snapshots());
}

Result<SnapshotVerdict> MasterService::ReadWhole(const std::string& id, TimePoint deadline) const {
  ASSIGN_OR_RETURN(const std::vector<SnapshotDescriptor> snapshots, Snapshots());
  if (!IsSnapshotId(id))
    return {ErrorCode::kInvalidParams, "'" + EscapeForDisplay(id) + "' is no id of a snapshot"};
  const auto found = std::find_if(snapshots.begin(), snapshots.end(),
                                  [&](const SnapshotDescriptor& s) { return s.id == id; });
  if (found == snapshots.end())
    return {ErrorCode::kObjectNotFound, "there is no snapshot '" + id + "'"};
  if (!found->trouble.empty()) return {ErrorCode::kPersistentFail, found->trouble};
  SnapshotVerdict verdict;
  Status ended;
  RETURN_IF_ERROR(
      store_
          ->ReadSnapshot(id,
                         [&](const Result<core::Record>& record) {
                           ++verdict.records;
                           if (!record.ok()) ++verdict.damaged;
                           if (stopping_.load())
                             ended = {ErrorCode::kUnavailableInCurrentStatus, "the master stops"};
                           if (clock_.Now() >= deadline)
                             ended = {ErrorCode::kRpcTimeout, "the deadline has passed; " +
                                                                  std::to_string(verdict.records) +
                                                                  " records were read so far"};
                           return ended.ok();
                         })
          .status());
  RETURN_IF_ERROR(ended);
  return verdict;
}

Result<SnapshotVerdict> MasterService::VerifySnapshot(const std::string& id, TimePoint deadline) {
  return Counted(MasterCall::kVerifySnapshot, ReadWhole(id, deadline));
}

Result<DurabilityStatus> MasterService::GetDurability(TimePoint) {
  return Counted(MasterCall::kGetDurability, [&]() -> Result<DurabilityStatus> {
    const std::optional<DurabilityNumbers> numbers = durability();
    if (!numbers) return KeepsNothing();
    DurabilityStatus status;
    status.sync = options_.core.durability == core::Durability::kSync;
    status.log_durable = numbers->log.durable;
    status.log_waiting = numbers->log.waiting;
    status.held_bytes = numbers->held_bytes;
    status.log_trouble = numbers->log.trouble;
    status.snapshots_taken = numbers->snapshots.taken;
    status.snapshots_failed = numbers->snapshots.failed;
    status.snapshot_trouble = numbers->snapshots.trouble;
    // From memory: whoever asks for the master's health is answered also when the storage is not.
    int64_t newest_ms = numbers->snapshots.last.footer.wall_ms;
    if (numbers->snapshots.taken == 0) newest_ms = restored_->snapshot_begun_ms;
    if (numbers->snapshots.taken > 0 || !restored_->snapshot.empty()) {
      const int64_t now_ms = clock_.WallNow().ns / 1'000'000;
      // A clock that was set back makes it new, not negative.
      status.snapshot_age = Millis(std::max<int64_t>(0, now_ms - newest_ms));
    }
    return status;
  }());
}

}  // namespace mooncake
