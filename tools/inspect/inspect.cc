#include "tools/inspect/inspect.h"

#include <ostream>
#include <utility>

#include "tools/inspect/record_view.h"
#include "transfer/base/units.h"

namespace mooncake::inspect {
namespace {

void Print(std::ostream& out, const Json& line) { out << admin::Dump(line) << "\n"; }

// Adds the record, or what is wrong with it.
void SetRecordOrError(Json& line, const Result<core::Record>& record, Damage& damage) {
  if (record.ok()) {
    SetRecord(line, *record);
    return;
  }
  ++damage.records;
  line["record"] = "damaged";
  line["message"] = EscapeForDisplay(record.message());
}

Status PrintSnapshots(StateReader& state, std::ostream& out, Damage& damage) {
  ASSIGN_OR_RETURN(const std::vector<SnapshotInfo> snapshots, state.ListSnapshots());
  for (const SnapshotInfo& info : snapshots) {
    uint64_t damaged = 0;
    SnapshotInfo checked = info;
    if (info.health.ok()) {
      const auto read = state.ReadSnapshot(info.id, [&](const Result<core::Record>& record) {
        damaged += record.ok() ? 0 : 1;
        return static_cast<bool>(out);
      });
      checked.health = read.status();
    }
    damage.records += damaged;
    if (!checked.health.ok()) ++damage.snapshots;
    Json line;
    line["type"] = "snapshot";
    SetSnapshot(line, checked);
    if (checked.health.ok()) line["damaged_records"] = damaged;
    Print(out, line);
  }
  return Status::Ok();
}

Status PrintSnapshot(StateReader& state, const InspectOptions& options, std::ostream& out,
                     Damage& damage) {
  uint64_t printed = 0;
  return state
      .ReadSnapshot(options.snapshot,
                    [&](const Result<core::Record>& record) {
                      if (printed++ >= options.limit) return false;
                      Json line;
                      line["type"] = "snapshot_record";
                      SetRecordOrError(line, record, damage);
                      Print(out, line);
                      return static_cast<bool>(out);
                    })
      .status();
}

Status PrintLog(StateReader& state, const InspectOptions& options, std::ostream& out,
                Damage& damage) {
  ASSIGN_OR_RETURN(const Term term, state.LoadTerm());
  Json first;
  first["type"] = "log";
  first["term"] = term.value;
  Print(out, first);
  uint64_t printed = 0;
  uint64_t last = 0;
  return state.ReadLog(options.after, [&](uint64_t sequence, const Result<core::Record>& record) {
    if (printed++ >= options.limit) return false;
    // Where a log begins depends on the snapshots; from there on every number is there.
    if (last != 0 && sequence != last + 1) {
      ++damage.holes;
      Json hole;
      hole["type"] = "log_hole";
      hole["after"] = last;
      hole["before"] = sequence;
      Print(out, hole);
    }
    last = sequence;
    Json line;
    line["type"] = "log_record";
    line["sequence"] = sequence;
    SetRecordOrError(line, record, damage);
    Print(out, line);
    return static_cast<bool>(out);
  });
}

}  // namespace

Result<Damage> Inspect(StateReader& state, const InspectOptions& options, std::ostream& out) {
  if (options.log) RETURN_IF_ERROR(state.OpenLog());
  Damage damage;
  if (options.snapshots) RETURN_IF_ERROR(PrintSnapshots(state, out, damage));
  if (!options.snapshot.empty())
    RETURN_IF_ERROR(
        Annotate(PrintSnapshot(state, options, out, damage), "snapshot " + options.snapshot));
  if (options.log) RETURN_IF_ERROR(PrintLog(state, options, out, damage));
  return damage;
}

}  // namespace mooncake::inspect
