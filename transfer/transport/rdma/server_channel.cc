#include "transfer/transport/rdma/server_channel.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace mooncake::rdma {
namespace {

constexpr int64_t kMaxFenceMs = 10'000;

}  // namespace

ServerChannel::ServerChannel(std::shared_ptr<void> ground, std::unique_ptr<QueuePair> queue,
                             UniqueFd wake, ServerContext& context)
    : ground_(std::move(ground)),
      queue_(std::move(queue)),
      wake_(std::move(wake)),
      context_(context),
      idle_since_(context.clock.Now().time_since_epoch().count()) {
  queue_->WatchFd(wake_.get());
}

void ServerChannel::Cut() {
  cut_.store(true, std::memory_order_relaxed);
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof(one));
}

void ServerChannel::Run() {
  while (ServeOne()) {
  }
  // The queue pair first: what its client still sends must not land once the gate believes the write to have ended.
  queue_->Close();
  if (!accesses_.empty()) context_.counters.writes_cut.fetch_add(1, std::memory_order_relaxed);
  accesses_.clear();
}

bool ServerChannel::ServeOne() {
  const Clock& clock = context_.clock;
  // While a write is under way its end is awaited, and no longer than it may take.
  const Result<ByteSpan> bytes = queue_->ReceiveMessage(write_deadline_);
  if (!bytes.ok() || cut_.load(std::memory_order_relaxed)) return false;
  idle_since_.store(kNever.time_since_epoch().count(), std::memory_order_relaxed);
  const Result<Request> request = DecodeRequest(*bytes);
  if (!request.ok()) {
    context_.counters.bad_messages.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  context_.counters.requests.fetch_add(1, std::memory_order_relaxed);
  Reply reply{.op = request->op, .id = request->id};
  if (!Answer(*request, reply)) return false;
  if (!queue_->SendMessage(Encode(reply), clock.Now() + context_.send_timeout).ok()) return false;
  if (accesses_.empty()) {
    idle_since_.store(clock.Now().time_since_epoch().count(), std::memory_order_relaxed);
  }
  return true;
}

bool ServerChannel::Answer(const Request& request, Reply& reply) {
  if (request.op == Op::kEndWrite) return EndWrite(reply);
  if (!accesses_.empty()) {  // it would delay the end of the write, which others may wait for
    context_.counters.bad_messages.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const Entry* entry = request.entries.empty() ? nullptr : &request.entries.front();
  switch (request.op) {
    case Op::kHello:
      reply.host_id = context_.host_id;
      reply.endpoint = context_.endpoint;
      reply.codes = {ErrorCode::kOk};
      return true;
    case Op::kKeys: {
      Result<SegmentKeys> keys =
          context_.exports.KeysFor(queue_->device(), entry->segment, entry->epoch);
      reply.codes = {keys.code()};
      if (keys.ok()) reply.keys = std::move(keys).value();
      return true;
    }
    case Op::kBeginWrite:
      return BeginWrite(request, reply);
    case Op::kEndWrite:
      return false;  // not reached
    case Op::kFence:
      reply.codes = {Fence(*entry)};
      return true;
    case Op::kSupersede:
      reply.codes = {
          context_.segments
              .Supersede(entry->segment, entry->epoch, entry->offset, entry->grant.put_id)
              .code()};
      return true;
  }
  return false;
}

bool ServerChannel::BeginWrite(const Request& request, Reply& reply) {
  const std::shared_ptr<CutTarget> self = shared_from_this();
  for (const Entry& entry : request.entries) {
    Result<ServedAccess> access = context_.segments.BeginWrite(
        {entry.segment, entry.epoch, entry.offset, entry.length}, entry.grant, self);
    reply.codes.push_back(access.code());
    if (!access.ok()) continue;
    write_deadline_ = std::min(write_deadline_, access->deadline());
    accesses_.push_back(std::move(access).value());
  }
  return true;
}

bool ServerChannel::EndWrite(Reply& reply) {
  // The client's writes were before this message on the queue pair, so they have landed. Too late, if this process was frozen: then
  // nobody is told that they did, and the queue pair goes before the accesses do.
  if (context_.clock.Now() >= write_deadline_) return false;
  accesses_.clear();
  write_deadline_ = kNever;
  reply.codes = {ErrorCode::kOk};
  return true;
}

ErrorCode ServerChannel::Fence(const Entry& entry) {
  const auto wait_ms = static_cast<int64_t>(std::min<uint64_t>(entry.length, kMaxFenceMs));
  const Status fenced =
      context_.segments.Fence(entry.grant.put_id, context_.clock.Now() + Millis(wait_ms));
  if (fenced.ok() && !context_.segments.Has(entry.segment)) return ErrorCode::kSegmentNotFound;
  return fenced.code();
}

}  // namespace mooncake::rdma
