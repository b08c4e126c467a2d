// A store in a map: what the file system's unit tests run on. Versions, attributes, listing and renaming behave as
// client/store_client.h says; there are no leases, so every version stays readable to who opened it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/store_client.h"
#include "tests/support/null_master.h"
#include "transfer/base/mutex.h"

namespace mooncake::testing {

class FakeClient final : public Client {
 public:
  FakeClient() = default;

  // --- for tests ---
  // Called before each operation with its name ("Put", "List", …) and key; an error is returned as its result.
  using Fault = std::function<Status(std::string_view operation, std::string_view key)>;
  void SetFault(Fault fault);
  int CallsOf(const std::string& operation) const;
  std::string ValueOf(const std::string& key) const;  // "<none>" if missing
  bool Has(const std::string& key) const { return ValueOf(key) != "<none>"; }
  std::vector<std::string> Keys() const;
  void Store(const std::string& key, const std::string& value);  // as another client would
  uint64_t capacity = uint64_t{1} << 30;

  // --- Client ---
  Result<PutResult> Put(std::string_view key, ByteSpan value, const PutOptions& options) override;
  Result<PutResult> PutParts(std::string_view key, std::span<const ByteSpan> parts,
                             const PutOptions& options) override;
  std::vector<Result<PutResult>> BatchPut(std::span<const PutItem> items,
                                          const PutOptions& options) override;
  Status Get(std::string_view key, std::string* value, Duration timeout) override;
  Result<uint64_t> GetInto(std::string_view key, MutableByteSpan buffer, Duration timeout) override;
  std::vector<Result<uint64_t>> BatchGet(std::span<const GetItem> items, Duration timeout) override;
  Result<uint64_t> GetRange(std::string_view key, uint64_t offset, MutableByteSpan buffer,
                            Duration timeout) override;
  Result<std::unique_ptr<ObjectView>> GetView(std::string_view key, Duration timeout) override;
  Result<std::shared_ptr<ObjectReader>> Open(std::string_view key, Duration timeout) override;
  Result<bool> ExistKey(std::string_view key, bool grant_lease, Duration timeout) override;
  std::vector<Result<bool>> BatchExist(std::span<const std::string> keys, bool grant_lease,
                                       Duration timeout) override;
  Result<ObjectStat> Stat(std::string_view key, Duration timeout) override;
  std::vector<Result<ObjectStat>> BatchStat(std::span<const std::string> keys,
                                            Duration timeout) override;
  Status SetAttributes(std::string_view key, PutId version, const ObjectAttributes& attributes,
                       Duration timeout) override;
  Status Remove(std::string_view key, bool force, Duration timeout) override;
  std::vector<Status> BatchRemove(std::span<const std::string> keys, bool force,
                                  Duration timeout) override;
  Result<RemoveByRegexReply> RemoveByRegex(const RemoveByRegexArgs& args,
                                           Duration timeout) override;
  Result<ListReply> List(const ListArgs& args, Duration timeout) override;
  Status Rename(std::string_view from, std::string_view to, bool no_replace,
                Duration timeout) override;
  Result<uint64_t> RenamePrefix(std::string_view from_prefix, std::string_view to_prefix,
                                Duration timeout) override;
  Status RegisterMemory(MutableByteSpan) override { return Status::Ok(); }
  Status UnregisterMemory(const std::byte*) override { return Status::Ok(); }
  Result<StoreSpace> Space(Duration timeout) override;
  MasterApi& master() override { return master_; }

 private:
  struct Object {
    ObjectStat stat;
    std::shared_ptr<const std::string> value;
  };
  class Reader;

  Status Enter(const std::string& operation, std::string_view key);
  ObjectStat StatOf(const Object& object) const;

  mutable Mutex mutex_;
  std::map<std::string, Object, std::less<>> objects_ MC_GUARDED_BY(mutex_);
  std::map<std::string, int> calls_ MC_GUARDED_BY(mutex_);
  Fault fault_ MC_GUARDED_BY(mutex_);
  uint64_t next_put_ MC_GUARDED_BY(mutex_) = 0;
  NullMaster master_;
};

}  // namespace mooncake::testing
