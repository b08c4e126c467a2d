#include "client/object_reader.h"

#include <algorithm>
#include <utility>

#include "client/arguments.h"
#include "client/key_reader.h"

namespace mooncake::internal {
namespace {

class LeasedView final : public ObjectView {
 public:
  LeasedView(std::shared_ptr<ClientContext> context, std::shared_ptr<HeldLease> lease, PutId put_id,
             ObjectFetcher::InPlace place)
      : context_(std::move(context)),
        lease_(std::move(lease)),
        put_id_(put_id),
        place_(std::move(place)) {}
  ~LeasedView() override { ReleaseContext(context_); }

  ByteSpan bytes() const override { return place_.bytes; }
  PutId version() const override { return put_id_; }
  bool Valid() const override {
    if (context_->InForkedChild() || !lease_->Valid()) return false;
    // An empty object has no place. Order: the place is looked at while the lease is known to live.
    return place_.bytes.empty() ||
           (context_->fetcher.StillThere(place_, put_id_) && lease_->Valid());
  }

 private:
  const std::shared_ptr<ClientContext> context_;
  const std::shared_ptr<HeldLease> lease_;
  const PutId put_id_;
  const ObjectFetcher::InPlace place_;
};

Result<std::unique_ptr<ObjectView>> MakeView(const std::shared_ptr<ClientContext>& context,
                                             const ReplicaList& info,
                                             const std::shared_ptr<HeldLease>& lease,
                                             TimePoint deadline) {
  ObjectFetcher::InPlace place;
  if (info.size > 0) {
    ASSIGN_OR_RETURN(place, context->fetcher.View(info, deadline));
  }
  if (!lease->Valid())
    return Status(ErrorCode::kLeaseExpired, "the lease ended before the view was made");
  return std::unique_ptr<ObjectView>(new LeasedView(context, lease, info.put_id, std::move(place)));
}

class LeasedReader final : public ObjectReader {
 public:
  LeasedReader(std::shared_ptr<ClientContext> context, ObjectName name, LeasedVersion version)
      : context_(std::move(context)), name_(std::move(name)), version_(std::move(version)) {}
  ~LeasedReader() override { ReleaseContext(context_); }

  const ReplicaList& info() const override { return version_.info; }

  Result<uint64_t> Read(uint64_t offset, MutableByteSpan buffer, Duration timeout) override {
    RETURN_IF_ERROR(context_->CheckProcess());
    RETURN_IF_ERROR(CheckTimeout(timeout));
    const TimePoint deadline = context_->DeadlineOf(timeout);
    const ByteRange range =
        CutRange({.offset = offset, .length = buffer.size()}, version_.info.size);
    if (range.length == 0) return uint64_t{0};
    Status status = ReadOnce(version_.info, range, buffer.first(range.length), deadline);
    if (MayRetryRead(status.code()) && context_->clock.Now() < deadline) {
      status = ReadAgain(range, buffer.first(range.length), deadline, std::move(status));
    }
    RETURN_IF_ERROR(status);
    return range.length;
  }

  Result<std::unique_ptr<ObjectView>> View() override {
    RETURN_IF_ERROR(context_->CheckProcess());
    return MakeView(context_, version_.info, version_.lease, context_->DeadlineOf({}));
  }

 private:
  Status ReadOnce(const ReplicaList& info, ByteRange range, MutableByteSpan buffer,
                  TimePoint deadline) const {
    FetchJob job{.info = &info, .range = range, .buffer = buffer};
    context_->fetcher.Fetch({&job, 1}, deadline);
    RETURN_IF_ERROR(job.status);
    if (version_.lease->Valid()) return Status::Ok();
    return Status(ErrorCode::kLeaseExpired,
                  "the lease of put " + std::to_string(info.put_id.value) + " was lost");
  }

  // The replicas as they are now, if the version still has its name; else there is nobody left to ask.
  Status ReadAgain(ByteRange range, MutableByteSpan buffer, TimePoint deadline,
                   Status first) const {
    const Result<LeasedVersion> now = LeaseKey(*context_, name_, deadline);
    if (!now.ok() || now->info.put_id != version_.info.put_id) return first;
    FetchJob job{.info = &now->info, .range = range, .buffer = buffer};
    context_->fetcher.Fetch({&job, 1}, deadline);
    RETURN_IF_ERROR(job.status);
    return now->lease->Valid() ? Status::Ok() : first;
  }

  const std::shared_ptr<ClientContext> context_;
  const ObjectName name_;
  const LeasedVersion version_;
};

}  // namespace

Result<std::shared_ptr<ObjectReader>> OpenReader(std::shared_ptr<ClientContext> context,
                                                 const ObjectName& name, TimePoint deadline) {
  ASSIGN_OR_RETURN(LeasedVersion version, LeaseKey(*context, name, deadline));
  return std::shared_ptr<ObjectReader>(
      new LeasedReader(std::move(context), name, std::move(version)));
}

Result<std::unique_ptr<ObjectView>> OpenView(std::shared_ptr<ClientContext> context,
                                             const ObjectName& name, TimePoint deadline) {
  ASSIGN_OR_RETURN(const LeasedVersion version, LeaseKey(*context, name, deadline));
  return MakeView(context, version.info, version.lease, deadline);
}

}  // namespace mooncake::internal
