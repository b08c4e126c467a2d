#include "tests/unit/fuse/fake_client.h"

#include <algorithm>

namespace mooncake::testing {
namespace {

constexpr uint64_t kFirstPut = uint64_t{60'000'000} << 34;

Status NotFound(std::string_view key) {
  return Status(ErrorCode::kObjectNotFound, "key '" + std::string(key) + "'");
}
Status NotFaked() { return Status(ErrorCode::kNotSupported, "FakeClient"); }

}  // namespace

class FakeClient::Reader final : public ObjectReader {
 public:
  Reader(FakeClient& owner, std::string key, const Object& object)
      : owner_(owner), key_(std::move(key)), value_(object.value) {
    info_.put_id = object.stat.put_id;
    info_.size = object.value->size();
    info_.attributes = object.stat.attributes;
    info_.created_ms = object.stat.created_ms;
  }
  const ReplicaList& info() const override { return info_; }
  Result<uint64_t> Read(uint64_t offset, MutableByteSpan buffer, Duration) override {
    RETURN_IF_ERROR(owner_.Enter("Read", key_));
    if (offset >= value_->size()) return uint64_t{0};
    const uint64_t n = std::min<uint64_t>(buffer.size(), value_->size() - offset);
    const auto* from = reinterpret_cast<const std::byte*>(value_->data()) + offset;
    std::copy(from, from + n, buffer.data());
    return n;
  }
  Result<std::unique_ptr<ObjectView>> View() override { return NotFaked(); }

