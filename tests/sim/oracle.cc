#include "tests/sim/oracle.h"

namespace mooncake::sim {
namespace {

std::string Name(const std::string& key, PutId put_id) {
  return "key " + key + ", put " + std::to_string(put_id.value);
}

// The caller knows only that it cannot know.
bool Unknown(const Status& status) {
  return status.code() == ErrorCode::kRpcTimeout || status.code() == ErrorCode::kRpcFail;
}

}  // namespace

void Oracle::Violation(const std::string& what) {
  if (!violation_) {
    violation_ =
        "at " + std::to_string(world_.now().time_since_epoch().count() / 1000) + " us: " + what;
  }
}

void Oracle::Started(const std::string& key, PutId put_id, uint64_t size, uint64_t token) {
  if (!puts_.emplace(put_id.value, Put{key, size, token, false, false}).second) {
    Violation("put id given twice: " + Name(key, put_id));
  }
}

void Oracle::Close(const std::string& key) {
  auto& intervals = history_[key];
  if (!intervals.empty() && intervals.back().to == kNever) intervals.back().to = world_.now();
}

void Oracle::Committed(const std::string& key, PutId put_id) {
  const auto put = puts_.find(put_id.value);
  if (put == puts_.end())
    return Violation("P1: a put that never began was committed: " + Name(key, put_id));
  if (put->second.committed) return;  // a repeated End
  put->second.committed = true;
  if (put->second.refused)
    Violation("P3: committed after its writer was told that it failed: " + Name(key, put_id));
  if (put->second.key != key) Violation("P1: committed under another key: " + Name(key, put_id));
  Close(key);
  history_[key].push_back({put_id, world_.now(), kNever});
}

void Oracle::Removed(const std::string& key) { Close(key); }

void Oracle::Renamed(const std::string& from, const std::string& to) {
  auto& source = history_[from];
  if (from == to || source.empty() || source.back().to != kNever) return;
  const PutId put_id = source.back().put_id;
  Close(from);
  Close(to);
  history_[to].push_back({put_id, world_.now(), kNever});
}

void Oracle::MasterLostAll() {
  LossPossible();
  for (auto& [key, intervals] : history_) Close(key);
}

void Oracle::PutReturned(const std::string& key, PutId put_id, const Status& status) {
  const auto put = puts_.find(put_id.value);
  if (put == puts_.end()) return;
  if (status.ok() && !put->second.committed)
    Violation("P2: told OK, never committed: " + Name(key, put_id));
  if (status.ok() || Unknown(status)) return;
  put->second.refused = true;
  // "The put is gone" is true of one that was committed and then removed, as when an End was repeated.
  const auto& intervals = history_[key];
  const bool readable =
      !intervals.empty() && intervals.back().put_id == put_id && intervals.back().to == kNever;
  if (readable && last_loss_ < intervals.back().from)
    Violation("P3: told '" + status.ToString() + "' but readable: " + Name(key, put_id));
}

void Oracle::GetReturned(const std::string& key, TimePoint started, PutId put_id, uint64_t size,
                         const std::vector<Piece>& pieces) {
  ++reads_checked_;
  const auto put = puts_.find(put_id.value);
  if (put == puts_.end()) return Violation("P1: read a put that never began: " + Name(key, put_id));
  if (put->second.size != size) Violation("P1: wrong size: " + Name(key, put_id));
  uint64_t at = 0;
  for (const Piece& piece : pieces) {
    if (piece.token != put->second.token || piece.at != at) {
      return Violation("P1: foreign, torn or misplaced bytes at " + std::to_string(at) + " of " +
                       Name(key, put_id) + ": token " + std::to_string(piece.token) + " at " +
                       std::to_string(piece.at) + ", wanted token " +
                       std::to_string(put->second.token));
    }
    at += piece.length;
  }
  if (at != size)
    return Violation("P1: " + std::to_string(at) + " bytes read of " + std::to_string(size));
  for (const Interval& interval : history_[key]) {
    if (interval.put_id == put_id && interval.to >= started) return;
  }
  Violation("P1: stale or uncommitted: " + Name(key, put_id));
}

void Oracle::NotFoundReturned(const std::string& key, TimePoint started) {
  const auto& intervals = history_[key];
  if (intervals.empty() || intervals.back().to != kNever) return;
  if (intervals.back().from >= started || last_loss_ >= intervals.back().from) return;
  Violation("P2: not found, though nothing removed it: " + Name(key, intervals.back().put_id));
}

}  // namespace mooncake::sim
