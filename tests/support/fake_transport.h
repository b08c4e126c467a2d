// A transport for tests: moves real bytes of nodes in this process, and fails where and how it is told.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "transfer/base/clock.h"
#include "transfer/base/guarded.h"
#include "transfer/transport/in_process_directory.h"
#include "transfer/transport/transport.h"

namespace mooncake::testing {

// What becomes of a slice.
struct FakeFault {
  Status status;            // not OK
  bool move_first = false;  // the bytes arrive all the same: the outcome that nobody knows
};

// Thread-safe; shares its programme with its connections, which may outlive it.
class FakeTransport final : public Transport {
 public:
  // Asked for each slice before it moves; return an OK status to let it pass.
  using SliceHook = std::function<FakeFault(const PeerAddress&, const Slice&)>;

  explicit FakeTransport(const Clock& clock, std::string name = "fake",
                         TransportCapabilities capabilities = {.views = true});

  // `segments` must live until RemoveNode().
  void AddNode(const PeerAddress& peer, ServedSegments& segments);
  // As if its process had died: connections break, connecting fails.
  void RemoveNode(const PeerAddress& peer);

  // Connecting to `peer` fails with `status` (OK: works again).
  void SetConnectFault(const PeerAddress& peer, Status status);
  // Everything on connections to `peer` ends like this (OK: works again). A frozen node is kRpcTimeout, told at
  // once, since waiting for a deadline proves nothing more.
  void SetPeerFault(const PeerAddress& peer, Status status);
  void SetSliceHook(SliceHook hook);
  // All connections are broken for good, new ones work.
  void BreakConnections();

  uint64_t connects(const PeerAddress& peer) const;  // tried
  uint64_t slices() const;                           // executed, failed ones too
  uint64_t batches() const;
  uint64_t fences() const;

  std::string_view name() const override { return name_; }
  TransportCapabilities capabilities() const override { return capabilities_; }
  bool CanReach(const PeerAddress& peer) const override;
  Result<std::shared_ptr<Connection>> Connect(const PeerAddress& peer, TimePoint deadline) override;
  Status RegisterMemory(MutableByteSpan memory) override;
  Status UnregisterMemory(const std::byte* start) override;

  struct State;

 private:
  const std::string name_;
  const TransportCapabilities capabilities_;
  std::shared_ptr<InProcessDirectory> directory_;
  std::unique_ptr<Transport> real_;
  std::shared_ptr<State> state_;
};

}  // namespace mooncake::testing
