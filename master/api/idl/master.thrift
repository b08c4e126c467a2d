// The metadata service. One call per method of MasterApi (master/api/master_api.h), in its batch form; the meaning of each
// call and of its codes is written there. Framed transport, binary protocol.
//
// Rules: field 1 of a request is the time the caller still waits; fields 1 and 2 of a reply are the outcome of the call as a
// whole and the term of the master. Batch replies carry one entry per entry of the request, in order, unless the call
// failed as a whole. Field ids are never reused. Unsigned 64-bit numbers travel as i64 with the same bits. Enumerations travel as
// their numbers in master/api/types.h.
namespace cpp mooncake.thriftgen

include "common.thrift"

struct ObjectAttributes {
  1: i32 kind
  2: i32 mode
  3: i32 uid
  4: i32 gid
  5: i64 mtime_ns
}

struct Extent {
  1: common.Uuid segment
  2: i64 epoch
  3: i64 offset
  4: i64 length
}

struct Replica {
  1: i32 status
  2: list<Extent> extents
}

struct ReplicateConfig {
  1: i32 replica_num = 1
  2: i32 soft_pin
  3: optional i64 soft_pin_ttl_ns
  4: bool hard_pin
  5: optional string group
  6: optional list<string> preferred_segments
  7: optional list<string> excluded_segments
  8: optional string host_id
  9: bool prefer_same_node
}

struct ReplicaList {
  1: i64 put_id
  2: i64 size
  3: list<Replica> replicas
  4: i64 lease_ns
  5: optional ObjectAttributes attributes
  6: i64 created_ms
}

struct ObjectStat {
  1: i64 put_id
  2: i64 size
  3: i32 replica_count
  4: i64 lease_left_ns
  5: i64 soft_pin_left_ns
  6: bool hard_pin
  7: optional string group
  8: optional ObjectAttributes attributes
  9: i64 created_ms
}

struct SegmentDescriptor {
  1: common.Uuid id
  2: string name
  3: i64 size
  4: i64 epoch
  5: common.Uuid owner
  6: string host_id
  7: string protocol
  8: string endpoint
  9: string local_socket
}

// --- one request and one reply per call ---------------------------------------------------------------------------

struct PingRequest {
  1: i32 timeout_ms
  2: common.Uuid client
  3: string address
}
struct PingReply {
  1: common.Status status
  2: i64 term
  3: i32 ping_status
  4: i64 master_now_ms
  5: i64 client_ttl_ns
  6: i64 log_position
}

struct PutStart {
  1: common.ObjectName name
  2: i64 size
  3: i32 mode
  4: ReplicateConfig config
  5: i64 expected
  6: common.Uuid client
}
struct PutStartResult {
  1: common.Status status
  2: i64 put_id
  3: list<Replica> replicas
  4: i64 write_deadline_ms
  5: i64 grant_ns
}
struct BatchPutStartRequest {
  1: i32 timeout_ms
  2: list<PutStart> entries
}
struct BatchPutStartReply {
  1: common.Status status
  2: i64 term
  3: list<PutStartResult> results
}

struct PutEnd {
  1: common.ObjectName name
  2: i64 put_id
  3: optional ObjectAttributes attributes
  4: common.Uuid client
}
struct BatchPutEndRequest {
  1: i32 timeout_ms
  2: list<PutEnd> entries
}

struct PutRevoke {
  1: common.ObjectName name
  2: i64 put_id
  3: bool settled
  4: common.Uuid client
}
struct BatchPutRevokeRequest {
  1: i32 timeout_ms
  2: list<PutRevoke> entries
}

// The reply of calls that answer each entry with a status only.
struct BatchStatusReply {
  1: common.Status status
  2: i64 term
  3: list<common.Status> results
}
// The reply of single calls without a value.
struct StatusReply {
  1: common.Status status
  2: i64 term
}
// The reply of calls that answer with a number.
struct CountReply {
  1: common.Status status
  2: i64 term
  3: i64 count
}

struct NamesRequest {
  1: i32 timeout_ms
  2: list<common.ObjectName> names
}
struct ReplicaListResult {
  1: common.Status status
  2: optional ReplicaList value
}
struct BatchGetReplicaListReply {
  1: common.Status status
  2: i64 term
  3: list<ReplicaListResult> results
}

struct LeaseRef {
  1: common.ObjectName name
  2: i64 put_id
}
struct BatchRenewLeaseRequest {
  1: i32 timeout_ms
  2: list<LeaseRef> leases
}
struct LeaseResult {
  1: common.Status status
  2: i64 lease_ns
}
struct BatchRenewLeaseReply {
  1: common.Status status
  2: i64 term
  3: list<LeaseResult> results
}

struct BatchExistKeyRequest {
  1: i32 timeout_ms
  2: list<common.ObjectName> names
  3: bool grant_lease
}
struct ExistResult {
  1: common.Status status
  2: bool exists
}
struct BatchExistKeyReply {
  1: common.Status status
  2: i64 term
  3: list<ExistResult> results
}

