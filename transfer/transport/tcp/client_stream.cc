#include "transfer/transport/tcp/client_stream.h"

#include <array>
#include <random>
#include <utility>

#include "transfer/base/units.h"
#include "transfer/transport/tcp/batch_plan.h"
#include "transfer/transport/tcp/batch_run.h"

namespace mooncake::tcp {

SessionId NewSession() {
  std::random_device device;
  const auto word = [&device] { return (static_cast<uint64_t>(device()) << 32) | device(); };
  return {word(), word() | 1};
}

ClientStream::ClientStream(UniqueFd fd, const DialTarget& target, const SessionId& session,
                           const Clock& clock)
    : fd_(std::move(fd)),
      target_(target),
      session_(session),
      clock_(clock),
      last_used_(clock.Now()) {}

Result<std::unique_ptr<ClientStream>> ClientStream::Dial(const DialTarget& target,
                                                         const SessionId& session,
                                                         const SocketOptions& options,
                                                         const Clock& clock, TimePoint deadline) {
  ASSIGN_OR_RETURN(UniqueFd fd, target.local
                                    ? ConnectUnix(target.address, options, clock, deadline)
                                    : ConnectTcp(target.address, options, clock, deadline));
  std::unique_ptr<ClientStream> stream(new ClientStream(std::move(fd), target, session, clock));
  RETURN_IF_ERROR(stream->Hello(deadline));
  return stream;
}

Status ClientStream::SendRequest(Op op, const Entry& entry, TimePoint deadline) {
  std::array<std::byte, kHeaderBytes + kEntryBytes> request;
  EncodeHeader({.op = op, .reply = false, .count = 1, .request_id = next_request_id_, .payload = 0},
               std::span(request).first<kHeaderBytes>());
  EncodeEntry(entry, std::span(request).last<kEntryBytes>());
  IoVector io;
  io.Add(ByteSpan(request));
  return Annotate(SendAll(fd_.get(), io, clock_, deadline), target_.address);
}

Status ClientStream::CheckReply(std::span<const std::byte, kHeaderBytes> bytes, Op op,
                                FrameHeader& header) const {
  const Result<FrameHeader> decoded = DecodeHeader(bytes);
  if (!decoded.ok())
    return Status(ErrorCode::kTransferFail, target_.address + ": " + decoded.message());
  header = *decoded;
  if (header.reply && header.op == op && header.count == 1 &&
      header.request_id == next_request_id_) {
    return Status::Ok();
  }
  return Status(ErrorCode::kTransferFail, target_.address + ": the reply does not fit the request");
}

Status ClientStream::Hello(TimePoint deadline) {
  Entry entry;
  entry.segment = session_;
  RETURN_IF_ERROR(SendRequest(Op::kHello, entry, deadline));
  std::array<std::byte, kHeaderBytes + kReplyStatusBytes> head;
  IoVector io;
  io.Add(MutableByteSpan(head));
  RETURN_IF_ERROR(Annotate(ReceiveAll(fd_.get(), io, clock_, deadline), target_.address));
  FrameHeader header;
  RETURN_IF_ERROR(CheckReply(std::span(head).first<kHeaderBytes>(), Op::kHello, header));
  const ErrorCode code = DecodeReplyStatus(std::span(head).last<kReplyStatusBytes>());
  if (code != ErrorCode::kOk || header.payload > 20 + 2 * kMaxIdentityBytes) {
    return Status(ErrorCode::kTransferFail,
                  target_.address + ": HELLO refused with " + std::string(ErrorCodeName(code)));
  }
  std::vector<std::byte> payload(header.payload);
  io.Clear();
  io.Add(MutableByteSpan(payload));
  RETURN_IF_ERROR(Annotate(ReceiveAll(fd_.get(), io, clock_, deadline), target_.address));
  const Result<Identity> identity = DecodeIdentity(payload);
  if (!identity.ok())
    return Status(ErrorCode::kTransferFail, target_.address + ": " + identity.message());
  ++next_request_id_;
  if (identity->host_id == target_.host_id && identity->endpoint == target_.endpoint)
    return Status::Ok();
  return Status(ErrorCode::kTransferFail,
                target_.address + ": expected node '" + EscapeForDisplay(target_.endpoint) +
                    "' of host '" + EscapeForDisplay(target_.host_id) + "', but '" +
                    EscapeForDisplay(identity->endpoint) + "' of host '" +
                    EscapeForDisplay(identity->host_id) + "' answers there");
}

Status ClientStream::Run(std::span<Slice> slices, std::vector<uint32_t>& which,
                         TimePoint deadline) {
  BatchRun run({.fd = fd_.get(), .clock = clock_, .peer = target_.address}, slices,
               PlanFrames(slices, which, PlanLimits{}), next_request_id_);
  const Status status = run.Run(deadline);
  std::erase_if(which, [&](uint32_t index) { return run.settled(index); });
  last_used_ = clock_.Now();
  return status;
}

Status ClientStream::Call(Op op, const Entry& entry, TimePoint deadline, ErrorCode& code) {
  RETURN_IF_ERROR(SendRequest(op, entry, deadline));
  std::array<std::byte, kHeaderBytes + kReplyStatusBytes> head;
  IoVector io;
  io.Add(MutableByteSpan(head));
  RETURN_IF_ERROR(Annotate(ReceiveAll(fd_.get(), io, clock_, deadline), target_.address));
  FrameHeader header;
  RETURN_IF_ERROR(CheckReply(std::span(head).first<kHeaderBytes>(), op, header));
  if (header.payload != 0)
    return Status(ErrorCode::kTransferFail, target_.address + ": payload nobody asked for");
  code = DecodeReplyStatus(std::span(head).last<kReplyStatusBytes>());
  ++next_request_id_;
  last_used_ = clock_.Now();
  return Status::Ok();
}

Status ClientStream::Map(const SegmentId& segment, TimePoint deadline, ErrorCode& code,
                         Region& region) {
  Entry entry;
  entry.segment = segment;
  RETURN_IF_ERROR(SendRequest(Op::kMap, entry, deadline));
  std::array<std::byte, kHeaderBytes + kReplyStatusBytes> head;
  RETURN_IF_ERROR(
      Annotate(ReceiveWithFd(fd_.get(), head, region.fd, clock_, deadline), target_.address));
  FrameHeader header;
  RETURN_IF_ERROR(CheckReply(std::span(head).first<kHeaderBytes>(), Op::kMap, header));
  code = DecodeReplyStatus(std::span(head).last<kReplyStatusBytes>());
  const uint64_t expected = code == ErrorCode::kOk ? kRegionReplyBytes : 0;
  if (header.payload != expected || region.fd.valid() != (code == ErrorCode::kOk)) {
    return Status(ErrorCode::kTransferFail, target_.address + ": the reply to MAP is not whole");
  }
  ++next_request_id_;
  if (code != ErrorCode::kOk) return Status::Ok();
  std::array<std::byte, kRegionReplyBytes> payload;
  IoVector io;
  io.Add(MutableByteSpan(payload));
  RETURN_IF_ERROR(Annotate(ReceiveAll(fd_.get(), io, clock_, deadline), target_.address));
  region.bytes = DecodeRegionReply(payload).bytes;
  last_used_ = clock_.Now();
  return Status::Ok();
}

bool ClientStream::Probe(TimePoint deadline) { return Hello(deadline).ok(); }

}  // namespace mooncake::tcp
