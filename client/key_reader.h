// Reads by key: asks the master for the replicas, fetches under the lease, throws away what was read if the lease ended
// first, and tries once more with what the master says then.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "client/client_context.h"

namespace mooncake::internal {

struct KeyRead {
  ObjectName name;
  ByteRange range;  // cut to the object
  // Where the bytes go, asked once per attempt; an error ends this read.
  std::function<Result<MutableByteSpan>(uint64_t bytes)> provide;
  Result<uint64_t> result = Status(ErrorCode::kInternal, "not started");  // out: the bytes read
};

// Any number of reads, in windows of bounded size; each stands for itself. Returns at `deadline` at the latest.
void ReadKeys(ClientContext& context, std::span<KeyRead* const> reads, TimePoint deadline);

// Replicas and lease of one version.
struct LeasedVersion {
  ReplicaList info;
  std::shared_ptr<HeldLease> lease;
};
Result<LeasedVersion> LeaseKey(ClientContext& context, const ObjectName& name, TimePoint deadline);

// True for failures that another answer of the master may cure.
bool MayRetryRead(ErrorCode code);

}  // namespace mooncake::internal
