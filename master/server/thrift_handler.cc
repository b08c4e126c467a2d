#include "master/server/thrift_handler.h"

#include <utility>
#include <vector>

#include "master/api/wire.h"

namespace mooncake {
namespace {

// Generated code hands requests over as const, but each has one reader, which may take them apart.
template <typename T>
T&& Take(const T& request) {
  return std::move(const_cast<T&>(request));
}

// Decodes `entries`, calls `call(args)` with those that are well formed, and puts the answers in their places.
template <typename Args, typename Out, typename Wire, typename Call>
Result<std::vector<Out>> RunBatch(std::vector<Wire>&& entries, Call&& call) {
  RETURN_IF_ERROR(wire::CheckCount("entries", entries.size(), kMaxBatch));
  std::vector<Args> args;
  args.reserve(entries.size());
  std::vector<std::pair<size_t, Status>> bad;
  for (size_t i = 0; i < entries.size(); ++i) {
    auto decoded = wire::Decode(std::move(entries[i]));
    if (decoded.ok()) {
      args.push_back(std::move(decoded).value());
    } else {
      bad.emplace_back(i, decoded.status());
    }
  }
  std::vector<Out> answers = args.empty() ? std::vector<Out>() : call(std::span<const Args>(args));
  if (bad.empty()) return answers;

  std::vector<Out> out;
  out.reserve(entries.size());
  auto next_bad = bad.begin();
  auto next_good = answers.begin();
  for (size_t i = 0; i < entries.size(); ++i) {
    if (next_bad != bad.end() && next_bad->first == i) {
      out.emplace_back(std::move((next_bad++)->second));
    } else {
      out.push_back(std::move(*next_good++));
    }
  }
  return out;
}

// A batch that is answered by statuses alone.
template <typename Args, typename Wire, typename Call>
Status RunStatusBatch(std::vector<Wire>&& entries, std::vector<thriftgen::Status>& results,
                      Call&& call) {
  ASSIGN_OR_RETURN(const std::vector<Status> statuses,
                   (RunBatch<Args, Status>(std::move(entries), call)));
  results.reserve(statuses.size());
  for (const Status& status : statuses) results.push_back(wire::Encode(status));
  return Status::Ok();
}

// Answers with a value each: `fill(answer, value)` puts it in.
template <typename Args, typename Value, typename Wire, typename Answer, typename Call,
          typename Fill>
Status RunValueBatch(std::vector<Wire>&& entries, std::vector<Answer>& results, Call&& call,
                     Fill&& fill) {
  ASSIGN_OR_RETURN(const std::vector<Result<Value>> values,
                   (RunBatch<Args, Result<Value>>(std::move(entries), call)));
  results.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].ok()) {
      fill(results[i], *values[i]);
    } else {
      results[i].status = wire::Encode(values[i].status());
    }
  }
  return Status::Ok();
}

}  // namespace

ThriftHandler::ThriftHandler(MasterApi& master, std::function<Term()> term, const Clock& clock)
    : master_(master), term_(std::move(term)), clock_(clock) {}

void ThriftHandler::Lookup(const wire::LookupRequest& request, wire::OutFrame& out) {
  wire::LookupReply reply;
  reply.status = InTime(request.timeout_ms, [&](TimePoint deadline) {
    if (!request.names.empty()) reply.lists = master_.BatchGetReplicaList(request.names, deadline);
    return Status::Ok();
  });
  reply.term = term_();
  wire::WriteLookupReply(out, request.sequence, reply);
}

void ThriftHandler::Ping(thriftgen::PingReply& reply, const thriftgen::PingRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    RETURN_IF_ERROR(wire::CheckLength("address", request.address.size(), wire::kMaxNameBytes));
    ASSIGN_OR_RETURN(
        const PingReply answer,
        master_.Ping(wire::DecodeUuid<ClientId>(request.client), request.address, deadline));
    reply = wire::Encode(answer);
    return Status::Ok();
  });
}

void ThriftHandler::BatchPutStart(thriftgen::BatchPutStartReply& reply,
                                  const thriftgen::BatchPutStartRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return RunValueBatch<PutStartArgs, PutStartReply>(
        Take(request.entries), reply.results,
        [&](std::span<const PutStartArgs> args) { return master_.BatchPutStart(args, deadline); },
        [](thriftgen::PutStartResult& out, const PutStartReply& value) {
          out = wire::Encode(value);
        });
  });
}

void ThriftHandler::BatchPutEnd(thriftgen::BatchStatusReply& reply,
                                const thriftgen::BatchPutEndRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return RunStatusBatch<PutEndArgs>(
        Take(request.entries), reply.results,
        [&](std::span<const PutEndArgs> args) { return master_.BatchPutEnd(args, deadline); });
  });
}

void ThriftHandler::BatchPutRevoke(thriftgen::BatchStatusReply& reply,
                                   const thriftgen::BatchPutRevokeRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return RunStatusBatch<PutRevokeArgs>(Take(request.entries), reply.results,
                                         [&](std::span<const PutRevokeArgs> args) {
                                           return master_.BatchPutRevoke(args, deadline);
                                         });
  });
}

