// The Client that users get: checks arguments, then hands over to the parts that do the work.
#pragma once

#include <memory>

#include "client/client_context.h"
#include "client/store_client.h"

namespace mooncake::internal {

// Thread-safe.
class StoreClient final : public Client {
 public:
  explicit StoreClient(std::shared_ptr<ClientContext> context) : context_(std::move(context)) {}
  ~StoreClient() override;

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

  Status RegisterMemory(MutableByteSpan memory) override {
    return context_->data.RegisterMemory(memory);
  }
  Status UnregisterMemory(const std::byte* start) override {
    return context_->data.UnregisterMemory(start);
  }

  Result<StoreSpace> Space(Duration timeout) override;

  MasterApi& master() override { return *context_->master; }

 private:
  Status CheckCall(Duration timeout) const;
  Status CheckCall(std::string_view key, Duration timeout) const;
  PutOptions Completed(const PutOptions& options) const;

  const std::shared_ptr<ClientContext> context_;
};

}  // namespace mooncake::internal
