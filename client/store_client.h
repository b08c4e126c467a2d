// The native API of Mooncake Store: immutable objects under string keys, in the pooled memory of many machines.
//
//   auto client = mooncake::Client::Connect({.master = "10.0.0.1:50051"});
//   if (!client.ok()) ...
//   (*client)->Put("k", mooncake::AsBytes("value"));
//   std::string value;
//   (*client)->Get("k", &value);
//
// All calls are safe from many threads. Each has a deadline: `timeout` of its options, else that of ClientOptions.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "master/api/types.h"
#include "transfer/base/byte_span.h"
#include "transfer/base/result.h"
#include "transfer/base/units.h"

namespace mooncake {

class MasterApi;

inline constexpr Duration kMaxCallTimeout = Seconds(86400);

// What a deadline needs on top for moving `bytes`, so that no value fails for its size alone: 16 MiB a second, less than
// any link that is worth having.
constexpr Duration TimeToMove(uint64_t bytes) {
  return Seconds(static_cast<int64_t>(bytes / (16 * kMiB)));
}

struct ClientOptions {
  std::string master = "127.0.0.1:50051";  // HOST:PORT
  std::string tenant = kDefaultTenant;
  Duration timeout = Seconds(30);  // of a call; 1 ms to 24 h
  std::string host_id;             // "" = this machine's id; equal ids share memory
  bool use_shared_memory = true;   // same-host reads without a copy over a socket
  int transfer_threads = 4;        // 1 to 256
  // "tcp", or "rdma": nodes with RDMA are reached over it, others over TCP. Connect fails with kNotSupported if this machine or
  // this build has none.
  std::string protocol = "tcp";
  // Called by a thread of the client when the master stops answering its pings (why), and when it answers again (OK). Must not
  // block nor call the client.
  std::function<void(const Status&)> on_master;
};

struct PutOptions {
  ReplicateConfig config;
  WriteMode mode = WriteMode::kCreate;
  PutId expected{0};  // kReplace only: see PutStartArgs
  std::optional<ObjectAttributes> attributes;
  bool checksum = false;  // CRC-32C in the seals, checked by every whole read
  Duration timeout{};     // 0 = the client's
};

struct PutResult {
  PutId version;
  uint32_t replicas = 0;  // written; may be fewer than asked for
};

// Bytes as the store counts them, seals and rounding included.
struct StoreSpace {
  uint64_t total = 0;
  uint64_t used = 0;     // may be more than `total`, when capacity was lost or a quota lowered
  uint64_t objects = 0;  // may count those being written
};

struct PutItem {
  std::string key;
  ByteSpan value;  // must stay until the call returns
};

struct GetItem {
  std::string key;
  MutableByteSpan buffer;  // at least as long as the object; kBufferOverflow otherwise
};

// Read-only bytes of this host's shared memory, without a copy. Its lease is renewed while it lives.
class ObjectView {
 public:
  virtual ~ObjectView() = default;
  virtual ByteSpan bytes() const = 0;
  virtual PutId version() const = 0;
  // False if the lease was lost (master or node gone, or this process was stopped too long): then what was read
  // from bytes() since the last true must not be trusted. Check it after reading.
  virtual bool Valid() const = 0;
};

// One version of one object, opened for reading. Its lease is renewed in the background until destruction, so
// the version stays readable after its key was removed, replaced or renamed. Thread-safe.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  virtual const ReplicaList& info() const = 0;  // version, size, attributes as opened
  // Fills `buffer` from `offset` and returns the bytes read: fewer only at the end of the object. 0 = at or past the
  // end. kLeaseExpired or kObjectNotFound: the version is gone; nothing in `buffer` may be used.
  virtual Result<uint64_t> Read(uint64_t offset, MutableByteSpan buffer, Duration timeout = {}) = 0;
  // kNotSupported unless a replica is one extent in memory of this host.
  virtual Result<std::unique_ptr<ObjectView>> View() = 0;
};

class Client {
 public:
  virtual ~Client() = default;

  // Init: reaches the master once. kRpcFail or kRpcTimeout when it does not answer within options.timeout.
  static Result<std::unique_ptr<Client>> Connect(const ClientOptions& options);

