#include "transfer/transport/tcp/server_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace mooncake::tcp {
namespace {

constexpr size_t kScratchBytes = 64 << 10;
constexpr int64_t kMaxFenceMs = 10'000;

std::span<std::byte, kHeaderBytes> HeaderPart(std::vector<std::byte>& bytes) {
  return std::span<std::byte, kHeaderBytes>(bytes.data(), kHeaderBytes);
}

ServedSegments::Range RangeOf(const Entry& entry) {
  return {.segment = entry.segment,
          .epoch = entry.epoch,
          .offset = entry.offset,
          .length = entry.length};
}

}  // namespace

ServerStream::ServerStream(UniqueFd fd, bool local, ServerContext& context)
    : fd_(std::move(fd)),
      local_(local),
      context_(context),
      idle_since_(context.clock.Now().time_since_epoch().count()),
      head_(kHeaderBytes + kMaxEntries * kEntryBytes) {}

void ServerStream::Cut() {
  cut_.store(true, std::memory_order_relaxed);
  (void)::shutdown(fd_.get(), SHUT_RDWR);
}

void ServerStream::Run() {
  bool first = true;
  while (ServeOne(first)) {
    first = false;
    accesses_.clear();
  }
  accesses_.clear();
  Cut();  // the descriptor lives on while somebody holds us as his target
  if (!session_.IsNil()) context_.sessions.Leave(session_, this);
}

bool ServerStream::ServeOne(bool first) {
  const Clock& clock = context_.clock;
  if (first) {
    if (!WaitFor(fd_.get(), POLLIN, clock, clock.Now() + context_.hello_timeout)) return false;
  } else {
    WaitForever(fd_.get(), POLLIN);
  }
  idle_since_.store(kNever.time_since_epoch().count(), std::memory_order_relaxed);
  FrameHeader header;
  if (!ReceiveRequest(header, clock.Now() + context_.frame_timeout)) return false;
  if (first && header.op != Op::kHello) {
    context_.counters.bad_frames.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  context_.counters.requests.fetch_add(1, std::memory_order_relaxed);
  if (!Dispatch(header)) return false;
  idle_since_.store(clock.Now().time_since_epoch().count(), std::memory_order_relaxed);
  return true;
}

bool ServerStream::ReceiveRequest(FrameHeader& header, TimePoint deadline) {
  // Every request has an entry: both in one call, and not a byte more, since the next may be segment data.
  IoVector io;
  io.Add(MutableByteSpan(head_).first(kHeaderBytes + kEntryBytes));
  if (!ReceiveAll(fd_.get(), io, context_.clock, deadline).ok()) return false;
  const Result<FrameHeader> decoded = DecodeHeader(HeaderPart(head_));
  if (!decoded.ok()) {
    context_.counters.bad_frames.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  header = *decoded;
  if (header.count > 1) {
    io.Clear();
    io.Add(MutableByteSpan(head_).subspan(kHeaderBytes + kEntryBytes,
                                          (header.count - 1) * kEntryBytes));
    if (!ReceiveAll(fd_.get(), io, context_.clock, deadline).ok()) return false;
  }
  entries_.clear();
  for (size_t i = 0; i < header.count; ++i) {
    entries_.push_back(DecodeEntry(std::span<const std::byte, kEntryBytes>(
        head_.data() + kHeaderBytes + i * kEntryBytes, kEntryBytes)));
  }
  codes_.assign(header.count, ErrorCode::kOk);
  if (CheckRequest(header, entries_).ok()) return true;
  context_.counters.bad_frames.fetch_add(1, std::memory_order_relaxed);
  return false;
}

bool ServerStream::Dispatch(const FrameHeader& header) {
  const Entry& entry = entries_.front();
  switch (header.op) {
    case Op::kHello:
      return ServeHello(header);
    case Op::kRead:
      return ServeRead(header);
    case Op::kWrite:
      return ServeWrite(header);
    case Op::kFence:
      return ServeFence(header);
    case Op::kSupersede:
      return SendCode(
          header,
          context_.segments.Supersede(entry.segment, entry.epoch, entry.offset, entry.grant.put_id)
              .code());
    case Op::kMap:
      return ServeMap(header);
  }
  return false;
}

bool ServerStream::ServeHello(const FrameHeader& header) {
  const SessionId session = entries_.front().segment;
  if (!session_.IsNil() && session != session_) return false;
  const Status entered = context_.sessions.Enter(session, shared_from_this(),
                                                 context_.clock.Now() + context_.takeover_timeout);
  if (!entered.ok()) {
    (void)SendCode(header, entered.code());
    return false;
  }
  session_ = session;
  const std::vector<std::byte> identity = EncodeIdentity(context_.identity);
  BuildReplyHead(header, identity.size());
  IoVector io;
  io.Add(ByteSpan(head_).first(kHeaderBytes + kReplyStatusBytes));
  io.Add(ByteSpan(identity));
  return SendAll(fd_.get(), io, context_.clock, context_.clock.Now() + context_.send_timeout).ok();
}

bool ServerStream::ServeRead(const FrameHeader& header) {
  const std::shared_ptr<CutTarget> self = shared_from_this();
  IoVector io;
  io.Add(ByteSpan(head_).first(kHeaderBytes + header.count * kReplyStatusBytes));  // filled below
  uint64_t payload = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Result<ServedAccess> access = context_.segments.BeginRead(RangeOf(entries_[i]), self);
    codes_[i] = access.code();
    if (!access.ok()) continue;
    payload += entries_[i].length;
    io.Add(ByteSpan(access->memory()));
    accesses_.push_back(std::move(access).value());
  }
  BuildReplyHead(header, payload);
  context_.counters.bytes_read.fetch_add(payload, std::memory_order_relaxed);
  return SendAll(fd_.get(), io, context_.clock, context_.clock.Now() + context_.send_timeout).ok();
}

bool ServerStream::ServeWrite(const FrameHeader& header) {
  const std::shared_ptr<CutTarget> self = shared_from_this();
  IoVector io;
  TimePoint deadline = context_.clock.Now() + kMaxWriteDuration;
  uint64_t admitted = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Result<ServedAccess> access =
        context_.segments.BeginWrite(RangeOf(entries_[i]), entries_[i].grant, self);
    codes_[i] = access.code();
    if (access.ok()) {
      deadline = std::min(deadline, access->deadline());
      admitted += entries_[i].length;
      io.Add(access->memory());
      accesses_.push_back(std::move(access).value());
      continue;
    }
    scratch_.resize(kScratchBytes);
    for (uint64_t left = entries_[i].length; left > 0;) {
      const uint64_t step = std::min<uint64_t>(left, kScratchBytes);
      io.Add(MutableByteSpan(scratch_).first(step));
      left -= step;
    }
  }
  if (!ReceiveAll(fd_.get(), io, context_.clock, deadline, &cut_).ok()) return false;
  accesses_.clear();  // before the reply: who has it may fence, and must not wait for our send
  context_.counters.bytes_written.fetch_add(admitted, std::memory_order_relaxed);
  BuildReplyHead(header, 0);
  io.Clear();
  io.Add(ByteSpan(head_).first(kHeaderBytes + header.count * kReplyStatusBytes));
  return SendAll(fd_.get(), io, context_.clock, context_.clock.Now() + context_.send_timeout).ok();
}

