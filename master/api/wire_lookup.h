// BatchGetReplicaList without generated code: the call of which masters answer most, in bytes that are the same.
//
// Writers give exactly what generated code would. Readers know the usual form only (every field that our writers write, in their
// order, every value in its range); whatever else arrives they leave to generated code and wire.h, which know what is
// allowed and say what is wrong. Why: README.md, "Decision: one call by hand".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "master/api/types.h"
#include "master/api/wire_protocol.h"
#include "transfer/base/result.h"

namespace mooncake::wire {

struct LookupRequest {
  uint32_t sequence = 0;
  int32_t timeout_ms = 0;
  std::vector<ObjectName> names;
};
struct LookupReply {
  Status status;
  Term term;
  std::vector<Result<ReplicaList>> lists;
};

void WriteLookup(OutFrame& out, int32_t timeout_ms, std::span<const ObjectName> names);
// False: another call or another form; `request` is then of no meaning. Memory of a former request is used again.
bool ReadLookup(ByteSpan payload, LookupRequest& request);

// Appends to `out`. A reply longer than kMaxFrameBytes is left unfinished: it may not be sent.
void WriteLookupReply(OutFrame& out, uint32_t sequence, const LookupReply& reply);
// False: another form, also an answer to other than `entries` entries; `reply` is then of no meaning.
bool ReadLookupReply(ByteSpan payload, size_t entries, LookupReply& reply);

}  // namespace mooncake::wire
