// Arbitrary bytes to the master's door, as a request, and to a client's, as a reply: no crash, no large allocation.
// The first byte chooses the door; even: request.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include <thrift/Thrift.h>

#include "master/api/gen-cpp/MasterRpc.h"
#include "master/api/wire.h"
#include "master/api/wire_lookup.h"
#include "master/api/wire_protocol.h"
#include "master/server/thrift_handler.h"
#include "tests/support/null_master.h"
#include "transfer/base/byte_span.h"
#include "transfer/base/clock.h"

namespace mooncake {
namespace {

using thriftgen::MasterRpcClient;

void AsRequest(ByteSpan bytes) {
  static testing::NullMaster master;
  static thriftgen::MasterRpcProcessor processor(std::make_shared<ThriftHandler>(
      master, [] { return Term{1}; }, SystemClock()));
  wire::LookupRequest lookup;
  if (wire::ReadLookup(bytes, lookup)) {
    wire::OutFrame answer;
    ThriftHandler(
        master, [] { return Term{1}; }, SystemClock())
        .Lookup(lookup, answer);
  }
  wire::InFrame in(bytes);
  wire::OutFrame out;
  processor.process(in.protocol(), out.protocol(), nullptr);
}

// Decodes what `Call` would have been answered; the status is of no interest.
template <typename Reply, typename Receive>
Reply Received(ByteSpan bytes, Receive receive) {
  wire::InFrame in(bytes);
  MasterRpcClient client(in.protocol(), in.protocol());
  Reply reply;
  (client.*receive)(reply);
  return reply;
}

constexpr char kWhy[] = "only crashes count";

// What the master tells of itself.
void AsReport(int which, ByteSpan bytes) {
  switch (which) {
    case 6:
      wire::Decode(
          Received<thriftgen::GetStatusReply>(bytes, &MasterRpcClient::recv_GetStatus).value)
          .Ignore(kWhy);
      return;
    case 7: {
      auto reply =
          Received<thriftgen::ListSnapshotsReply>(bytes, &MasterRpcClient::recv_ListSnapshots);
      for (auto& snapshot : reply.snapshots) wire::Decode(std::move(snapshot)).Ignore(kWhy);
      return;
    }
    case 8:
      wire::Decode(
          Received<thriftgen::VerifySnapshotReply>(bytes, &MasterRpcClient::recv_VerifySnapshot))
          .Ignore(kWhy);
      return;
    case 9:
      wire::Decode(Received<thriftgen::ListQuotasReply>(bytes, &MasterRpcClient::recv_ListQuotas))
          .Ignore(kWhy);
      return;
    case 11:
      wire::Decode(
          Received<thriftgen::GetActivityReply>(bytes, &MasterRpcClient::recv_GetActivity).value)
          .Ignore(kWhy);
      return;
    case 12:
      wire::Decode(Received<thriftgen::GetConfigReply>(bytes, &MasterRpcClient::recv_GetConfig))
          .Ignore(kWhy);
      return;
    default:
      wire::Decode(
          Received<thriftgen::GetDurabilityReply>(bytes, &MasterRpcClient::recv_GetDurability)
              .value)
          .Ignore(kWhy);
      return;
  }
}

void AsReply(uint8_t which, ByteSpan bytes) {
  switch (which % 13) {
    case 0: {
      auto reply =
          Received<thriftgen::BatchPutStartReply>(bytes, &MasterRpcClient::recv_BatchPutStart);
      for (auto& result : reply.results) wire::Decode(std::move(result)).Ignore(kWhy);
      return;
    }
    case 1: {
      wire::LookupReply lookup;
      for (size_t entries = 0; entries < 4; ++entries)
        (void)wire::ReadLookupReply(bytes, entries, lookup);
      auto reply = Received<thriftgen::BatchGetReplicaListReply>(
          bytes, &MasterRpcClient::recv_BatchGetReplicaList);
      for (auto& result : reply.results) wire::Decode(std::move(result.value)).Ignore(kWhy);
      return;
    }
    case 2:
      wire::Decode(Received<thriftgen::ListObjectsReply>(bytes, &MasterRpcClient::recv_ListObjects))
          .Ignore(kWhy);
      return;
    case 3: {
      auto reply = Received<thriftgen::GetSegmentsReply>(bytes, &MasterRpcClient::recv_GetSegments);
      for (auto& segment : reply.segments) wire::Decode(std::move(segment)).Ignore(kWhy);
      return;
    }
    case 4:
      wire::Decode(Received<thriftgen::PingReply>(bytes, &MasterRpcClient::recv_Ping)).Ignore(kWhy);
      return;
    case 5:
      wire::Decode(
          Received<thriftgen::RemoveByRegexReply>(bytes, &MasterRpcClient::recv_RemoveByRegex))
          .Ignore(kWhy);
      return;
    default:
      AsReport(which % 13, bytes);
      return;
  }
}

}  // namespace
}  // namespace mooncake

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool quiet = [] {
    apache::thrift::GlobalOutput.setOutputFunction([](const char*) {});
    return true;
  }();
  (void)quiet;
  if (size == 0) return 0;
  const mooncake::ByteSpan bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  try {
    if (data[0] % 2 == 0) {
      mooncake::AsRequest(bytes);
    } else {
      mooncake::AsReply(data[0] / 2, bytes);
    }
  } catch (const std::exception&) {
    // Refused: that is the right answer to most inputs.
  }
  return 0;
}