void ThriftHandler::BatchGetReplicaList(thriftgen::BatchGetReplicaListReply& reply,
                                        const thriftgen::NamesRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return RunValueBatch<ObjectName, ReplicaList>(
        Take(request.names), reply.results,
        [&](std::span<const ObjectName> names) {
          return master_.BatchGetReplicaList(names, deadline);
        },
        [](thriftgen::ReplicaListResult& out, const ReplicaList& value) {
          out.__set_value(wire::Encode(value));
        });
  });
}

void ThriftHandler::BatchRenewLease(thriftgen::BatchRenewLeaseReply& reply,
                                    const thriftgen::BatchRenewLeaseRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return RunValueBatch<LeaseRef, Duration>(
        Take(request.leases), reply.results,
        [&](std::span<const LeaseRef> leases) { return master_.BatchRenewLease(leases, deadline); },
        [](thriftgen::LeaseResult& out, const Duration& lease) { out.lease_ns = lease.count(); });
  });
}

void ThriftHandler::BatchExistKey(thriftgen::BatchExistKeyReply& reply,
                                  const thriftgen::BatchExistKeyRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return RunValueBatch<ObjectName, bool>(
        Take(request.names), reply.results,
        [&](std::span<const ObjectName> names) {
          return master_.BatchExistKey(names, request.grant_lease, deadline);
        },
        [](thriftgen::ExistResult& out, bool exists) { out.exists = exists; });
  });
}

void ThriftHandler::BatchStat(thriftgen::BatchStatReply& reply,
                              const thriftgen::NamesRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return RunValueBatch<ObjectName, ObjectStat>(
        Take(request.names), reply.results,
        [&](std::span<const ObjectName> names) { return master_.BatchStat(names, deadline); },
        [](thriftgen::StatResult& out, const ObjectStat& value) {
          out.__set_value(wire::Encode(value));
        });
  });
}

void ThriftHandler::BatchRemove(thriftgen::BatchStatusReply& reply,
                                const thriftgen::BatchRemoveRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return RunStatusBatch<ObjectName>(Take(request.names), reply.results,
                                      [&](std::span<const ObjectName> names) {
                                        return master_.BatchRemove(names, request.force, deadline);
                                      });
  });
}

void ThriftHandler::BatchReplicaClear(thriftgen::BatchStatusReply& reply,
                                      const thriftgen::BatchReplicaClearRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    RETURN_IF_ERROR(wire::CheckLength("segment name", request.segment.size(), wire::kMaxNameBytes));
    return RunStatusBatch<ObjectName>(
        Take(request.names), reply.results, [&](std::span<const ObjectName> names) {
          return master_.BatchReplicaClear(names, request.segment, deadline);
        });
  });
}

void ThriftHandler::RemoveByRegex(thriftgen::RemoveByRegexReply& reply,
                                  const thriftgen::RemoveByRegexRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const RemoveByRegexArgs args, wire::Decode(Take(request)));
    ASSIGN_OR_RETURN(const RemoveByRegexReply answer, master_.RemoveByRegex(args, deadline));
    reply = wire::Encode(answer);
    return Status::Ok();
  });
}

void ThriftHandler::RemoveAll(thriftgen::CountReply& reply,
                              const thriftgen::RemoveAllRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    RETURN_IF_ERROR(wire::CheckTenant(request.tenant));
    ASSIGN_OR_RETURN(const uint64_t count,
                     master_.RemoveAll(request.tenant, request.force, deadline));
    reply.count = static_cast<int64_t>(count);
    return Status::Ok();
  });
}

void ThriftHandler::GetReplicaListByRegex(thriftgen::GetReplicaListByRegexReply& reply,
                                          const thriftgen::GetReplicaListByRegexRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    RETURN_IF_ERROR(wire::CheckTenant(request.tenant));
    RETURN_IF_ERROR(wire::CheckLength("pattern", request.pattern.size(), kMaxPatternBytes));
    ASSIGN_OR_RETURN(const uint32_t limit,
                     wire::DecodeLimit("limit", request.limit, kMaxListLimit));
    ASSIGN_OR_RETURN(auto lists, master_.GetReplicaListByRegex(request.tenant, request.pattern,
                                                               limit, deadline));
    reply.results.resize(lists.size());
    for (size_t i = 0; i < lists.size(); ++i) {
      reply.results[i].key = std::move(lists[i].first);
      reply.results[i].value = wire::Encode(lists[i].second);
    }
    return Status::Ok();
  });
}

void ThriftHandler::ListObjects(thriftgen::ListObjectsReply& reply,
                                const thriftgen::ListObjectsRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const ListArgs args, wire::Decode(Take(request)));
    ASSIGN_OR_RETURN(const ListReply answer, master_.ListObjects(args, deadline));
    reply = wire::Encode(answer);
    return Status::Ok();
  });
}

