#include "transfer/transport/tcp/batch_run.h"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mooncake::tcp {
namespace {

// The local buffers behind [offset, offset + length) of a slice.
void AddChunk(IoVector& io, const Slice& slice, const Chunk& chunk) {
  uint64_t skip = chunk.offset;
  uint64_t left = chunk.length;
  for (const MutableByteSpan& buffer : slice.buffers) {
    const uint64_t jump = std::min<uint64_t>(skip, buffer.size());
    const uint64_t step = std::min<uint64_t>(left, buffer.size() - jump);
    io.Add(buffer.subspan(jump, step));
    skip -= jump;
    left -= step;
  }
}

Status Broken(const std::string& peer, const std::string& what) {
  return Status(ErrorCode::kTransferFail, peer + ": " + what);
}

}  // namespace

BatchRun::BatchRun(const Stream& stream, std::span<Slice> slices, std::vector<PlannedFrame> frames,
                   uint64_t& next_request_id)
    : stream_(stream),
      slices_(slices),
      frames_(std::move(frames)),
      first_id_(next_request_id),
      parts_left_(slices.size(), 0) {
  next_request_id += frames_.size();
  for (const PlannedFrame& frame : frames_) {
    for (const Chunk& chunk : frame.chunks) {
      ++parts_left_[chunk.slice];
      slices_[chunk.slice].status = Status::Ok();
    }
  }
}

Status BatchRun::Run(TimePoint deadline) {
  ExpectHead();
  while (finished_ < frames_.size()) {
    bool progress = false;
    if (stream_.clock.Now() < deadline) {
      // A peer that has been asked just now cannot have answered: straight to the wait, which saves a call.
      const bool first = finished_ == staged_;
      RETURN_IF_ERROR(SendStep(progress));
      if (!first) RETURN_IF_ERROR(ReceiveStep(progress));
      progress = progress && (!first || sending());
    }
    if (progress) continue;
    const auto events = static_cast<short>(POLLIN | (sending() ? POLLOUT : 0));
    if (!WaitFor(stream_.fd, events, stream_.clock, deadline)) {
      return Status(ErrorCode::kRpcTimeout,
                    stream_.peer + ": " + std::to_string(frames_.size() - finished_) + " of " +
                        std::to_string(frames_.size()) + " requests unanswered at the deadline");
    }
  }
  return Status::Ok();
}

void BatchRun::Stage() {
  const PlannedFrame& frame = frames_[staged_];
  const size_t head_bytes = kHeaderBytes + frame.chunks.size() * kEntryBytes;
  out_head_.resize(head_bytes);
  EncodeHeader({.op = frame.op,
                .reply = false,
                .count = static_cast<uint16_t>(frame.chunks.size()),
                .request_id = first_id_ + staged_,
                .payload = frame.op == Op::kWrite ? frame.bytes : 0},
               std::span<std::byte, kHeaderBytes>(out_head_.data(), kHeaderBytes));
  out_.Clear();
  out_.Add(ByteSpan(out_head_));
  std::byte* at = out_head_.data() + kHeaderBytes;
  for (const Chunk& chunk : frame.chunks) {
    const Slice& slice = slices_[chunk.slice];
    EncodeEntry({.segment = slice.segment,
                 .epoch = slice.epoch,
                 .offset = slice.offset + chunk.offset,
                 .length = chunk.length,
                 .grant = slice.grant},
                std::span<std::byte, kEntryBytes>(at, kEntryBytes));
    at += kEntryBytes;
    if (frame.op == Op::kWrite) AddChunk(out_, slice, chunk);
  }
  ++staged_;
}

Status BatchRun::SendStep(bool& progress) {
  if (!sending()) return Status::Ok();
  if (out_.empty()) Stage();
  const IoResult result = SendSome(stream_.fd, out_);
  if (result.outcome == IoOutcome::kClosed)
    return Broken(stream_.peer, std::string("send: ") + std::strerror(result.error));
  progress |= result.outcome == IoOutcome::kProgress;
  return Status::Ok();
}