  // kObjectAlreadyExists (kCreate), kNoAvailableHandle (no room), kTransferFail. On any error nothing is
  // stored and an old value stays.
  virtual Result<PutResult> Put(std::string_view key, ByteSpan value,
                                const PutOptions& options = {}) = 0;
  // Gathers: the object is the concatenation.
  virtual Result<PutResult> PutParts(std::string_view key, std::span<const ByteSpan> parts,
                                     const PutOptions& options = {}) = 0;
  virtual std::vector<Result<PutResult>> BatchPut(std::span<const PutItem> items,
                                                  const PutOptions& options = {}) = 0;

  // Replaces *value. kObjectNotFound, kReplicaIsNotReady, kTransferFail (no replica could be read). A master that starts again is waited
  // for, and so are nodes that it has not heard of since: up to 5 s, no longer than the time-out; kUnavailableInCurrentStatus after that.
  virtual Status Get(std::string_view key, std::string* value, Duration timeout = {}) = 0;
  // Into the caller's buffer; the size of the object. kBufferOverflow if it is longer; the buffer is then untouched.
  virtual Result<uint64_t> GetInto(std::string_view key, MutableByteSpan buffer,
                                   Duration timeout = {}) = 0;
  virtual std::vector<Result<uint64_t>> BatchGet(std::span<const GetItem> items,
                                                 Duration timeout = {}) = 0;
  // Bytes read: fewer than buffer.size() only at the end of the object.
  virtual Result<uint64_t> GetRange(std::string_view key, uint64_t offset, MutableByteSpan buffer,
                                    Duration timeout = {}) = 0;
  // kNotSupported when no replica is in memory of this host.
  virtual Result<std::unique_ptr<ObjectView>> GetView(std::string_view key,
                                                      Duration timeout = {}) = 0;
  virtual Result<std::shared_ptr<ObjectReader>> Open(std::string_view key,
                                                     Duration timeout = {}) = 0;

  virtual Result<bool> ExistKey(std::string_view key, bool grant_lease = false,
                                Duration timeout = {}) = 0;
  virtual std::vector<Result<bool>> BatchExist(std::span<const std::string> keys,
                                               bool grant_lease = false, Duration timeout = {}) = 0;
  virtual Result<ObjectStat> Stat(std::string_view key, Duration timeout = {}) = 0;
  virtual std::vector<Result<ObjectStat>> BatchStat(std::span<const std::string> keys,
                                                    Duration timeout = {}) = 0;
  virtual Status SetAttributes(std::string_view key, PutId version,
                               const ObjectAttributes& attributes, Duration timeout = {}) = 0;

  virtual Status Remove(std::string_view key, bool force = false, Duration timeout = {}) = 0;
  virtual std::vector<Status> BatchRemove(std::span<const std::string> keys, bool force = false,
                                          Duration timeout = {}) = 0;
  // `pattern` is RE2 and is searched for anywhere in the key.
  virtual Result<RemoveByRegexReply> RemoveByRegex(const RemoveByRegexArgs& args,
                                                   Duration timeout = {}) = 0;
  // `args.tenant` is ignored: the client's own is used, here and in RemoveByRegex.
  virtual Result<ListReply> List(const ListArgs& args, Duration timeout = {}) = 0;
  virtual Status Rename(std::string_view from, std::string_view to, bool no_replace = false,
                        Duration timeout = {}) = 0;
  virtual Result<uint64_t> RenamePrefix(std::string_view from_prefix, std::string_view to_prefix,
                                        Duration timeout = {}) = 0;

  // Makes memory known to the devices of this host, so that with RDMA bytes go straight from and to it. Memory that is not known
  // works too, with a copy or a registration each time. Nothing happens over other paths. `memory` must stay until it is
  // unregistered by its start. kInvalidParams: overlaps memory that is registered. kNotSupported: the limit of locked memory.
  virtual Status RegisterMemory(MutableByteSpan memory) = 0;
  virtual Status UnregisterMemory(const std::byte* start) = 0;

  // What there is for this client's tenant: its quota, or with a master that keeps none, the whole store. Nothing for a tenant without a
  // quota where there are some.
  virtual Result<StoreSpace> Space(Duration timeout = {}) = 0;

  // The metadata service as this client sees it: status, segments, clients. Lives as long as the client.
  virtual MasterApi& master() = 0;
};

}  // namespace mooncake
