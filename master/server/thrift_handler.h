// The Thrift face of a MasterApi: decodes and checks requests, calls, encodes. Private to the server library.
#pragma once

#include <functional>

#include "master/api/gen-cpp/MasterRpc.h"
#include "master/api/master_api.h"
#include "master/api/wire.h"
#include "master/api/wire_lookup.h"
#include "transfer/base/clock.h"

namespace mooncake {

// Thread-safe if `master` is. All arguments must outlive it. `term` is asked after each call and put in the reply.
//
// Entries of a batch that do not decode are answered by themselves; the others go to `master` in one call.
class ThriftHandler final : public thriftgen::MasterRpcIf {
 public:
  ThriftHandler(MasterApi& master, std::function<Term()> term, const Clock& clock);

  // BatchGetReplicaList without generated code; appends the reply to `out`.
  void Lookup(const wire::LookupRequest& request, wire::OutFrame& out);

  void Ping(thriftgen::PingReply& reply, const thriftgen::PingRequest& request) override;
  void BatchPutStart(thriftgen::BatchPutStartReply& reply,
                     const thriftgen::BatchPutStartRequest& request) override;
  void BatchPutEnd(thriftgen::BatchStatusReply& reply,
                   const thriftgen::BatchPutEndRequest& request) override;
  void BatchPutRevoke(thriftgen::BatchStatusReply& reply,
                      const thriftgen::BatchPutRevokeRequest& request) override;
  void BatchGetReplicaList(thriftgen::BatchGetReplicaListReply& reply,
                           const thriftgen::NamesRequest& request) override;
  void BatchRenewLease(thriftgen::BatchRenewLeaseReply& reply,
                       const thriftgen::BatchRenewLeaseRequest& request) override;
  void BatchExistKey(thriftgen::BatchExistKeyReply& reply,
                     const thriftgen::BatchExistKeyRequest& request) override;
  void BatchStat(thriftgen::BatchStatReply& reply, const thriftgen::NamesRequest& request) override;
  void BatchRemove(thriftgen::BatchStatusReply& reply,
                   const thriftgen::BatchRemoveRequest& request) override;
  void BatchReplicaClear(thriftgen::BatchStatusReply& reply,
                         const thriftgen::BatchReplicaClearRequest& request) override;
  void RemoveByRegex(thriftgen::RemoveByRegexReply& reply,
                     const thriftgen::RemoveByRegexRequest& request) override;
  void RemoveAll(thriftgen::CountReply& reply, const thriftgen::RemoveAllRequest& request) override;
  void GetReplicaListByRegex(thriftgen::GetReplicaListByRegexReply& reply,
                             const thriftgen::GetReplicaListByRegexRequest& request) override;
  void ListObjects(thriftgen::ListObjectsReply& reply,
                   const thriftgen::ListObjectsRequest& request) override;
  void Rename(thriftgen::StatusReply& reply, const thriftgen::RenameRequest& request) override;
  void RenamePrefix(thriftgen::CountReply& reply,
                    const thriftgen::RenamePrefixRequest& request) override;
  void SetAttributes(thriftgen::StatusReply& reply,
                     const thriftgen::SetAttributesRequest& request) override;
  void BatchSetPin(thriftgen::BatchStatusReply& reply,
                   const thriftgen::BatchSetPinRequest& request) override;
  void MountSegment(thriftgen::StatusReply& reply,
                    const thriftgen::MountSegmentRequest& request) override;
  void ReMountSegments(thriftgen::StatusReply& reply,
                       const thriftgen::ReMountSegmentsRequest& request) override;
  void UnmountSegment(thriftgen::StatusReply& reply,
                      const thriftgen::UnmountSegmentRequest& request) override;
  void GracefulUnmountSegment(thriftgen::StatusReply& reply,
                              const thriftgen::GracefulUnmountSegmentRequest& request) override;
  void ReportReplicaFailure(thriftgen::StatusReply& reply,
                            const thriftgen::ReportReplicaFailureRequest& request) override;
  void GetSegments(thriftgen::GetSegmentsReply& reply,
                   const thriftgen::GetSegmentsRequest& request) override;
  void GetClients(thriftgen::GetClientsReply& reply,
                  const thriftgen::PlainRequest& request) override;
  void BatchQueryIp(thriftgen::BatchQueryIpReply& reply,
                    const thriftgen::BatchQueryIpRequest& request) override;
  void GetStatus(thriftgen::GetStatusReply& reply, const thriftgen::PlainRequest& request) override;
  void GetActivity(thriftgen::GetActivityReply& reply,
                   const thriftgen::PlainRequest& request) override;
  void GetConfig(thriftgen::GetConfigReply& reply, const thriftgen::PlainRequest& request) override;
  void TakeSnapshot(thriftgen::TakeSnapshotReply& reply,
                    const thriftgen::PlainRequest& request) override;
  void ListSnapshots(thriftgen::ListSnapshotsReply& reply,
                     const thriftgen::PlainRequest& request) override;
  void VerifySnapshot(thriftgen::VerifySnapshotReply& reply,
                      const thriftgen::VerifySnapshotRequest& request) override;
  void GetDurability(thriftgen::GetDurabilityReply& reply,
                     const thriftgen::PlainRequest& request) override;
  void GetQuota(thriftgen::QuotaReply& reply, const thriftgen::QuotaRequest& request) override;
  void SetQuota(thriftgen::QuotaReply& reply, const thriftgen::SetQuotaRequest& request) override;
  void DeleteQuota(thriftgen::QuotaReply& reply, const thriftgen::QuotaRequest& request) override;
  void ListQuotas(thriftgen::ListQuotasReply& reply,
                  const thriftgen::ListQuotasRequest& request) override;

 private:
  // Runs `work(deadline)`, unless nobody waits for it.
  template <typename Work>
  Status InTime(int32_t timeout_ms, Work&& work) {
    const Duration left = wire::DecodeTimeout(timeout_ms);
    return left == Duration::zero()
               ? Status(ErrorCode::kRpcTimeout, "the caller's deadline has passed")
               : work(clock_.Now() + left);
  }
  // Also puts the status and the term in the reply.
  template <typename Reply, typename Work>
  void Answer(Reply& reply, int32_t timeout_ms, Work&& work) {
    const Status status = InTime(timeout_ms, work);
    reply.status = wire::Encode(status);
    reply.term = static_cast<int64_t>(term_().value);
  }

  MasterApi& master_;
  const std::function<Term()> term_;
  const Clock& clock_;
};

}  // namespace mooncake