void BatchRun::ExpectHead() {
  in_body_ = false;
  in_.Clear();
  if (finished_ == frames_.size()) return;
  const PlannedFrame& frame = frames_[finished_];
  in_head_.resize(kHeaderBytes + frame.chunks.size() * kReplyStatusBytes);
  head_left_ = in_head_.size();
  in_.Add(MutableByteSpan(in_head_));
  // One entry, and nothing can follow it: head and bytes come with one call. If it is refused, no bytes come at all.
  optimistic_ =
      frame.op == Op::kRead && frame.chunks.size() == 1 && finished_ + 1 == frames_.size();
  if (optimistic_) AddChunk(in_, slices_[frame.chunks.front().slice], frame.chunks.front());
}

Status BatchRun::ReceiveStep(bool& progress) {
  if (finished_ == staged_) return Status::Ok();  // nothing asked for yet
  const size_t before = in_.bytes();
  const IoResult result = ReceiveSome(stream_.fd, in_);
  if (result.outcome == IoOutcome::kClosed) {
    return Broken(stream_.peer, result.error == 0
                                    ? "closed the stream"
                                    : std::string("receive: ") + std::strerror(result.error));
  }
  progress |= result.outcome == IoOutcome::kProgress;
  return Advance(before - in_.bytes());
}

Status BatchRun::Advance(size_t received) {
  head_left_ -= std::min(head_left_, received);
  if (head_left_ == 0 && !in_body_) RETURN_IF_ERROR(OnHead());
  if (in_.empty()) OnFrameDone();
  return Status::Ok();
}

Status BatchRun::OnHead() {
  const PlannedFrame& frame = frames_[finished_];
  const Result<FrameHeader> header =
      DecodeHeader(std::span<const std::byte, kHeaderBytes>(in_head_.data(), kHeaderBytes));
  if (!header.ok()) return Broken(stream_.peer, header.message());
  in_body_ = true;
  if (!optimistic_) in_.Clear();
  uint64_t expected = 0;
  bool fits = header->reply && header->op == frame.op && header->count == frame.chunks.size() &&
              header->request_id == first_id_ + finished_;
  for (size_t i = 0; fits && i < frame.chunks.size(); ++i) {
    const std::byte* at = in_head_.data() + kHeaderBytes + i * kReplyStatusBytes;
    const ErrorCode code =
        DecodeReplyStatus(std::span<const std::byte, kReplyStatusBytes>(at, kReplyStatusBytes));
    if (code != ErrorCode::kOk) {
      Refuse(frame, i, code);
      if (optimistic_) in_.Clear();
    } else if (frame.op == Op::kRead) {
      expected += frame.chunks[i].length;
      if (!optimistic_) AddChunk(in_, slices_[frame.chunks[i].slice], frame.chunks[i]);
    }
  }
  if (fits && header->payload == expected) return Status::Ok();
  return Broken(stream_.peer, "the reply does not fit the request");
}

void BatchRun::OnFrameDone() {
  for (const Chunk& chunk : frames_[finished_].chunks) --parts_left_[chunk.slice];
  ++finished_;
  ExpectHead();
}

void BatchRun::Refuse(const PlannedFrame& frame, size_t entry, ErrorCode code) {
  const Chunk& chunk = frame.chunks[entry];
  Slice& slice = slices_[chunk.slice];
  if (!slice.status.ok()) return;  // the first refusal of a slice speaks for it
  slice.status =
      Status(code, stream_.peer + " refused to " + std::string(OpName(frame.op)) + " " +
                       std::to_string(chunk.length) + " bytes at " +
                       std::to_string(slice.offset + chunk.offset) + " of segment " +
                       slice.segment.ToString() + ", epoch " + std::to_string(slice.epoch.value));
}

}  // namespace mooncake::tcp