bool ServerStream::ServeFence(const FrameHeader& header) {
  const Entry& entry = entries_.front();
  const auto wait_ms = static_cast<int64_t>(std::min<uint64_t>(entry.length, kMaxFenceMs));
  const Status fenced =
      context_.segments.Fence(entry.grant.put_id, context_.clock.Now() + Millis(wait_ms));
  if (fenced.ok() && !context_.segments.Has(entry.segment))
    return SendCode(header, ErrorCode::kSegmentNotFound);
  return SendCode(header, fenced.code());
}

bool ServerStream::ServeMap(const FrameHeader& header) {
  if (!local_) return SendCode(header, ErrorCode::kNotSupported);
  const Result<ServedSegments::Region> region =
      context_.segments.OpenRegion(entries_.front().segment);
  if (!region.ok()) return SendCode(header, region.code());
  // The node's own descriptor can write; what a client gets cannot.
  const std::string path = "/proc/self/fd/" + std::to_string(region->fd);
  const UniqueFd readable(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!readable.valid()) return SendCode(header, ErrorCode::kNotSupported);
  BuildReplyHead(header, kRegionReplyBytes);
  std::array<std::byte, kHeaderBytes + kReplyStatusBytes + kRegionReplyBytes> reply;
  std::copy_n(head_.begin(), kHeaderBytes + kReplyStatusBytes, reply.begin());
  EncodeRegionReply({region->bytes}, std::span(reply).last<kRegionReplyBytes>());
  return SendWithFd(fd_.get(), reply, readable.get(), context_.clock,
                    context_.clock.Now() + context_.send_timeout)
      .ok();
}

bool ServerStream::SendCode(const FrameHeader& request, ErrorCode code) {
  codes_.assign(1, code);
  BuildReplyHead(request, 0);
  IoVector io;
  io.Add(ByteSpan(head_).first(kHeaderBytes + kReplyStatusBytes));
  return SendAll(fd_.get(), io, context_.clock, context_.clock.Now() + context_.send_timeout).ok();
}

void ServerStream::BuildReplyHead(const FrameHeader& request, uint64_t payload) {
  EncodeHeader({.op = request.op,
                .reply = true,
                .count = static_cast<uint16_t>(codes_.size()),
                .request_id = request.request_id,
                .payload = payload},
               HeaderPart(head_));
  for (size_t i = 0; i < codes_.size(); ++i) {
    EncodeReplyStatus(codes_[i],
                      std::span<std::byte, kReplyStatusBytes>(
                          head_.data() + kHeaderBytes + i * kReplyStatusBytes, kReplyStatusBytes));
  }
}

}  // namespace mooncake::tcp