 private:
  FakeClient& owner_;
  const std::string key_;
  const std::shared_ptr<const std::string> value_;
  ReplicaList info_;
};

Result<StoreSpace> FakeClient::Space(Duration) {
  RETURN_IF_ERROR(Enter("Space", ""));
  MutexLock lock(mutex_);
  StoreSpace space;
  space.total = capacity;
  for (const auto& [key, object] : objects_) space.used += object.value->size();
  space.objects = objects_.size();
  return space;
}

void FakeClient::SetFault(Fault fault) {
  MutexLock lock(mutex_);
  fault_ = std::move(fault);
}

int FakeClient::CallsOf(const std::string& operation) const {
  MutexLock lock(mutex_);
  const auto it = calls_.find(operation);
  return it == calls_.end() ? 0 : it->second;
}

std::string FakeClient::ValueOf(const std::string& key) const {
  MutexLock lock(mutex_);
  const auto it = objects_.find(key);
  return it == objects_.end() ? "<none>" : *it->second.value;
}

std::vector<std::string> FakeClient::Keys() const {
  MutexLock lock(mutex_);
  std::vector<std::string> keys;
  for (const auto& [key, object] : objects_) keys.push_back(key);
  return keys;
}

void FakeClient::Store(const std::string& key, const std::string& value) {
  MutexLock lock(mutex_);
  Object& object = objects_[key];
  object.stat = ObjectStat{
      .put_id = PutId{kFirstPut + ++next_put_}, .size = value.size(), .created_ms = 1000};
  object.value = std::make_shared<const std::string>(value);
}

Status FakeClient::Enter(const std::string& operation, std::string_view key) {
  Fault fault;
  {
    MutexLock lock(mutex_);
    ++calls_[operation];
    fault = fault_;
  }
  return fault ? fault(operation, key) : Status::Ok();
}

Result<PutResult> FakeClient::Put(std::string_view key, ByteSpan value, const PutOptions& options) {
  const ByteSpan parts[] = {value};
  return PutParts(key, parts, options);
}

Result<PutResult> FakeClient::PutParts(std::string_view key, std::span<const ByteSpan> parts,
                                       const PutOptions& options) {
  RETURN_IF_ERROR(Enter("Put", key));
  if (key.empty() || key.size() > kMaxKeyBytes) return Status(ErrorCode::kInvalidKey, "length");
  std::string value;
  for (const ByteSpan part : parts) value += AsText(part);
  MutexLock lock(mutex_);
  const auto it = objects_.find(key);
  if (options.mode == WriteMode::kCreate && it != objects_.end()) {
    return Status(ErrorCode::kObjectAlreadyExists, std::string(key));
  }
  if (value.size() > capacity) return Status(ErrorCode::kNoAvailableHandle, "full");
  Object& object = objects_[std::string(key)];
  object.stat.put_id = PutId{kFirstPut + ++next_put_};
  object.stat.size = value.size();
  object.stat.attributes = options.attributes;
  object.stat.created_ms = 1000;
  object.value = std::make_shared<const std::string>(std::move(value));
  return PutResult{.version = object.stat.put_id, .replicas = 1};
}

std::vector<Result<PutResult>> FakeClient::BatchPut(std::span<const PutItem> items,
                                                    const PutOptions&) {
  return std::vector<Result<PutResult>>(items.size(), NotFaked());
}

Status FakeClient::Get(std::string_view key, std::string* value, Duration) {
  RETURN_IF_ERROR(Enter("Get", key));
  MutexLock lock(mutex_);
  const auto it = objects_.find(key);
  if (it == objects_.end()) return NotFound(key);
  *value = *it->second.value;
  return Status::Ok();
}

Result<uint64_t> FakeClient::GetInto(std::string_view, MutableByteSpan, Duration) {
  return NotFaked();
}
std::vector<Result<uint64_t>> FakeClient::BatchGet(std::span<const GetItem> items, Duration) {
  return std::vector<Result<uint64_t>>(items.size(), NotFaked());
}
Result<uint64_t> FakeClient::GetRange(std::string_view, uint64_t, MutableByteSpan, Duration) {
  return NotFaked();
}
Result<std::unique_ptr<ObjectView>> FakeClient::GetView(std::string_view, Duration) {
  return NotFaked();
}

Result<std::shared_ptr<ObjectReader>> FakeClient::Open(std::string_view key, Duration) {
  RETURN_IF_ERROR(Enter("Open", key));
  MutexLock lock(mutex_);
  const auto it = objects_.find(key);
  if (it == objects_.end()) return NotFound(key);
  return std::shared_ptr<ObjectReader>(
      std::make_shared<Reader>(*this, std::string(key), it->second));
}

Result<bool> FakeClient::ExistKey(std::string_view key, bool, Duration) {
  MutexLock lock(mutex_);
  return objects_.contains(key);
}
std::vector<Result<bool>> FakeClient::BatchExist(std::span<const std::string> keys, bool,
                                                 Duration) {
  return std::vector<Result<bool>>(keys.size(), NotFaked());
}

ObjectStat FakeClient::StatOf(const Object& object) const { return object.stat; }

Result<ObjectStat> FakeClient::Stat(std::string_view key, Duration) {
  RETURN_IF_ERROR(Enter("Stat", key));
  MutexLock lock(mutex_);
  const auto it = objects_.find(key);
  if (it == objects_.end()) return NotFound(key);
  return StatOf(it->second);
}

std::vector<Result<ObjectStat>> FakeClient::BatchStat(std::span<const std::string> keys,
                                                      Duration timeout) {
  std::vector<Result<ObjectStat>> results;
  for (const std::string& key : keys) results.push_back(Stat(key, timeout));
  return results;
}

Status FakeClient::SetAttributes(std::string_view key, PutId version,
                                 const ObjectAttributes& attributes, Duration) {
  RETURN_IF_ERROR(Enter("SetAttributes", key));
  MutexLock lock(mutex_);
  const auto it = objects_.find(key);
  if (it == objects_.end()) return NotFound(key);
  if (version != kNoPut && version != it->second.stat.put_id)
    return Status(ErrorCode::kInvalidVersion, "version");
  it->second.stat.attributes = attributes;
  return Status::Ok();
}

Status FakeClient::Remove(std::string_view key, bool, Duration) {
  RETURN_IF_ERROR(Enter("Remove", key));
  MutexLock lock(mutex_);
  const auto it = objects_.find(key);
  if (it == objects_.end()) return NotFound(key);
  objects_.erase(it);
  return Status::Ok();
}
std::vector<Status> FakeClient::BatchRemove(std::span<const std::string> keys, bool, Duration) {
  return std::vector<Status>(keys.size(), NotFaked());
}
Result<RemoveByRegexReply> FakeClient::RemoveByRegex(const RemoveByRegexArgs&, Duration) {
  return NotFaked();
}

Result<ListReply> FakeClient::List(const ListArgs& args, Duration) {
  RETURN_IF_ERROR(Enter("List", args.prefix));
  MutexLock lock(mutex_);
  ListReply reply;
  for (auto it = objects_.lower_bound(args.prefix);
       it != objects_.end() && it->first.starts_with(args.prefix);) {
    ListEntry entry{.key = it->first};
    const size_t cut = args.delimiter.empty() ? std::string::npos
                                              : it->first.find(args.delimiter, args.prefix.size());
    if (cut != std::string::npos) {
      entry.key = it->first.substr(0, cut + args.delimiter.size());
      entry.is_prefix = true;
      while (it != objects_.end() && it->first.starts_with(entry.key)) ++it;
    } else {
      entry.stat = StatOf(it->second);
      ++it;
    }
    if (!args.start_after.empty() && entry.key <= args.start_after) continue;
    if (reply.entries.size() == args.limit) {
      reply.truncated = true;
      break;
    }
    reply.entries.push_back(std::move(entry));
  }
  return reply;
}

Status FakeClient::Rename(std::string_view from, std::string_view to, bool no_replace, Duration) {
  RETURN_IF_ERROR(Enter("Rename", from));
  MutexLock lock(mutex_);
  const auto it = objects_.find(from);
  if (it == objects_.end()) return NotFound(from);
  if (from == to) return Status::Ok();
  if (no_replace && objects_.contains(to))
    return Status(ErrorCode::kObjectAlreadyExists, std::string(to));
  Object moved = it->second;
  objects_.erase(it);
  objects_[std::string(to)] = std::move(moved);
  return Status::Ok();
}

Result<uint64_t> FakeClient::RenamePrefix(std::string_view from_prefix, std::string_view to_prefix,
                                          Duration) {
  RETURN_IF_ERROR(Enter("RenamePrefix", from_prefix));
  MutexLock lock(mutex_);
  std::vector<std::string> keys;
  for (const auto& [key, object] : objects_) {
    if (key.starts_with(from_prefix)) keys.push_back(key);
  }
  const auto target = [&](const std::string& key) {
    return std::string(to_prefix) + key.substr(from_prefix.size());
  };
  for (const std::string& key : keys) {
    if (objects_.contains(target(key))) return Status(ErrorCode::kObjectAlreadyExists, key);
  }
  for (const std::string& key : keys) {
    Object moved = objects_[key];
    objects_.erase(key);
    objects_[target(key)] = std::move(moved);
  }
  return keys.size();
}

}  // namespace mooncake::testing
