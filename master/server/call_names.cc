#include "master/server/call_names.h"

#include <algorithm>

namespace mooncake {
namespace {

constexpr std::array<CallName, kMasterCalls> kCallNames = {{
    {MasterCall::kPing, "Ping", "ping", false},
    {MasterCall::kPutStart, "BatchPutStart", "put_start", true},
    {MasterCall::kPutEnd, "BatchPutEnd", "put_end", true},
    {MasterCall::kPutRevoke, "BatchPutRevoke", "put_revoke", true},
    {MasterCall::kGetReplicaList, "BatchGetReplicaList", "get_replica_list", true},
    {MasterCall::kRenewLease, "BatchRenewLease", "renew_lease", true},
    {MasterCall::kExistKey, "BatchExistKey", "exist_key", true},
    {MasterCall::kStat, "BatchStat", "stat", true},
    {MasterCall::kRemove, "BatchRemove", "remove", true},
    {MasterCall::kReplicaClear, "BatchReplicaClear", "replica_clear", true},
    {MasterCall::kRemoveByRegex, "RemoveByRegex", "remove_by_regex", false},
    {MasterCall::kRemoveAll, "RemoveAll", "remove_all", false},
    {MasterCall::kGetReplicaListByRegex, "GetReplicaListByRegex", "get_replica_list_by_regex",
     false},
    {MasterCall::kListObjects, "ListObjects", "list_objects", false},
    {MasterCall::kRename, "Rename", "rename", false},
    {MasterCall::kRenamePrefix, "RenamePrefix", "rename_prefix", false},
    {MasterCall::kSetAttributes, "SetAttributes", "set_attributes", false},
    {MasterCall::kSetPin, "BatchSetPin", "set_pin", true},
    {MasterCall::kMountSegment, "MountSegment", "mount_segment", false},
    {MasterCall::kReMountSegment, "ReMountSegments", "remount_segment", false},
    {MasterCall::kUnmountSegment, "UnmountSegment", "unmount_segment", false},
    {MasterCall::kGracefulUnmountSegment, "GracefulUnmountSegment", "graceful_unmount_segment",
     false},
    {MasterCall::kReportReplicaFailure, "ReportReplicaFailure", "report_replica_failure", false},
    {MasterCall::kGetSegments, "GetSegments", "get_segments", false},
    {MasterCall::kGetClients, "GetClients", "get_clients", false},
    {MasterCall::kQueryIp, "BatchQueryIp", "query_ip", false},
    {MasterCall::kGetStatus, "GetStatus", "get_status", false},
    {MasterCall::kGetActivity, "GetActivity", "get_activity", false},
    {MasterCall::kGetConfig, "GetConfig", "get_config", false},
    {MasterCall::kTakeSnapshot, "TakeSnapshot", "take_snapshot", false},
    {MasterCall::kListSnapshots, "ListSnapshots", "list_snapshots", false},
    {MasterCall::kVerifySnapshot, "VerifySnapshot", "verify_snapshot", false},
    {MasterCall::kGetDurability, "GetDurability", "get_durability", false},
    {MasterCall::kGetQuota, "GetQuota", "get_quota", false},
    {MasterCall::kSetQuota, "SetQuota", "set_quota", false},
    {MasterCall::kDeleteQuota, "DeleteQuota", "delete_quota", false},
    {MasterCall::kListQuotas, "ListQuotas", "list_quotas", false},
}};

constexpr bool InOrder() {
  for (size_t i = 0; i < kCallNames.size(); ++i) {
    if (static_cast<size_t>(kCallNames[i].call) != i) return false;
  }
  return true;
}
static_assert(InOrder());

}  // namespace

const std::array<CallName, kMasterCalls>& CallNames() { return kCallNames; }

std::optional<MasterCall> CallOfRpc(std::string_view rpc) {
  const auto found = std::find_if(kCallNames.begin(), kCallNames.end(),
                                  [&](const CallName& name) { return name.rpc == rpc; });
  if (found == kCallNames.end()) return std::nullopt;
  return found->call;
}

}  // namespace mooncake
