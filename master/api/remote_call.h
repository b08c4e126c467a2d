// How the remote master makes one call. Private to remote_master.cc.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <utility>

#include "master/api/gen-cpp/MasterRpc.h"
#include "master/api/remote_batch.h"
#include "master/api/remote_channel.h"
#include "master/api/wire.h"
#include "master/api/wire_lookup.h"
#include "master/api/wire_protocol.h"

namespace mooncake {

// Thread-safe.
class RemoteCaller {
 public:
  using Client = thriftgen::MasterRpcClient;

  RemoteCaller(HostPort address, size_t max_idle, Duration patience, const Clock& clock)
      : channel_(std::move(address), max_idle, patience, clock), clock_(clock) {}

  // OK: `reply` is the master's answer, of a term not older than any before, and its status is OK.
  template <typename Request, typename Reply>
  Status Call(const char* name, void (Client::*send)(const Request&),
              void (Client::*receive)(Reply&), Request& request, Reply& reply, TimePoint deadline) {
    RETURN_IF_ERROR(Exchange(
        name, deadline,
        [&](wire::OutFrame& out, int32_t timeout_ms) {
          request.timeout_ms = timeout_ms;
          Client sender(out.protocol(), out.protocol());
          (sender.*send)(request);
        },
        [&](ByteSpan payload) { return Receive(receive, payload, reply); }));
    RETURN_IF_ERROR(CheckTerm(static_cast<uint64_t>(reply.term)));
    return wire::Decode(std::move(reply.status));
  }

  // BatchGetReplicaList; OK as above.
  Status Lookup(std::span<const ObjectName> names, wire::LookupReply& reply, TimePoint deadline) {
    thriftgen::BatchGetReplicaListReply other;
    bool usual = false;
    RETURN_IF_ERROR(Exchange(
        "BatchGetReplicaList", deadline,
        [&](wire::OutFrame& out, int32_t timeout_ms) { wire::WriteLookup(out, timeout_ms, names); },
        [&](ByteSpan payload) {
          usual = wire::ReadLookupReply(payload, names.size(), reply);
          return usual ? Status::Ok() : Receive(&Client::recv_BatchGetReplicaList, payload, other);
        }));
    RETURN_IF_ERROR(CheckTerm(usual ? reply.term.value : static_cast<uint64_t>(other.term)));
    if (usual) return std::move(reply.status);
    RETURN_IF_ERROR(wire::Decode(std::move(other.status)));
    ASSIGN_OR_RETURN(reply.lists,
                     (Answers<Result<ReplicaList>>(
                         other.results, names.size(), [](thriftgen::ReplicaListResult&& result) {
                           return OrGarbage(wire::Decode(std::move(result.value)));
                         })));
    return Status::Ok();
  }

 private:
  template <typename Reply>
  static Status Receive(void (Client::*receive)(Reply&), ByteSpan payload, Reply& reply) {
    wire::InFrame in(payload);
    Client receiver(in.protocol(), in.protocol());
    try {
      (receiver.*receive)(reply);
    } catch (const std::exception& e) {
      // Also the server's own refusals, which come as Thrift's application exceptions and say why.
      return Status(ErrorCode::kRpcFail, std::string("no answer: ") + e.what());
    }
    return Status::Ok();
  }

  // `write(frame, timeout_ms)`, and `read(payload)` for what comes back.
  template <typename Write, typename Read>
  Status Exchange(const char* name, TimePoint deadline, Write&& write, Read&& read) {
    const int32_t timeout_ms =
        wire::EncodeTimeout(deadline == kNever ? wire::kMaxTimeout : deadline - clock_.Now());
    const Status status = timeout_ms == 0
                              ? Status(ErrorCode::kRpcTimeout, "the deadline has passed")
                              : ExchangeInTime(timeout_ms, deadline, write, read);
    if (status.ok()) return status;
    return Annotate(status, "master " + channel_.address().ToString() + ", " + name);
  }

  template <typename Write, typename Read>
  Status ExchangeInTime(int32_t timeout_ms, TimePoint deadline, Write& write, Read& read) {
    wire::OutFrame out;
    write(out, timeout_ms);
    if (out.payload_bytes() > wire::kMaxRequestBytes) {
      return Status(ErrorCode::kInvalidParams,
                    "a request of " + std::to_string(out.payload_bytes()) +
                        " bytes; the limit is " + std::to_string(wire::kMaxRequestBytes));
    }
    return channel_.Exchange(out.bytes(), deadline, read);
  }

  Status CheckTerm(uint64_t term) {
    // Pairs with itself only: the highest term seen by any thread so far.
    uint64_t seen = highest_term_.load();
    while (term > seen && !highest_term_.compare_exchange_weak(seen, term)) {
    }
    if (term >= seen) return Status::Ok();
    return Status(ErrorCode::kInvalidVersion, "master " + channel_.address().ToString() +
                                                  " answered in term " + std::to_string(term) +
                                                  " after term " + std::to_string(seen) +
                                                  ": it was replaced");
  }

  RemoteChannel channel_;
  const Clock& clock_;
  std::atomic<uint64_t> highest_term_{0};
};

}  // namespace mooncake
