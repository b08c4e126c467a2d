// Calls that move bytes.
#include <algorithm>
#include <new>
#include <stdexcept>

#include "client/arguments.h"
#include "client/key_reader.h"
#include "client/object_reader.h"
#include "client/store_client_impl.h"
#include "transfer/base/units.h"

namespace mooncake::internal {
namespace {

constexpr ByteRange kWhole{.offset = 0, .length = UINT64_MAX};

Status NoMemoryAt(uint64_t size) {
  return Status(ErrorCode::kInvalidParams,
                "a null pointer with " + std::to_string(size) + " bytes");
}

Result<uint64_t> SizeOf(std::span<const ByteSpan> parts) {
  uint64_t size = 0;
  for (const ByteSpan part : parts) {
    if (part.data() == nullptr && !part.empty()) return NoMemoryAt(part.size());
    if (part.size() > kMaxObjectBytes - size) {
      return Status(ErrorCode::kInvalidParams,
                    "the parts add up to more than " + FormatSize(kMaxObjectBytes));
    }
    size += part.size();
  }
  return size;
}

// The whole object or nothing: the buffer stays untouched if it is too short.
Result<MutableByteSpan> FitWhole(MutableByteSpan buffer, uint64_t size) {
  if (buffer.data() == nullptr && !buffer.empty()) return NoMemoryAt(buffer.size());
  if (size <= buffer.size()) return buffer.first(size);
  return Status(ErrorCode::kBufferOverflow, "the object has " + std::to_string(size) +
                                                " bytes, the buffer " +
                                                std::to_string(buffer.size()));
}

Result<MutableByteSpan> Grow(std::string& value, uint64_t size) {
  try {
    value.resize(size);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kBufferOverflow, "no memory for an object of " + FormatSize(size));
  } catch (const std::length_error&) {
    return Status(ErrorCode::kBufferOverflow,
                  "no string can hold an object of " + FormatSize(size));
  }
  return MutableByteSpan(reinterpret_cast<std::byte*>(value.data()), size);
}

Result<uint64_t> ReadOne(ClientContext& context, KeyRead read, Duration timeout) {
  KeyRead* const reads[] = {&read};
  ReadKeys(context, reads, context.DeadlineOf(timeout));
  return std::move(read.result);
}

}  // namespace

Result<PutResult> StoreClient::Put(std::string_view key, ByteSpan value,
                                   const PutOptions& options) {
  return PutParts(key, {&value, 1}, options);
}

Result<PutResult> StoreClient::PutParts(std::string_view key, std::span<const ByteSpan> parts,
                                        const PutOptions& options) {
  RETURN_IF_ERROR(CheckCall(key, options.timeout));
  ASSIGN_OR_RETURN(const uint64_t size, SizeOf(parts));
  RETURN_IF_ERROR(CheckPut(size, options));
  PutJob job{.name = context_->NameOf(key), .parts = parts, .size = size};
  PutJob* const jobs[] = {&job};
  context_->writer.Put(jobs, Completed(options), context_->DeadlineOf(options.timeout));
  return std::move(job.result);
}

std::vector<Result<PutResult>> StoreClient::BatchPut(std::span<const PutItem> items,
                                                     const PutOptions& options) {
  const TimePoint deadline = context_->DeadlineOf(options.timeout);
  std::vector<PutJob> jobs(items.size());
  std::vector<ByteSpan> values(items.size());
  std::vector<PutJob*> good;
  for (size_t i = 0; i < items.size(); ++i) {
    values[i] = items[i].value;
    jobs[i] = {
        .name = context_->NameOf(items[i].key), .parts = {&values[i], 1}, .size = values[i].size()};
    Status status = CheckCall(items[i].key, options.timeout);
    if (status.ok()) status = SizeOf(jobs[i].parts).status();
    if (status.ok()) status = CheckPut(jobs[i].size, options);
    if (status.ok()) {
      good.push_back(&jobs[i]);
    } else {
      jobs[i].result = status;
    }
  }
  context_->writer.Put(good, Completed(options), deadline);
  std::vector<Result<PutResult>> results;
  for (PutJob& job : jobs) results.push_back(std::move(job.result));
  return results;
}

Status StoreClient::Get(std::string_view key, std::string* value, Duration timeout) {
  RETURN_IF_ERROR(CheckCall(key, timeout));
  if (value == nullptr) return Status(ErrorCode::kInvalidParams, "value is a null pointer");
  KeyRead read{.name = context_->NameOf(key), .range = kWhole, .provide = [value](uint64_t size) {
                 return Grow(*value, size);
               }};
  const Result<uint64_t> size = ReadOne(*context_, std::move(read), timeout);
  // Bytes of a failed read must not be taken for the object (F044).
  if (!size.ok()) value->clear();
  return size.status();
}

Result<uint64_t> StoreClient::GetInto(std::string_view key, MutableByteSpan buffer,
                                      Duration timeout) {
  RETURN_IF_ERROR(CheckCall(key, timeout));
  return ReadOne(*context_,
                 {.name = context_->NameOf(key),
                  .range = kWhole,
                  .provide = [buffer](uint64_t size) { return FitWhole(buffer, size); }},
                 timeout);
}

std::vector<Result<uint64_t>> StoreClient::BatchGet(std::span<const GetItem> items,
                                                    Duration timeout) {
  const TimePoint deadline = context_->DeadlineOf(timeout);
  std::vector<KeyRead> reads(items.size());
  std::vector<KeyRead*> good;
  for (size_t i = 0; i < items.size(); ++i) {
    const Status status = CheckCall(items[i].key, timeout);
    if (!status.ok()) {
      reads[i].result = status;
      continue;
    }
    reads[i].name = context_->NameOf(items[i].key);
    reads[i].range = kWhole;
    reads[i].provide = [buffer = items[i].buffer](uint64_t size) { return FitWhole(buffer, size); };
    good.push_back(&reads[i]);
  }
  ReadKeys(*context_, good, deadline);
  std::vector<Result<uint64_t>> results;
  for (KeyRead& read : reads) results.push_back(std::move(read.result));
  return results;
}

Result<uint64_t> StoreClient::GetRange(std::string_view key, uint64_t offset,
                                       MutableByteSpan buffer, Duration timeout) {
  RETURN_IF_ERROR(CheckCall(key, timeout));
  return ReadOne(*context_,
                 {.name = context_->NameOf(key),
                  .range = {.offset = offset, .length = buffer.size()},
                  .provide = [buffer](uint64_t size) { return FitWhole(buffer, size); }},
                 timeout);
}

Result<std::unique_ptr<ObjectView>> StoreClient::GetView(std::string_view key, Duration timeout) {
  RETURN_IF_ERROR(CheckCall(key, timeout));
  return OpenView(context_, context_->NameOf(key), context_->DeadlineOf(timeout));
}

Result<std::shared_ptr<ObjectReader>> StoreClient::Open(std::string_view key, Duration timeout) {
  RETURN_IF_ERROR(CheckCall(key, timeout));
  return OpenReader(context_, context_->NameOf(key), context_->DeadlineOf(timeout));
}

}  // namespace mooncake::internal