struct StatResult {
  1: common.Status status
  2: optional ObjectStat value
}
struct BatchStatReply {
  1: common.Status status
  2: i64 term
  3: list<StatResult> results
}

struct BatchRemoveRequest {
  1: i32 timeout_ms
  2: list<common.ObjectName> names
  3: bool force
}

// `segment` is a name; "" = all.
struct BatchReplicaClearRequest {
  1: i32 timeout_ms
  2: list<common.ObjectName> names
  3: string segment
}

struct RemoveByRegexRequest {
  1: i32 timeout_ms
  2: string tenant
  3: binary pattern
  4: bool force
  5: bool dry_run
  6: i32 sample_limit
}
struct RegexMatch {
  1: binary key
  2: i64 size
}
struct RemoveByRegexReply {
  1: common.Status status
  2: i64 term
  3: i64 matched
  4: i64 removed
  5: i64 skipped
  6: list<RegexMatch> sample
}

struct RemoveAllRequest {
  1: i32 timeout_ms
  2: string tenant
  3: bool force
}

struct GetReplicaListByRegexRequest {
  1: i32 timeout_ms
  2: string tenant
  3: binary pattern
  4: i32 limit
}
struct NamedReplicaList {
  1: binary key
  2: ReplicaList value
}
struct GetReplicaListByRegexReply {
  1: common.Status status
  2: i64 term
  3: list<NamedReplicaList> results
}

struct ListObjectsRequest {
  1: i32 timeout_ms
  2: string tenant
  3: binary prefix
  4: binary delimiter
  5: binary start_after
  6: i32 limit
}
struct ListEntry {
  1: binary key
  2: bool is_prefix
  3: optional ObjectStat stat
}
struct ListObjectsReply {
  1: common.Status status
  2: i64 term
  3: list<ListEntry> entries
  4: bool truncated
}

struct RenameRequest {
  1: i32 timeout_ms
  2: common.ObjectName from_name
  3: common.ObjectName to_name
  4: bool no_replace
}
struct RenamePrefixRequest {
  1: i32 timeout_ms
  2: string tenant
  3: binary from_prefix
  4: binary to_prefix
}
struct SetAttributesRequest {
  1: i32 timeout_ms
  2: common.ObjectName name
  3: i64 version
  4: ObjectAttributes attributes
}

struct SetPin {
  1: common.ObjectName name
  2: i32 soft
  3: optional i64 soft_ttl_ns
  4: optional bool hard
}
struct BatchSetPinRequest {
  1: i32 timeout_ms
  2: list<SetPin> entries
}

struct MountSegmentRequest {
  1: i32 timeout_ms
  2: common.Uuid client
  3: SegmentDescriptor segment
}
struct ReMountSegmentsRequest {
  1: i32 timeout_ms
  2: common.Uuid client
  3: list<SegmentDescriptor> segments
  4: i64 seen_log_position
}
struct UnmountSegmentRequest {
  1: i32 timeout_ms
  2: common.Uuid client
  3: common.Uuid segment
}

struct GracefulUnmountSegmentRequest {
  1: i32 timeout_ms
  2: common.Uuid client
  3: common.Uuid segment
  4: i64 grace_ns
}

struct ReportReplicaFailureRequest {
  1: i32 timeout_ms
  2: common.Uuid client
  3: list<common.Uuid> segments
}

struct GetSegmentsRequest {
  1: i32 timeout_ms
  2: list<common.Uuid> ids
}
struct SegmentInfo {
  1: SegmentDescriptor descriptor
  2: i32 status
  3: i64 used
  4: i64 largest_free
  5: i64 object_count
  6: bool quarantined
}
struct GetSegmentsReply {
  1: common.Status status
  2: i64 term
  3: list<SegmentInfo> segments
}

// For calls without arguments.
struct PlainRequest {
  1: i32 timeout_ms
}
struct ClientInfo {
  1: common.Uuid id
  2: string address
  3: i64 since_ping_ns
  4: i32 segment_count
}
struct GetClientsReply {
  1: common.Status status
  2: i64 term
  3: list<ClientInfo> clients
}

struct BatchQueryIpRequest {
  1: i32 timeout_ms
  2: list<common.Uuid> clients
}
struct ClientAddresses {
  1: common.Uuid client
  2: list<string> addresses
}
struct BatchQueryIpReply {
  1: common.Status status
  2: i64 term
  3: list<ClientAddresses> clients
}

struct ClusterStatus {
  1: i64 term
  2: string version
  3: i64 capacity
  4: i64 used
  5: i64 object_count
  6: i64 processing_count
  7: i64 soft_pinned_count
  8: i32 segment_count
  9: i32 client_count
  10: i64 evicted_objects
  11: i64 evicted_bytes
  12: i64 uptime_ns
}
struct GetStatusReply {
  1: common.Status status
  2: i64 term
  3: optional ClusterStatus value
}

