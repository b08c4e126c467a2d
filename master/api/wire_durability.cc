// What is said about snapshots and the log. See wire.h.
#include "master/api/wire.h"
#include "master/api/wire_check.h"
#include "transfer/base/units.h"

namespace mooncake::wire {
namespace {

constexpr uint64_t kAny = uint64_t{1} << 62;  // bounded only so that a few can be added

// The storage's words may be long; what follows is left out.
std::string Shortened(const std::string& text) { return text.substr(0, kMaxMessageBytes); }

std::string DecodeText(const char* what, std::string&& text, Checker& check) {
  check.Add(CheckLength(what, text.size(), kMaxMessageBytes));
  return std::move(text);
}

}  // namespace

Status CheckSnapshotId(const std::string& id) {
  if (IsSnapshotId(id)) return Status::Ok();
  return {ErrorCode::kInvalidParams, "'" + EscapeForDisplay(id.substr(0, kMaxSnapshotIdBytes)) +
                                         "' is no id of a snapshot: those are 1 to " +
                                         std::to_string(kMaxSnapshotIdBytes) + " digits and '_'"};
}

thriftgen::Snapshot Encode(const SnapshotDescriptor& snapshot) {
  thriftgen::Snapshot out;
  out.id = snapshot.id;
  out.records = static_cast<int64_t>(snapshot.records);
  out.bytes = static_cast<int64_t>(snapshot.bytes);
  out.begun_ms = snapshot.begun_ms;
  out.term = static_cast<int64_t>(snapshot.term.value);
  out.from_sequence = static_cast<int64_t>(snapshot.from);
  out.until_sequence = static_cast<int64_t>(snapshot.until);
  out.trouble = Shortened(snapshot.trouble);
  return out;
}

Result<SnapshotDescriptor> Decode(thriftgen::Snapshot&& in) {
  Checker check;
  SnapshotDescriptor out;
  check.Add(CheckSnapshotId(in.id));
  out.id = std::move(in.id);
  out.records = check.Unsigned("records", in.records, kAny);
  out.bytes = check.Unsigned("bytes", in.bytes, kAny);
  out.begun_ms = in.begun_ms;
  out.term = Term{static_cast<uint64_t>(in.term)};
  out.from = check.Unsigned("from_sequence", in.from_sequence, kAny);
  out.until = check.Unsigned("until_sequence", in.until_sequence, kAny);
  out.trouble = DecodeText("trouble", std::move(in.trouble), check);
  RETURN_IF_ERROR(check.status());
  return out;
}

Result<SnapshotVerdict> Decode(thriftgen::VerifySnapshotReply&& in) {
  Checker check;
  SnapshotVerdict out;
  out.records = check.Unsigned("records", in.records, kAny);
  out.damaged = check.Unsigned("damaged", in.damaged, out.records);
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::DurabilityStatus Encode(const DurabilityStatus& status) {
  thriftgen::DurabilityStatus out;
  out.sync = status.sync;
  out.log_durable = static_cast<int64_t>(status.log_durable);
  out.log_waiting = static_cast<int64_t>(status.log_waiting);
  out.held_bytes = static_cast<int64_t>(status.held_bytes);
  out.log_trouble = Shortened(status.log_trouble);
  out.snapshots_taken = static_cast<int64_t>(status.snapshots_taken);
  out.snapshots_failed = static_cast<int64_t>(status.snapshots_failed);
  out.snapshot_trouble = Shortened(status.snapshot_trouble);
  if (status.snapshot_age) out.__set_snapshot_age_ns(status.snapshot_age->count());
  return out;
}

Result<DurabilityStatus> Decode(thriftgen::DurabilityStatus&& in) {
  Checker check;
  DurabilityStatus out;
  out.sync = in.sync;
  out.log_durable = check.Unsigned("log_durable", in.log_durable, kAny);
  out.log_waiting = check.Unsigned("log_waiting", in.log_waiting, kAny);
  out.held_bytes = check.Unsigned("held_bytes", in.held_bytes, kAny);
  out.log_trouble = DecodeText("log_trouble", std::move(in.log_trouble), check);
  out.snapshots_taken = check.Unsigned("snapshots_taken", in.snapshots_taken, kAny);
  out.snapshots_failed = check.Unsigned("snapshots_failed", in.snapshots_failed, kAny);
  out.snapshot_trouble = DecodeText("snapshot_trouble", std::move(in.snapshot_trouble), check);
  if (in.__isset.snapshot_age_ns)
    out.snapshot_age = check.NotNegative("snapshot_age", in.snapshot_age_ns);
  RETURN_IF_ERROR(check.status());
  return out;
}

}  // namespace mooncake::wire
