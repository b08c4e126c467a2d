#include "master/ha/recovery.h"

#include <algorithm>
#include <utility>

#include <glog/logging.h>

#include "master/ha/read_ahead.h"

namespace mooncake {
namespace {

Result<SnapshotFooter> ReadOne(StateStore& store, const SnapshotInfo& snapshot,
                               core::Restorer& restorer, uint64_t& records) {
  RETURN_IF_ERROR(snapshot.health);
  using Read = Result<core::Record>;
  return ReadAhead<Read>(
      [&](const auto& sink) {
        return store.ReadSnapshot(snapshot.id, [&](Read record) {
          sink(std::move(record));
          return true;
        });
      },
      [&](Read record) {
        ++records;
        if (record.ok()) {
          restorer.Apply(std::move(record).value());
        } else {
          restorer.CountBad();
        }
      });
}

// The newest of the snapshots that can be read, if there is one; they come newest first, and those that do not even say how old they are
// last.
SnapshotFooter TakeSnapshot(StateStore& store, const std::vector<SnapshotInfo>& snapshots,
                            Recovered& recovered) {
  SnapshotFooter footer;
  for (const SnapshotInfo& snapshot : snapshots) {
    if (!recovered.snapshot.empty() && snapshot.health.ok()) continue;
    core::Restorer restorer;
    uint64_t records = 0;
    const auto read = ReadOne(store, snapshot, restorer, records);
    if (!read.ok()) {
      LOG(WARNING) << "snapshot " << snapshot.id << " is passed over: " << read.message();
      ++recovered.unusable_snapshots;
      continue;
    }
    footer = *read;
    recovered.restorer = std::move(restorer);
    recovered.snapshot = snapshot.id;
    recovered.snapshot_begun_ms = footer.wall_ms;
    recovered.snapshot_records = records;
  }
  return footer;
}

}  // namespace

Result<Recovered> Recover(StateStore& store) {
  Recovered recovered;
  ASSIGN_OR_RETURN(recovered.last_term, store.LoadTerm());
  ASSIGN_OR_RETURN(const std::vector<SnapshotInfo> snapshots, store.ListSnapshots());
  const SnapshotFooter footer = TakeSnapshot(store, snapshots, recovered);
  recovered.last_term = std::max(recovered.last_term, footer.term);

  uint64_t expected = footer.from + 1;
  const auto hole = [&] {
    ++recovered.holes;
    recovered.restorer.ForgetVersions();
  };
  using Entry = std::pair<uint64_t, Result<core::Record>>;
  RETURN_IF_ERROR(ReadAhead<Entry>(
      [&](const auto& sink) {
        return store.ReadLog(footer.from, [&](uint64_t sequence, Result<core::Record> record) {
          sink(Entry(sequence, std::move(record)));
          return true;
        });
      },
      [&](Entry entry) {
        auto& [sequence, record] = entry;
        ++recovered.log_records;
        if (sequence != expected || !record.ok()) hole();
        if (record.ok()) recovered.restorer.Apply(std::move(record).value());
        expected = sequence + 1;
      }));
  // The snapshot was finished only when these records were durable.
  if (expected <= footer.until) {
    hole();
    expected = footer.until + 1;
  }
  recovered.last_sequence = expected - 1;
  return recovered;
}

}  // namespace mooncake
