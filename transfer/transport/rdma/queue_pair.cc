#include "transfer/transport/rdma/queue_pair.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "transfer/base/check.h"
#include "transfer/transport/rdma/message.h"

namespace mooncake::rdma {
namespace {

// In wr_id; the rest is the slot. Other numbers are those of posted_.
constexpr uint64_t kReceiveBit = uint64_t{1} << 63;

constexpr Duration kShortestSpin = Duration(1000);

}  // namespace

Result<std::unique_ptr<QueuePair>> QueuePair::Create(rdma_cm_id* id, const Device& device,
                                                     const QueuePairOptions& options,
                                                     const Clock& clock) {
  MC_CHECK(options.signal_every * 2 < options.send_depth);
  std::unique_ptr<QueuePair> pair(new QueuePair(id, device, options, clock));
  RETURN_IF_ERROR(pair->Open());
  return pair;
}

Status QueuePair::Failed(const char* what, int error) const {
  return Status(ErrorCode::kTransferFail,
                "RDMA device " + device_.name() + ": " + what + ": " + std::strerror(error));
}

Status QueuePair::Open() {
  spin_ = options_.spin;
  channel_ = ::ibv_create_comp_channel(device_.context());
  if (channel_ == nullptr) return Failed("no completion channel", errno);
  const int flags = ::fcntl(channel_->fd, F_GETFL);
  if (::fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0) return Failed("fcntl", errno);
  const auto entries = static_cast<int>(options_.send_depth + kReceiveSlots);
  queue_ = ::ibv_create_cq(device_.context(), entries, nullptr, channel_, 0);
  if (queue_ == nullptr) return Failed("no completion queue", errno);

  buffer_.resize(kStagingStart + options_.staging_bytes);
  ASSIGN_OR_RETURN(registered_, RegisteredMemory::Create(device_, buffer_, buffer_.size(),
                                                         IBV_ACCESS_LOCAL_WRITE));
  ibv_qp_init_attr attributes{};
  attributes.send_cq = queue_;
  attributes.recv_cq = queue_;
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = options_.send_depth;
  attributes.cap.max_recv_wr = kReceiveSlots;
  attributes.cap.max_send_sge = kMaxRuns;
  attributes.cap.max_recv_sge = 1;
  if (::rdma_create_qp(id_, device_.domain(), &attributes) != 0) {
    return Failed("no queue pair", errno);
  }
  for (uint32_t i = 0; i < kReceiveSlots; ++i) RETURN_IF_ERROR(PostReceive(i));
  return Status::Ok();
}

QueuePair::~QueuePair() {
  Close();
  registered_.reset();
  if (queue_ != nullptr) (void)::ibv_destroy_cq(queue_);
  if (channel_ != nullptr) (void)::ibv_destroy_comp_channel(channel_);
  (void)::rdma_destroy_id(id_);
}

rdma_conn_param QueuePair::Parameters() const {
  rdma_conn_param parameters{};
  parameters.responder_resources = device_.max_reads();
  parameters.initiator_depth = device_.max_reads();
  parameters.retry_count = 7;
  parameters.rnr_retry_count = 7;  // for ever: the deadline ends it
  return parameters;
}

void QueuePair::Close() {
  if (closed()) return;
  // Tells the peer; the pair may be unconnected or broken, then there is nobody to tell.
  (void)::rdma_disconnect(id_);
  // Returns when the device is done with it. Moving it to the error state alone would not wait for a packet under way.
  ::rdma_destroy_qp(id_);
}

Status QueuePair::PostReceive(uint32_t number) {
  ibv_sge run{.addr = reinterpret_cast<uint64_t>(slot(number)),
              .length = kMaxMessageBytes,
              .lkey = staging_key()};
  ibv_recv_wr request{};
  request.wr_id = kReceiveBit | number;
  request.sg_list = &run;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  const int error = ::ibv_post_recv(id_->qp, &request, &bad);
  return error == 0 ? Status::Ok() : Failed("cannot post a receive", error);
}

Status QueuePair::PostSend(ibv_send_wr& request, bool signal, TimePoint deadline) {
  if (closed()) return Status(ErrorCode::kTransferFail, "the queue pair is closed");
  while (posted_ - done_ >= options_.send_depth) RETURN_IF_ERROR(AwaitCompletion(deadline));
  signal = signal || posted_ + 1 - signalled_ >= options_.signal_every;
  request.wr_id = posted_ + 1;
  request.send_flags = signal ? IBV_SEND_SIGNALED : 0;
  ibv_send_wr* bad = nullptr;
  const int error = ::ibv_post_send(id_->qp, &request, &bad);
  if (error != 0) return Failed("cannot post a request", error);
  ++posted_;
  if (signal) signalled_ = posted_;
  return Status::Ok();
}

Status QueuePair::Post(const WorkRequest& request, Follows follows, TimePoint deadline) {
  std::array<ibv_sge, kMaxRuns> runs{};
  for (uint32_t i = 0; i < request.run_count; ++i) {
    runs[i] = {.addr = request.runs[i].address,
               .length = static_cast<uint32_t>(request.runs[i].length),
               .lkey = request.runs[i].lkey};
  }
  ibv_send_wr send{};
  send.opcode = request.op == SliceOp::kRead ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
  send.sg_list = runs.data();
  send.num_sge = static_cast<int>(request.run_count);
  send.wr.rdma.remote_addr = request.remote;
  send.wr.rdma.rkey = request.rkey;
  return PostSend(send, follows == Follows::kNothing, deadline);
}

Status QueuePair::AwaitDone(uint64_t count, TimePoint deadline) {
  MC_CHECK(count <= signalled_) << "nothing would tell of the last request";
  while (done_ < count) RETURN_IF_ERROR(AwaitCompletion(deadline));
  return Status::Ok();
}

Status QueuePair::Drain(TimePoint deadline) { return AwaitDone(posted_, deadline); }

Status QueuePair::SendMessage(ByteSpan message, TimePoint deadline) {
  MC_CHECK(message.size() <= kMaxMessageBytes);
  RETURN_IF_ERROR(AwaitDone(message_sent_, deadline));
  std::memcpy(slot(kSendSlot), message.data(), message.size());
  ibv_sge run{.addr = reinterpret_cast<uint64_t>(slot(kSendSlot)),
              .length = static_cast<uint32_t>(message.size()),
              .lkey = staging_key()};
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  send.sg_list = &run;
  send.num_sge = 1;
  RETURN_IF_ERROR(PostSend(send, /*signal=*/true, deadline));
  message_sent_ = posted_;
  return Status::Ok();
}

Result<ByteSpan> QueuePair::ReceiveMessage(TimePoint deadline) {
  if (closed()) return Status(ErrorCode::kTransferFail, "the queue pair is closed");
  if (handed_out_ >= 0) {
    RETURN_IF_ERROR(PostReceive(static_cast<uint32_t>(handed_out_)));
    handed_out_ = -1;
  }
  while (received_.empty()) RETURN_IF_ERROR(AwaitCompletion(deadline));
  const Received next = received_.front();
  received_.erase(received_.begin());
  handed_out_ = static_cast<int>(next.slot);
  return ByteSpan(slot(next.slot), next.bytes);
}

Status QueuePair::OnCompletion(const ibv_wc& completion) {
  const bool receive = (completion.wr_id & kReceiveBit) != 0;
  if (completion.status == IBV_WC_SUCCESS) {
    if (receive) {
      received_.push_back(
          {static_cast<uint32_t>(completion.wr_id & ~kReceiveBit), completion.byte_len});
    } else {
      done_ = completion.wr_id;
    }
    return Status::Ok();
  }
  // Requests complete in their order, so those before the failed one went well. What was flushed says nothing.
  if (!receive && completion.status != IBV_WC_WR_FLUSH_ERR) done_ = completion.wr_id - 1;
  access_refused_ |= !receive && (completion.status == IBV_WC_REM_ACCESS_ERR ||
                                  completion.status == IBV_WC_REM_INV_REQ_ERR);
  return Status(ErrorCode::kTransferFail,
                "RDMA device " + device_.name() + ": " + ::ibv_wc_status_str(completion.status));
}

Status QueuePair::Reap(bool& any) {
  std::array<ibv_wc, 16> completions;
  for (;;) {
    const int count =
        ::ibv_poll_cq(queue_, static_cast<int>(completions.size()), completions.data());
    if (count < 0) return Failed("cannot poll completions", errno);
    for (int i = 0; i < count; ++i) {
      RETURN_IF_ERROR(OnCompletion(completions[static_cast<size_t>(i)]));
    }
    any |= count > 0;
    if (count < static_cast<int>(completions.size())) return Status::Ok();
  }
}

Status QueuePair::AwaitCompletion(TimePoint deadline) {
  bool any = false;
  const TimePoint start = clock_.Now();
  if (start >= deadline) {  // what has come by now still counts
    RETURN_IF_ERROR(Reap(any));
    return any ? Status::Ok() : Status(ErrorCode::kRpcTimeout, "the peer did not answer in time");
  }
  do {
    RETURN_IF_ERROR(Reap(any));
    if (any) {
      spin_ = std::min(spin_ * 2, options_.spin);
      return Status::Ok();
    }
  } while (clock_.Now() - start < spin_);
  spin_ = std::max(spin_ / 2, kShortestSpin);
  while (!any) RETURN_IF_ERROR(Sleep(deadline, any));
  return Status::Ok();
}

Status QueuePair::Sleep(TimePoint deadline, bool& any) {
  if (::ibv_req_notify_cq(queue_, 0) != 0) return Failed("no notification", errno);
  RETURN_IF_ERROR(Reap(any));  // what came before the notification was asked for
  if (any) return Status::Ok();
  const Duration left = deadline - clock_.Now();
  if (deadline != kNever && left <= Duration::zero()) {
    return Status(ErrorCode::kRpcTimeout, "the peer did not answer in time");
  }
  std::array<pollfd, 2> items{pollfd{.fd = channel_->fd, .events = POLLIN, .revents = 0},
                              pollfd{.fd = watched_, .events = POLLIN, .revents = 0}};
  const timespec limit{.tv_sec = left.count() / 1'000'000'000,
                       .tv_nsec = left.count() % 1'000'000'000};
  (void)::ppoll(items.data(), items.size(), deadline == kNever ? nullptr : &limit, nullptr);
  if ((items[0].revents & POLLIN) != 0) {
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    if (::ibv_get_cq_event(channel_, &queue, &context) == 0) ::ibv_ack_cq_events(queue, 1);
  }
  RETURN_IF_ERROR(Reap(any));
  if (!any && items[1].revents != 0) {
    return Status(ErrorCode::kTransferFail, "the connection was ended");
  }
  return Status::Ok();
}

bool QueuePair::LooksDead() {
  bool any = false;
  if (closed() || !Reap(any).ok() || !received_.empty()) return true;
  pollfd item{.fd = watched_, .events = POLLIN, .revents = 0};
  return ::poll(&item, 1, 0) > 0;
}

MutableByteSpan QueuePair::staging() const { return registered_->memory().subspan(kStagingStart); }

uint32_t QueuePair::staging_key() const {
  uint64_t left = 0;
  return registered_->LocalKey(registered_->memory().data(), left);
}

}  // namespace mooncake::rdma
