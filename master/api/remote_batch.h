// How the remote master cuts batches into requests and puts the answers together. Private to remote_master.cc and remote_call.h.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "master/api/types.h"
#include "master/api/wire.h"

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
inline size_t EncodedBytes(const SetPinArgs& args) { return EncodedBytes(args.name); }
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

}  // namespace mooncake
