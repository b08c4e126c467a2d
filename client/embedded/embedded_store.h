// A whole store in one process: master, one node and a client that reaches both by function call and memcpy.
// The master's RPC port and the node's data sockets are served too, so that mooncake-admin and other clients see the
// same keys.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "client/store_client.h"
#include "transfer/base/result.h"
#include "transfer/base/units.h"

namespace mooncake {

struct EmbeddedOptions {
  uint64_t size = 256 * kMiB;      // bytes of the segment, rounded up to a page; at least 64 KiB
  std::string host = "127.0.0.1";  // numeric address that the RPC and data ports listen on
  uint16_t rpc_port = 0;           // 0 = any free one, see rpc_address()
  std::string node_name;           // "" = "embedded-" and the process id
  std::string host_id;             // "" = this machine's id
  bool huge_pages = false;         // fail rather than do without
  bool prefault = false;           // touch all pages in Create: slow start, no page faults later
  ClientOptions client;  // of client(); `master` is not used, `host_id` is taken from above

  // kInvalidParams with the option, its value and what is allowed.
  Status Validate() const;
};

// Thread-safe. Created once per process as a rule; several are independent stores.
class EmbeddedStore {
 public:
  virtual ~EmbeddedStore() =
      default;  // as Stop(); every Client, reader and view of it must be gone

  // Serves when it returns. kInvalidParams; kTransferFail or kRpcFail when a port or memory cannot be had: the
  // message names cause and cure.
  static Result<std::unique_ptr<EmbeddedStore>> Create(const EmbeddedOptions& options);

  // Lives as long as the store.
  virtual Client& client() = 0;
  // Another client of the same store, e.g. for another tenant; must be destroyed before the store.
  virtual Result<std::unique_ptr<Client>> NewClient(const ClientOptions& options) = 0;
  virtual MasterApi& master() = 0;

  // HOST:PORT of the RPC service, with the port that was really bound.
  virtual const std::string& rpc_address() const = 0;
  virtual uint64_t capacity() const = 0;

  // Closes the ports, unmounts and frees the memory; calls of clients fail from now on. Idempotent.
  virtual void Stop() = 0;
};

}  // namespace mooncake