struct Snapshot {
  1: string id
  2: i64 records
  3: i64 bytes
  4: i64 begun_ms
  5: i64 term
  6: i64 from_sequence
  7: i64 until_sequence
  8: string trouble
}
struct TakeSnapshotReply {
  1: common.Status status
  2: i64 term
  3: optional Snapshot value
}
struct ListSnapshotsReply {
  1: common.Status status
  2: i64 term
  3: list<Snapshot> snapshots
}
struct VerifySnapshotRequest {
  1: i32 timeout_ms
  2: string id
}
struct VerifySnapshotReply {
  1: common.Status status
  2: i64 term
  3: i64 records
  4: i64 damaged
}
struct DurabilityStatus {
  1: bool sync
  2: i64 log_durable
  3: i64 log_waiting
  4: i64 held_bytes
  5: string log_trouble
  6: i64 snapshots_taken
  7: i64 snapshots_failed
  8: string snapshot_trouble
  9: optional i64 snapshot_age_ns
}
struct GetDurabilityReply {
  1: common.Status status
  2: i64 term
  3: optional DurabilityStatus value
}

struct TenantQuota {
  1: binary tenant
  2: i64 requested
  3: i64 effective
  4: i64 charged
  5: i64 objects
  6: i64 evicted_bytes
  7: i64 rejected
  8: bool admission_closed
}
struct QuotaRequest {
  1: i32 timeout_ms
  2: binary tenant
}
struct SetQuotaRequest {
  1: i32 timeout_ms
  2: binary tenant
  3: i64 requested
}
struct QuotaReply {
  1: common.Status status
  2: i64 term
  3: optional TenantQuota value
}
struct ListQuotasRequest {
  1: i32 timeout_ms
  2: binary start_after
  3: i32 limit
}
struct ListQuotasReply {
  1: common.Status status
  2: i64 term
  3: list<TenantQuota> quotas
  4: bool truncated
}

struct CallActivity {
  1: string name
  2: i64 calls
  3: i64 items
  4: i64 failed_items
  5: list<i64> latencies
}
struct Activity {
  1: list<i64> latency_bounds_us
  2: list<CallActivity> calls
  3: i64 put_bytes
  4: i64 hit_bytes
  5: i64 puts_without_room
}
struct GetActivityReply {
  1: common.Status status
  2: i64 term
  3: optional Activity value
}
struct ConfigValue {
  1: string name
  2: string value
  3: bool is_default
}
struct GetConfigReply {
  1: common.Status status
  2: i64 term
  3: list<ConfigValue> values
}

service MasterRpc {
  PingReply Ping(1: PingRequest request)

  BatchPutStartReply BatchPutStart(1: BatchPutStartRequest request)
  BatchStatusReply BatchPutEnd(1: BatchPutEndRequest request)
  BatchStatusReply BatchPutRevoke(1: BatchPutRevokeRequest request)

  BatchGetReplicaListReply BatchGetReplicaList(1: NamesRequest request)
  BatchRenewLeaseReply BatchRenewLease(1: BatchRenewLeaseRequest request)
  BatchExistKeyReply BatchExistKey(1: BatchExistKeyRequest request)
  BatchStatReply BatchStat(1: NamesRequest request)

  BatchStatusReply BatchRemove(1: BatchRemoveRequest request)
  BatchStatusReply BatchReplicaClear(1: BatchReplicaClearRequest request)
  RemoveByRegexReply RemoveByRegex(1: RemoveByRegexRequest request)
  CountReply RemoveAll(1: RemoveAllRequest request)
  GetReplicaListByRegexReply GetReplicaListByRegex(1: GetReplicaListByRegexRequest request)

  ListObjectsReply ListObjects(1: ListObjectsRequest request)
  StatusReply Rename(1: RenameRequest request)
  CountReply RenamePrefix(1: RenamePrefixRequest request)
  StatusReply SetAttributes(1: SetAttributesRequest request)
  BatchStatusReply BatchSetPin(1: BatchSetPinRequest request)

  StatusReply MountSegment(1: MountSegmentRequest request)
  StatusReply ReMountSegments(1: ReMountSegmentsRequest request)
  StatusReply UnmountSegment(1: UnmountSegmentRequest request)
  StatusReply GracefulUnmountSegment(1: GracefulUnmountSegmentRequest request)
  StatusReply ReportReplicaFailure(1: ReportReplicaFailureRequest request)
  GetSegmentsReply GetSegments(1: GetSegmentsRequest request)
  GetClientsReply GetClients(1: PlainRequest request)
  BatchQueryIpReply BatchQueryIp(1: BatchQueryIpRequest request)
  GetStatusReply GetStatus(1: PlainRequest request)
  GetActivityReply GetActivity(1: PlainRequest request)
  GetConfigReply GetConfig(1: PlainRequest request)

  TakeSnapshotReply TakeSnapshot(1: PlainRequest request)
  ListSnapshotsReply ListSnapshots(1: PlainRequest request)
  VerifySnapshotReply VerifySnapshot(1: VerifySnapshotRequest request)
  GetDurabilityReply GetDurability(1: PlainRequest request)

  QuotaReply GetQuota(1: QuotaRequest request)
  QuotaReply SetQuota(1: SetQuotaRequest request)
  QuotaReply DeleteQuota(1: QuotaRequest request)
  ListQuotasReply ListQuotas(1: ListQuotasRequest request)
}
