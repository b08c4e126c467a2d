#include "transfer/transport/rdma/channel.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "transfer/base/units.h"
#include "transfer/transport/rdma/batch_run.h"

namespace mooncake::rdma {
namespace {

// The device repeats an unanswered request after 4.096 us * 2^16 = 0.27 s, seven times: a peer that is gone without a word fails
// a transfer in about two seconds, or at its deadline.
constexpr uint8_t kAckTimeout = 16;

struct AddressDeleter {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

// Until its queue pair owns it.
struct IdDeleter {
  void operator()(rdma_cm_id* id) const { (void)::rdma_destroy_id(id); }
};

Status Failed(const std::string& what) {
  return Status(ErrorCode::kTransferFail, what + ": " + std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<Channel>> Channel::Dial(const PeerAddress& peer,
                                               const ChannelContext& context, TimePoint deadline) {
  context.counters.dials.fetch_add(1, std::memory_order_relaxed);
  std::unique_ptr<Channel> channel(new Channel(peer, context));
  Status status = channel->Connect(deadline);
  if (status.ok()) status = channel->Hello(deadline);
  if (!status.ok()) return Annotate(status, "rdma://" + peer.endpoint);
  return channel;
}

Status Channel::AwaitEvent(rdma_cm_event_type wanted, TimePoint deadline) {
  for (;;) {
    rdma_cm_event* event = nullptr;
    if (::rdma_get_cm_event(events_.get(), &event) == 0) {
      const rdma_cm_event_type type = event->event;
      const int status = event->status;
      (void)::rdma_ack_cm_event(event);
      if (type == wanted) return Status::Ok();
      return Status(ErrorCode::kTransferFail,
                    std::string(::rdma_event_str(type)) + " (" + std::to_string(status) + ")");
    }
    if (errno != EAGAIN && errno != EINTR) return Failed("no event");
    const Duration left = deadline - context_.clock.Now();
    if (left <= Duration::zero()) {
      return Status(ErrorCode::kRpcTimeout, "the peer did not answer in time");
    }
    pollfd item{.fd = events_->fd, .events = POLLIN, .revents = 0};
    (void)::poll(&item, 1, static_cast<int>(std::min<int64_t>(ToMillis(left) + 1, 1000)));
  }
}

Status Channel::Resolve(rdma_cm_id* id, TimePoint deadline) {
  ASSIGN_OR_RETURN(const HostPort where, ParseHostPort(peer_.endpoint));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found);
  if (error != 0) return Status(ErrorCode::kTransferFail, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, AddressDeleter> addresses(found);
  const Duration left = std::max(deadline - context_.clock.Now(), Millis(1));
  const auto limit_ms = static_cast<int>(std::clamp<int64_t>(ToMillis(left), 1, 60'000));
  // The first address: a node advertises one, of its device's network.
  if (::rdma_resolve_addr(id, nullptr, addresses->ai_addr, limit_ms) != 0) {
    return Failed("no RDMA device leads there");
  }
  RETURN_IF_ERROR(AwaitEvent(RDMA_CM_EVENT_ADDR_RESOLVED, deadline));
  if (::rdma_resolve_route(id, limit_ms) != 0) return Failed("no route");
  return AwaitEvent(RDMA_CM_EVENT_ROUTE_RESOLVED, deadline);
}

Status Channel::Connect(TimePoint deadline) {
  events_.reset(::rdma_create_event_channel());
  if (events_ == nullptr) return Failed("no event channel");
  const int flags = ::fcntl(events_->fd, F_GETFL);
  if (::fcntl(events_->fd, F_SETFL, flags | O_NONBLOCK) != 0) return Failed("fcntl");
  rdma_cm_id* created = nullptr;
  if (::rdma_create_id(events_.get(), &created, nullptr, RDMA_PS_TCP) != 0) {
    return Failed("no communication id");
  }
  std::unique_ptr<rdma_cm_id, IdDeleter> id(created);
  RETURN_IF_ERROR(Resolve(id.get(), deadline));
  const Device* device = context_.devices.Find(id->verbs);
  if (device == nullptr) {
    return Status(ErrorCode::kTransferFail, "the route leads over a device that cannot be used");
  }
  uint8_t timeout = kAckTimeout;
  // Without it the kernel's own value holds, which is longer.
  (void)::rdma_set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
                          sizeof(timeout));
  ASSIGN_OR_RETURN(queue_,
                   QueuePair::Create(id.release(), *device, context_.queue_pair, context_.clock));
  rdma_conn_param parameters = queue_->Parameters();
  if (::rdma_connect(queue_->id(), &parameters) != 0) return Failed("cannot connect");
  RETURN_IF_ERROR(AwaitEvent(RDMA_CM_EVENT_ESTABLISHED, deadline));
  queue_->WatchFd(events_->fd);  // the only event to come is the end
  return Status::Ok();
}

Status Channel::Hello(TimePoint deadline) {
  Reply reply;
  RETURN_IF_ERROR(Exchange({.op = Op::kHello, .id = 0, .entries = {}}, deadline, reply));
  if (reply.host_id == peer_.host_id && reply.endpoint == peer_.endpoint) return Status::Ok();
  queue_->Close();
  return Status(ErrorCode::kTransferFail, "host '" + reply.host_id + "', endpoint " +
                                              reply.endpoint + " answers there instead of host '" +
                                              peer_.host_id + "'");
}

Status Channel::Exchange(Request request, TimePoint deadline, Reply& reply) {
  context_.counters.messages.fetch_add(1, std::memory_order_relaxed);
  request.id = next_id_++;
  const Status status = [&]() -> Status {
    RETURN_IF_ERROR(queue_->SendMessage(Encode(request), deadline));
    ASSIGN_OR_RETURN(const ByteSpan bytes, queue_->ReceiveMessage(deadline));
    Result<Reply> decoded = DecodeReply(bytes);
    if (!decoded.ok()) return Status(ErrorCode::kTransferFail, decoded.message());
    reply = std::move(decoded).value();
    if (reply.id == request.id && reply.op == request.op &&
        reply.codes.size() == CodesOf(request)) {
      return Status::Ok();
    }
    return Status(ErrorCode::kTransferFail, "the reply is not to what was asked");
  }();
  if (!status.ok()) queue_->Close();
  return status;
}

Status Channel::Call(Op op, const Entry& entry, TimePoint deadline, ErrorCode& code) {
  Reply reply;
  RETURN_IF_ERROR(Exchange({.op = op, .id = 0, .entries = {entry}}, deadline, reply));
  code = reply.codes.front();
  return Status::Ok();
}

Status Channel::KeysFor(const SegmentId& segment, AccessEpoch epoch, TimePoint deadline,
                        ErrorCode& code, const SegmentKeys*& keys) {
  keys = nullptr;
  code = ErrorCode::kOk;
  const auto found = known_.find(segment);
  if (found != known_.end() && found->second.epoch == epoch) {
    keys = &found->second.keys;
    return Status::Ok();
  }
  Entry entry;
  entry.segment = segment;
  entry.epoch = epoch;
  Reply reply;
  RETURN_IF_ERROR(Exchange({.op = Op::kKeys, .id = 0, .entries = {entry}}, deadline, reply));
  code = reply.codes.front();
  if (code != ErrorCode::kOk) return Status::Ok();
  if (known_.size() >= kMaxKnownSegments && found == known_.end()) known_.clear();
  Known& known = known_[segment];
  known = {epoch, std::move(reply.keys)};
  keys = &known.keys;
  return Status::Ok();
}

Status Channel::Run(std::span<Slice> slices, std::vector<uint32_t>& which, TimePoint deadline) {
  BatchRun run(*this, slices);
  while (!which.empty()) RETURN_IF_ERROR(run.Round(which, deadline));
  return Status::Ok();
}

}  // namespace mooncake::rdma
