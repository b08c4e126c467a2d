// How the remote master makes one call, and how it cuts batches into requests. Private to remote_master.cc.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "master/api/gen-cpp/MasterRpc.h"
#include "master/api/remote_channel.h"
#include "master/api/wire.h"
#include "master/api/wire_lookup.h"
#include "master/api/wire_protocol.h"

namespace mooncake {

// Encoded bytes that a batch may put into one request; far below the limit of a frame, so that no batch of allowed entries is too
// long, and short enough that others get their turn between two parts.
constexpr size_t kChunkBytes = size_t{8} << 20;
constexpr size_t kEntryOverhead = 256;

inline size_t EncodedBytes(const ObjectName& name) {
  return name.key.size() + name.tenant.size() + kEntryOverhead;
}
inline size_t EncodedBytes(const PutStartArgs& args) {
  size_t bytes = EncodedBytes(args.name) + args.config.group.size() + args.config.host_id.size();
  for (const std::string& s : args.config.preferred_segments) bytes += s.size() + 4;
  for (const std::string& s : args.config.excluded_segments) bytes += s.size() + 4;
  return bytes;
}
inline size_t EncodedBytes(const PutEndArgs& args) { return EncodedBytes(args.name); }
inline size_t EncodedBytes(const PutRevokeArgs& args) { return EncodedBytes(args.name); }
inline size_t EncodedBytes(const LeaseRef& lease) { return EncodedBytes(lease.name); }

// Splits `args` by size and puts the answers together. `call(chunk)` gives one answer per entry, or the
// status of the whole, which each entry then carries.
template <typename Out, typename Args, typename Call>
std::vector<Out> InChunks(std::span<const Args> args, Call&& call) {
  if (const Status count = wire::CheckCount("entries", args.size(), kMaxBatch); !count.ok()) {
    return std::vector<Out>(args.size(), Out(count));
  }
  std::vector<Out> out;
  out.reserve(args.size());
  while (!args.empty()) {
    size_t count = 0;
    for (size_t bytes = 0; count < args.size(); ++count) {
      bytes += EncodedBytes(args[count]);
      if (count > 0 && bytes > kChunkBytes) break;
    }
    Result<std::vector<Out>> answers = call(args.first(count));
    if (answers.ok()) {
      for (Out& answer : *answers) out.push_back(std::move(answer));
    } else {
      out.insert(out.end(), count, Out(answers.status()));
    }
    args = args.subspan(count);
  }
  return out;
}

// A value that does not decode is the master's fault, not the caller's.
template <typename T>
Result<T> OrGarbage(Result<T> value) {
  if (value.ok()) return value;
  return Status(ErrorCode::kRpcFail, "the master's answer is malformed: " + value.message());
}

inline Status CheckAnswerCount(size_t answers, size_t entries) {
  if (answers == entries) return Status::Ok();
  return Status(ErrorCode::kRpcFail, "the master gave " + std::to_string(answers) + " answers to " +
                                         std::to_string(entries) + " entries");
}

// The answers of one request. `decode(answer)` is asked only when the entry's status is OK.
template <typename Out, typename Answer, typename DecodeOne>
Result<std::vector<Out>> Answers(std::vector<Answer>& answers, size_t entries, DecodeOne&& decode) {
  RETURN_IF_ERROR(CheckAnswerCount(answers.size(), entries));
  std::vector<Out> out;
  out.reserve(entries);
  for (Answer& answer : answers) {
    Status status = wire::Decode(std::move(answer.status));
    if (status.ok()) {
      out.push_back(decode(std::move(answer)));
    } else {
      out.emplace_back(std::move(status));
    }
  }
  return out;
}

// All of a list, or kRpcFail.
template <typename T, typename Wire>
Result<std::vector<T>> DecodeAll(std::vector<Wire>&& in) {
  std::vector<T> out;
  out.reserve(in.size());
  for (Wire& entry : in) {
    ASSIGN_OR_RETURN(T value, OrGarbage(wire::Decode(std::move(entry))));
    out.push_back(std::move(value));
  }
  return out;
}

// Thread-safe.
class RemoteCaller {
 public:
  using Client = thriftgen::MasterRpcClient;

  RemoteCaller(HostPort address, size_t max_idle, const Clock& clock)
      : channel_(std::move(address), max_idle, clock), clock_(clock) {}

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
