#include "transfer/transport/rdma/batch_run.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>

namespace mooncake::rdma {
namespace {

Status Refused(ErrorCode code, const Slice& slice) {
  return Status(code, "the node refused " + std::to_string(slice.length()) + " bytes at " +
                          std::to_string(slice.offset) + " of segment " + slice.segment.ToString() +
                          " in epoch " + std::to_string(slice.epoch.value));
}

}  // namespace

Status BatchRun::Round(std::vector<uint32_t>& which, TimePoint deadline) {
  parts_.clear();
  staged_.clear();
  temporary_.clear();
  requests_.clear();
  staging_used_ = 0;
  writes_ = 0;
  base_ = kNothingPosted;
  Status status = Prepare(which, deadline);
  if (status.ok()) status = BeginWrites(deadline);
  if (status.ok()) status = Move(deadline);
  SettleReads();
  if (status.ok()) status = EndWrites(deadline);
  if (!status.ok()) Abandon(status);
  temporary_.clear();  // after the queue pair was closed, if something went wrong
  std::unordered_set<uint32_t> settled;
  for (const Part& part : parts_) {
    if (part.settled) settled.insert(part.slice);
  }
  std::erase_if(which, [&](uint32_t index) { return settled.count(index) != 0; });
  return status;
}

void BatchRun::Settle(Part& part, Status status) {
  slices_[part.slice].status = std::move(status);
  part.settled = true;
}

Status BatchRun::Prepare(const std::vector<uint32_t>& which, TimePoint deadline) {
  for (const uint32_t index : which) {
    const Slice& slice = slices_[index];
    const bool write = slice.op == SliceOp::kWrite;
    if (write && writes_ == kMaxEntries) break;
    Part part;
    part.slice = index;
    ErrorCode code = ErrorCode::kOk;
    const SegmentKeys* keys = nullptr;
    RETURN_IF_ERROR(channel_.KeysFor(slice.segment, slice.epoch, deadline, code, keys));
    if (code == ErrorCode::kOk &&
        (slice.offset > keys->size || slice.length() > keys->size - slice.offset)) {
      code = ErrorCode::kInvalidParams;
    }
    if (code != ErrorCode::kOk) {
      Settle(part, Refused(code, slice));
      parts_.push_back(std::move(part));
      continue;
    }
    const Result<bool> fits = Localise(slice, part);
    if (!fits.ok()) {
      Settle(part, fits.status());
    } else if (!*fits) {
      break;
    } else {
      // Planned at once: the next look-up may move the keys.
      part.first_request = requests_.size();
      const ChannelContext& context = channel_.context();
      const uint64_t most = queue_.device().max_message();
      PlanSlice(*keys, slice.op, static_cast<uint32_t>(parts_.size()), slice.offset, part.local,
                context.max_request_bytes == 0 ? most : std::min(most, context.max_request_bytes),
                requests_);
      part.end_request = requests_.size();
      if (write) ++writes_;
    }
    parts_.push_back(std::move(part));
  }
  return Status::Ok();
}

Result<bool> BatchRun::Localise(const Slice& slice, Part& part) {
  const ChannelContext& context = channel_.context();
  const size_t staging_before = staging_used_;
  const size_t staged_before = staged_.size();
  for (const MutableByteSpan& buffer : slice.buffers) {
    if (context.memory.Find(queue_.device(), buffer, part.local)) continue;
    if (buffer.size() > context.max_staged_bytes) {
      if (temporary_.size() < context.max_temporary_regions) {
        RETURN_IF_ERROR(RegisterFor(slice, buffer, part));
        continue;
      }
    } else if (buffer.size() <= queue_.staging().size() - staging_used_) {
      Stage(slice, buffer, part);
      continue;
    }
    // A slice takes its room wholly or not at all; the first of a round always finds it. Regions made for it stay till the end of
    // the round.
    staging_used_ = staging_before;
    staged_.resize(staged_before);
    return false;
  }
  return true;
}

void BatchRun::Stage(const Slice& slice, MutableByteSpan buffer, Part& part) {
  const MutableByteSpan room = queue_.staging().subspan(staging_used_, buffer.size());
  staging_used_ += buffer.size();
  if (slice.op == SliceOp::kWrite) {
    std::memcpy(room.data(), buffer.data(), buffer.size());
    channel_.context().counters.bytes_copied.fetch_add(buffer.size(), std::memory_order_relaxed);
  } else {
    staged_.push_back({buffer, room, parts_.size()});
  }
  part.local.push_back(
      {reinterpret_cast<uint64_t>(room.data()), room.size(), queue_.staging_key()});
}

Status BatchRun::RegisterFor(const Slice& slice, MutableByteSpan buffer, Part& part) {
  channel_.context().counters.registrations.fetch_add(1, std::memory_order_relaxed);
  // What is only read may be in pages that cannot be written.
  const int access = slice.op == SliceOp::kWrite ? 0 : IBV_ACCESS_LOCAL_WRITE;
  ASSIGN_OR_RETURN(std::unique_ptr<RegisteredMemory> region,
                   RegisteredMemory::Create(queue_.device(), buffer, buffer.size(), access));
  AppendRuns(*region, buffer, part.local);
  temporary_.push_back(std::move(region));
  return Status::Ok();
}

Status BatchRun::BeginWrites(TimePoint deadline) {
  if (writes_ == 0) return Status::Ok();
  Request request{.op = Op::kBeginWrite, .id = 0, .entries = {}};
  std::vector<Part*> asked;
  for (Part& part : parts_) {
    const Slice& slice = slices_[part.slice];
    if (part.settled || slice.op != SliceOp::kWrite) continue;
    request.entries.push_back({.segment = slice.segment,
                               .epoch = slice.epoch,
                               .offset = slice.offset,
                               .length = slice.length(),
                               .grant = slice.grant});
    asked.push_back(&part);
  }
  Reply reply;
  RETURN_IF_ERROR(channel_.Exchange(std::move(request), deadline, reply));
  for (size_t i = 0; i < asked.size(); ++i) {
    if (reply.codes[i] == ErrorCode::kOk) {
      asked[i]->admitted = true;
    } else {
      Settle(*asked[i], Refused(reply.codes[i], slices_[asked[i]->slice]));
    }
  }
  return Status::Ok();
}

Status BatchRun::Move(TimePoint deadline) {
  // Without what was refused; the order of the requests is that of the parts.
  std::erase_if(requests_, [&](const WorkRequest& r) { return parts_[r.slice].settled; });
  for (Part& part : parts_) part.first_request = part.end_request = 0;
  for (size_t i = 0; i < requests_.size(); ++i) {
    Part& part = parts_[requests_[i].slice];
    if (part.end_request == 0) part.first_request = i;
    part.end_request = i + 1;
  }
  base_ = queue_.posted();
  for (const WorkRequest& request : requests_) {
    const bool last = &request == &requests_.back();
    RETURN_IF_ERROR(queue_.Post(
        request, last ? QueuePair::Follows::kNothing : QueuePair::Follows::kMore, deadline));
    channel_.context().counters.work_requests.fetch_add(1, std::memory_order_relaxed);
  }
  return requests_.empty() ? Status::Ok() : queue_.Drain(deadline);
}

void BatchRun::SettleReads() {
  const uint64_t done = queue_.done() > base_ ? queue_.done() - base_ : 0;
  for (Part& part : parts_) {
    if (part.settled || slices_[part.slice].op != SliceOp::kRead) continue;
    // One without requests is of no bytes; while the round failed early it may be tried again.
    if (part.end_request > 0 ? part.end_request <= done : slices_[part.slice].length() == 0) {
      Settle(part, Status::Ok());
    }
  }
  for (const Staged& staged : staged_) {
    const Part& part = parts_[staged.part];
    if (!part.settled || !slices_[part.slice].status.ok()) continue;
    std::memcpy(staged.buffer.data(), staged.staging.data(), staged.buffer.size());
    channel_.context().counters.bytes_copied.fetch_add(staged.buffer.size(),
                                                       std::memory_order_relaxed);
  }
}

Status BatchRun::EndWrites(TimePoint deadline) {
  const bool any =
      std::any_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.admitted; });
  if (!any) return Status::Ok();
  Reply reply;
  RETURN_IF_ERROR(
      channel_.Exchange({.op = Op::kEndWrite, .id = 0, .entries = {}}, deadline, reply));
  if (reply.codes.front() != ErrorCode::kOk) {
    return Status(ErrorCode::kTransferFail, "the node did not take the end of the writes");
  }
  for (Part& part : parts_) {
    if (part.admitted) Settle(part, Status::Ok());
  }
  return Status::Ok();
}

void BatchRun::Abandon(const Status& why) {
  queue_.Close();  // from here on nothing reaches the buffers
  const uint64_t posted = queue_.posted() > base_ ? queue_.posted() - base_ : 0;
  for (Part& part : parts_) {
    // A write of which something was posted may have landed, whole or in part.
    if (part.admitted && !part.settled && part.end_request > 0 && part.first_request < posted) {
      Settle(part, why);
    }
  }
}

}  // namespace mooncake::rdma
