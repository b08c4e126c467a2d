#include "master/core/persist/journal.h"

#include <algorithm>

#include "transfer/base/check.h"

namespace mooncake::core {

void Journal::Resume(uint64_t sequence) {
  on_ = durability_ != Durability::kNone;
  last_ = durable_ = sequence;
}

uint64_t Journal::Append(Record record) {
  if (const auto* version = std::get_if<VersionRecord>(&record);
      version != nullptr && !untaken_.empty()) {
    const auto* gone = std::get_if<NameGoneRecord>(&untaken_.back().record);
    if (gone != nullptr && gone->key == version->key && gone->tenant == version->tenant) {
      untaken_.back().record = std::move(record);
      return last_;
    }
  }
  untaken_.push_back({++last_, std::move(record)});
  return last_;
}

std::vector<LogRecord> Journal::Take() { return std::exchange(untaken_, {}); }

// FNV-1a with a spread: equal in every run, unlike Abseil's.
uint64_t Journal::HashOf(std::string_view tenant, std::string_view key) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : tenant) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ 0x100) * 0x100000001b3;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

void Journal::Pend(std::string_view tenant, std::string_view key, uint64_t sequence) {
  const uint64_t hash = HashOf(tenant, key);
  pending_[hash] = sequence;
  pending_order_.push_back({sequence, hash});
  pend_any_ = sequence;
}

uint64_t Journal::ShownBy(std::string_view tenant, std::string_view key) const {
  if (ShownByAny() == 0) return 0;
  uint64_t wanted = pend_all_ > durable_ ? pend_all_ : 0;
  const auto found = pending_.find(HashOf(tenant, key));
  if (found != pending_.end()) wanted = std::max(wanted, found->second);
  return wanted > durable_ ? wanted : 0;
}

void Journal::Hold(Held held) {
  if (!held_.empty()) held.sequence = std::max(held.sequence, held_.back().sequence);
  held_.push_back(std::move(held));
}

void Journal::Durable(uint64_t sequence) {
  MC_CHECK(sequence <= last_) << sequence << " of " << last_;
  durable_ = std::max(durable_, sequence);
  for (; !pending_order_.empty() && pending_order_.front().first <= durable_;
       pending_order_.pop_front()) {
    const auto found = pending_.find(pending_order_.front().second);
    if (found != pending_.end() && found->second <= durable_) pending_.erase(found);
  }
}

bool Journal::NextFree(Held& out) {
  if (held_.empty() || held_.front().sequence > durable_) return false;
  out = std::move(held_.front());
  held_.pop_front();
  return true;
}

}  // namespace mooncake::core
