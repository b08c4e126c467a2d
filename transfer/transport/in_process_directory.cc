#include "transfer/transport/in_process_directory.h"

#include <utility>

namespace mooncake {

Status InProcessDirectory::Publish(const PeerAddress& address, ServedSegments& segments) {
  auto entry = std::make_shared<Entry>();
  {
    WriterLock lock(entry->mutex);
    entry->segments = &segments;
  }
  WriterLock lock(mutex_);
  if (entries_.emplace(address, std::move(entry)).second) return Status::Ok();
  return Status(ErrorCode::kSegmentAlreadyExists,
                "node '" + address.endpoint + "' is published in this process already");
}

void InProcessDirectory::Withdraw(const PeerAddress& address) {
  std::shared_ptr<Entry> entry;
  {
    WriterLock lock(mutex_);
    const auto found = entries_.find(address);
    if (found == entries_.end()) return;
    entry = std::move(found->second);
    entries_.erase(found);
  }
  WriterLock lock(entry->mutex);
  entry->segments = nullptr;
}

std::shared_ptr<InProcessDirectory::Entry> InProcessDirectory::Find(
    const PeerAddress& address) const {
  ReaderLock lock(mutex_);
  const auto found = entries_.find(address);
  return found == entries_.end() ? nullptr : found->second;
}

}  // namespace mooncake