void ThriftHandler::Rename(thriftgen::StatusReply& reply, const thriftgen::RenameRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const ObjectName from, wire::Decode(Take(request.from_name)));
    ASSIGN_OR_RETURN(const ObjectName to, wire::Decode(Take(request.to_name)));
    return master_.Rename(from, to, request.no_replace, deadline);
  });
}

void ThriftHandler::RenamePrefix(thriftgen::CountReply& reply,
                                 const thriftgen::RenamePrefixRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    RETURN_IF_ERROR(wire::CheckTenant(request.tenant));
    RETURN_IF_ERROR(wire::CheckLength("from_prefix", request.from_prefix.size(), kMaxKeyBytes));
    RETURN_IF_ERROR(wire::CheckLength("to_prefix", request.to_prefix.size(), kMaxKeyBytes));
    ASSIGN_OR_RETURN(const uint64_t count, master_.RenamePrefix(request.tenant, request.from_prefix,
                                                                request.to_prefix, deadline));
    reply.count = static_cast<int64_t>(count);
    return Status::Ok();
  });
}

void ThriftHandler::SetAttributes(thriftgen::StatusReply& reply,
                                  const thriftgen::SetAttributesRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const ObjectName name, wire::Decode(Take(request.name)));
    ASSIGN_OR_RETURN(const ObjectAttributes attributes, wire::Decode(Take(request.attributes)));
    return master_.SetAttributes(name, PutId{static_cast<uint64_t>(request.version)}, attributes,
                                 deadline);
  });
}

void ThriftHandler::BatchSetPin(thriftgen::BatchStatusReply& reply,
                                const thriftgen::BatchSetPinRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return RunStatusBatch<SetPinArgs>(
        Take(request.entries), reply.results,
        [&](std::span<const SetPinArgs> args) { return master_.BatchSetPin(args, deadline); });
  });
}

void ThriftHandler::MountSegment(thriftgen::StatusReply& reply,
                                 const thriftgen::MountSegmentRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const SegmentDescriptor segment, wire::Decode(Take(request.segment)));
    return master_.MountSegment(wire::DecodeUuid<ClientId>(request.client), segment, deadline);
  });
}

void ThriftHandler::ReMountSegments(thriftgen::StatusReply& reply,
                                    const thriftgen::ReMountSegmentsRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    std::vector<SegmentDescriptor> segments;
    segments.reserve(request.segments.size());
    for (thriftgen::SegmentDescriptor& in : Take(request).segments) {
      ASSIGN_OR_RETURN(SegmentDescriptor segment, wire::Decode(std::move(in)));
      segments.push_back(std::move(segment));
    }
    if (request.seen_log_position < 0)
      return {ErrorCode::kInvalidParams, "seen_log_position must not be negative"};
    return master_.ReMountSegments(wire::DecodeUuid<ClientId>(request.client), segments,
                                   static_cast<uint64_t>(request.seen_log_position), deadline);
  });
}

void ThriftHandler::UnmountSegment(thriftgen::StatusReply& reply,
                                   const thriftgen::UnmountSegmentRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return master_.UnmountSegment(wire::DecodeUuid<ClientId>(request.client),
                                  wire::DecodeUuid<SegmentId>(request.segment), deadline);
  });
}

void ThriftHandler::GracefulUnmountSegment(
    thriftgen::StatusReply& reply, const thriftgen::GracefulUnmountSegmentRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return master_.GracefulUnmountSegment(wire::DecodeUuid<ClientId>(request.client),
                                          wire::DecodeUuid<SegmentId>(request.segment),
                                          Duration(request.grace_ns), deadline);
  });
}

void ThriftHandler::ReportReplicaFailure(thriftgen::StatusReply& reply,
                                         const thriftgen::ReportReplicaFailureRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) {
    return master_.ReportReplicaFailure(wire::DecodeUuid<ClientId>(request.client),
                                        wire::DecodeUuids<SegmentId>(request.segments), deadline);
  });
}

void ThriftHandler::GetSegments(thriftgen::GetSegmentsReply& reply,
                                const thriftgen::GetSegmentsRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const std::vector<SegmentInfo> segments,
                     master_.GetSegments(wire::DecodeUuids<SegmentId>(request.ids), deadline));
    reply.segments =
        wire::EncodeAll<thriftgen::SegmentInfo>(std::span<const SegmentInfo>(segments));
    return Status::Ok();
  });
}

void ThriftHandler::GetClients(thriftgen::GetClientsReply& reply,
                               const thriftgen::PlainRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const std::vector<ClientInfo> clients, master_.GetClients(deadline));
    reply.clients = wire::EncodeAll<thriftgen::ClientInfo>(std::span<const ClientInfo>(clients));
    return Status::Ok();
  });
}

void ThriftHandler::BatchQueryIp(thriftgen::BatchQueryIpReply& reply,
                                 const thriftgen::BatchQueryIpRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const std::vector<ClientAddresses> clients,
                     master_.BatchQueryIp(wire::DecodeUuids<ClientId>(request.clients), deadline));
    reply.clients =
        wire::EncodeAll<thriftgen::ClientAddresses>(std::span<const ClientAddresses>(clients));
    return Status::Ok();
  });
}

}  // namespace mooncake
