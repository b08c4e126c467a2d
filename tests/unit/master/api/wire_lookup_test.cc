// The call written by hand against generated code: the same bytes out, the same values in, and nothing taken that generated code
// would refuse.
#include "master/api/wire_lookup.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "master/api/gen-cpp/MasterRpc.h"
#include "master/api/wire.h"
#include "tests/unit/master/api/wire_samples.h"
#include "transfer/base/byte_span.h"

namespace mooncake {
namespace {

using testing::Samples;
using Client = thriftgen::MasterRpcClient;

constexpr uint64_t kLookupSeed = 20261203;
constexpr int kLookupRounds = 300;

std::string Payload(wire::OutFrame& out) {
  return std::string(AsText(ByteSpan(out.bytes()).subspan(wire::kLengthBytes)));
}

std::vector<ObjectName> SomeNames(Samples& samples) {
  std::vector<ObjectName> names(samples.Number(5));
  for (ObjectName& name : names) name = samples.Name();
  return names;
}

wire::LookupReply SomeReply(Samples& samples) {
  wire::LookupReply reply;
  reply.term = Term{samples.Number(UINT64_MAX)};
  if (samples.Number(8) == 1) {
    reply.status = Status(ErrorCode::kRpcTimeout, samples.Text());
    return reply;
  }
  for (uint64_t left = samples.Number(5); left > 0; --left) {
    if (samples.Coin()) {
      reply.lists.emplace_back(samples.List());
    } else {
      reply.lists.emplace_back(ErrorCode::kObjectNotFound, samples.Text());
    }
  }
  return reply;
}

std::string RequestByThrift(int32_t timeout_ms, std::span<const ObjectName> names) {
  thriftgen::NamesRequest request;
  request.timeout_ms = timeout_ms;
  request.names = wire::EncodeAll<thriftgen::ObjectName>(names);
  wire::OutFrame out;
  Client(out.protocol(), out.protocol()).send_BatchGetReplicaList(request);
  return Payload(out);
}
std::string RequestByHand(int32_t timeout_ms, std::span<const ObjectName> names) {
  wire::OutFrame out;
  wire::WriteLookup(out, timeout_ms, names);
  return Payload(out);
}

std::string ReplyByThrift(const wire::LookupReply& reply, int32_t sequence) {
  thriftgen::BatchGetReplicaListReply value;
  value.status = wire::Encode(reply.status);
  value.term = static_cast<int64_t>(reply.term.value);
  for (const Result<ReplicaList>& list : reply.lists) {
    thriftgen::ReplicaListResult& result = value.results.emplace_back();
    result.status = wire::Encode(list.status());
    if (list.ok()) result.__set_value(wire::Encode(*list));
  }
  thriftgen::MasterRpc_BatchGetReplicaList_result result;
  result.success = value;
  result.__isset.success = true;
  wire::OutFrame out;
  out.protocol()->writeMessageBegin("BatchGetReplicaList", apache::thrift::protocol::T_REPLY,
                                    sequence);
  result.write(out.protocol().get());
  out.protocol()->writeMessageEnd();
  return Payload(out);
}
std::string ReplyByHand(const wire::LookupReply& reply, uint32_t sequence) {
  wire::OutFrame out;
  wire::WriteLookupReply(out, sequence, reply);
  return Payload(out);
}

// What generated code and wire.h make of a request; nothing if they refuse any of it.
std::optional<wire::LookupRequest> ReadByThrift(const std::string& bytes) {
  wire::InFrame in(AsBytes(bytes));
  wire::LookupRequest out;
  try {
    std::string name;
    apache::thrift::protocol::TMessageType type{};
    int32_t sequence = 0;
    in.protocol()->readMessageBegin(name, type, sequence);
    thriftgen::MasterRpc_BatchGetReplicaList_args args;
    args.read(in.protocol().get());
    out.sequence = static_cast<uint32_t>(sequence);
    out.timeout_ms = args.request.timeout_ms;
    for (thriftgen::ObjectName& entry : args.request.names) {
      auto decoded = wire::Decode(std::move(entry));
      if (!decoded.ok()) return std::nullopt;
      out.names.push_back(std::move(decoded).value());
    }
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return out;
}

std::optional<wire::LookupReply> ReadReplyByThrift(const std::string& bytes) {
  wire::InFrame in(AsBytes(bytes));
  wire::LookupReply out;
  try {
    thriftgen::BatchGetReplicaListReply reply;
    Client(in.protocol(), in.protocol()).recv_BatchGetReplicaList(reply);
    out.status = wire::Decode(std::move(reply.status));
    out.term = Term{static_cast<uint64_t>(reply.term)};
    for (thriftgen::ReplicaListResult& result : reply.results) {
      Status status = wire::Decode(std::move(result.status));
      if (status.ok()) {
        auto list = wire::Decode(std::move(result.value));
        if (!list.ok()) return std::nullopt;
        out.lists.push_back(std::move(list));
      } else {
        out.lists.emplace_back(std::move(status));
      }
    }
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return out;
}

void ExpectSame(const wire::LookupReply& a, const wire::LookupReply& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.term, b.term);
  ASSERT_EQ(a.lists.size(), b.lists.size());
  for (size_t i = 0; i < a.lists.size(); ++i) {
    EXPECT_EQ(a.lists[i].status(), b.lists[i].status());
    if (!a.lists[i].ok() || !b.lists[i].ok()) continue;
    const ReplicaList& x = *a.lists[i];
    const ReplicaList& y = *b.lists[i];
    EXPECT_TRUE(x.put_id == y.put_id && x.size == y.size && x.replicas == y.replicas &&
                x.lease == y.lease && x.attributes == y.attributes && x.created_ms == y.created_ms);
  }
}

// Changes a byte or two, or cuts the end off.
std::string Damaged(std::string bytes, Samples& samples) {
  if (samples.Number(8) == 1) return bytes.substr(0, samples.Number(bytes.size()));
  for (uint64_t left = 1 + samples.Number(1); left > 0; --left) {
    bytes[samples.Number(bytes.size() - 1)] = static_cast<char>(samples.Number(255));
  }
  return bytes;
}

TEST(WireLookup, WritesTheBytesOfGeneratedCode) {
  Samples samples(kLookupSeed);
  for (int i = 0; i < kLookupRounds; ++i) {
    const std::vector<ObjectName> names = SomeNames(samples);
    ASSERT_EQ(RequestByHand(i, names), RequestByThrift(i, names)) << "round " << i;
    const wire::LookupReply reply = SomeReply(samples);
    ASSERT_EQ(ReplyByHand(reply, 77), ReplyByThrift(reply, 77)) << "round " << i;
  }
}

TEST(WireLookup, ReadsWhatItsWritersWrite) {
  Samples samples(kLookupSeed + 1);
  wire::LookupRequest request;  // used again and again, as a connection does
  for (int i = 0; i < kLookupRounds; ++i) {
    const std::vector<ObjectName> names = SomeNames(samples);
    ASSERT_TRUE(wire::ReadLookup(AsBytes(RequestByHand(i, names)), request)) << "round " << i;
    EXPECT_EQ(request.timeout_ms, i);
    EXPECT_EQ(request.names, names);

    wire::LookupReply sent = SomeReply(samples);
    for (auto& list : sent.lists) {  // longer messages are cut on the way
      if (!list.ok()) list = Status(list.code(), list.message().substr(0, wire::kMaxMessageBytes));
    }
    sent.status =
        Status(sent.status.code(), sent.status.message().substr(0, wire::kMaxMessageBytes));
    wire::LookupReply got;
    ASSERT_TRUE(wire::ReadLookupReply(AsBytes(ReplyByHand(sent, 0)), sent.lists.size(), got))
        << "round " << i;
    ExpectSame(got, sent);
  }
}

TEST(WireLookup, TakesNothingThatGeneratedCodeRefusesOrReadsOtherwise) {
  Samples samples(kLookupSeed + 2);
  int taken = 0;
  for (int i = 0; i < 10 * kLookupRounds; ++i) {
    const std::vector<ObjectName> names = SomeNames(samples);
    const std::string request_bytes = Damaged(RequestByHand(i, names), samples);
    wire::LookupRequest request;
    if (wire::ReadLookup(AsBytes(request_bytes), request)) {
      ++taken;
      const auto other = ReadByThrift(request_bytes);
      ASSERT_TRUE(other.has_value()) << "round " << i << " seed " << kLookupSeed + 2;
      EXPECT_EQ(request.sequence, other->sequence);
      EXPECT_EQ(request.timeout_ms, other->timeout_ms);
      EXPECT_EQ(request.names, other->names);
    }
    const wire::LookupReply sent = SomeReply(samples);
    const std::string reply_bytes = Damaged(ReplyByHand(sent, 0), samples);
    wire::LookupReply reply;
    if (wire::ReadLookupReply(AsBytes(reply_bytes), sent.lists.size(), reply)) {
      ++taken;
      const auto other = ReadReplyByThrift(reply_bytes);
      ASSERT_TRUE(other.has_value()) << "round " << i << " seed " << kLookupSeed + 2;
      ExpectSame(reply, *other);
    }
  }
  EXPECT_GT(taken, 100);  // else the damage was too great to show anything
}

TEST(WireLookup, LeavesOtherCallsAndOtherCountsToGeneratedCode) {
  wire::OutFrame ping;
  Client(ping.protocol(), ping.protocol()).send_Ping({});
  wire::LookupRequest request;
  EXPECT_FALSE(wire::ReadLookup(AsBytes(Payload(ping)), request));
  EXPECT_FALSE(wire::ReadLookup({}, request));

  wire::LookupReply reply;
  reply.lists.emplace_back(ReplicaList{});
  const std::string bytes = ReplyByHand(reply, 0);
  EXPECT_TRUE(wire::ReadLookupReply(AsBytes(bytes), 1, reply));
  EXPECT_FALSE(wire::ReadLookupReply(AsBytes(bytes), 2, reply));
}

TEST(WireLookup, TakesNoMemoryForEntriesThatAreNotThere) {
  std::string bytes = RequestByHand(1, std::vector<ObjectName>(1, {.key = "k"}));
  const size_t count = bytes.find(std::string("\x0c\0\0\0\x01", 5));  // a list of one structure
  ASSERT_NE(count, std::string::npos);
  bytes[count + 3] = '\x30';  // 12289
  wire::LookupRequest request;
  EXPECT_FALSE(wire::ReadLookup(AsBytes(bytes), request));
  EXPECT_TRUE(request.names.empty());
  EXPECT_EQ(request.names.capacity(), 0u);
}

}  // namespace
}  // namespace mooncake
