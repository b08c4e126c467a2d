// A store node: the real NodeCore, memory modelled as tokens, and the gate that transfers pass (epoch, grant, fence), as
// transfer/transport/served_segments states it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "storenode/core/node_core.h"
#include "tests/sim/world.h"
#include "transfer/base/seal.h"

namespace mooncake::sim {

class MasterActor;
class MasterLink;
using Masters = std::vector<std::unique_ptr<MasterActor>>;

// Bugs planted on purpose: the checkers must find each (README.md, "Canaries").
enum class Canary : uint8_t {
  kNone,
  kNoEpochCheck,     // nodes serve transfers of any epoch
  kNoWriteDeadline,  // nodes accept writes whose grant ended
  kNoLeaseCheck,  // readers keep what they read after their lease ended, and do not look at the seal
  kShortLease,  // the master frees earlier than it told the reader, and readers do not look at the seal
  kEndWithoutPutId,      // the master ends whichever write is in progress on the key
  kRevokeUnsettled,      // writers give space back while their writes may still be on the way
  kReuseBeforeDurable,   // space is used again before the log says so
  kNoLeaseOnRestore,     // a master takes over and grants what is there no lease
  kKeepOldEpoch,         // a master that takes over serves segments in their old epoch
  kAnswerBeforeDurable,  // answers do not wait for the log
  kNoQuietTime,          // a master that takes over acknowledges while its predecessor may go on
  kAnswersWhenDeposed,   // a master goes on to answer although another one may lead
};

// A run of bytes of one put: `token` says whose, `at` where in its object they belong.
struct Piece {
  uint64_t length = 0;
  uint64_t token = 0;
  uint64_t at = 0;
};

// Bytes of one segment. A place never written reads as token 0.
class SegmentMemory {
 public:
  void Write(uint64_t offset, uint64_t length, uint64_t token, uint64_t at);
  void WriteSeal(uint64_t offset, const Seal& seal);
  std::vector<Piece> Read(uint64_t offset, uint64_t length) const;
  // Nothing where no seal lies.
  std::optional<Seal> ReadSeal(uint64_t offset) const;

 private:
  void Clear(uint64_t offset, uint64_t length);
  std::map<uint64_t, Piece> pieces_;
  std::map<uint64_t, Seal> seals_;
};

struct ReadReply {
  Status status;
  std::vector<Piece> pieces;
  std::optional<Seal> seal;
};

class NodeActor final : public Actor {
 public:
  NodeActor(World& world, int id, std::string name, Masters& masters, uint64_t segment_bytes,
            Canary canary);
  ~NodeActor() override;

  void OnCrash() override;
  void OnRestart() override;

  // Says that it leaves, goes on for `grace`, unmounts and ends; starts again as a new one after `pause`.
  void Leave(Duration grace, Duration pause);
  bool leaving() const { return leaving_; }

  const SegmentId& segment() const { return segment_; }
  bool mounted() const { return core_ && core_->phase() == NodePhase::kMounted; }

  // One half of a read: admission, then bytes as they are now. `by_mapping`: from another process of this host, which
  // reads the epoch word itself (so a frozen node serves too).
  ReadReply Read(const SegmentId& segment, AccessEpoch epoch, uint64_t offset, uint64_t length,
                 bool seal) const;
  struct WriteChunk {
    SegmentId segment;
    AccessEpoch epoch;
    WriteGrant grant;
    uint64_t offset = 0;
    uint64_t length = 0;
    uint64_t token = 0;
    uint64_t at = 0;
    std::optional<Seal> seal;  // then the chunk ends with it, at seal_offset
    uint64_t seal_offset = 0;
    uint64_t request = 0;  // chunks of one request were admitted together
  };
  Status Write(const WriteChunk& chunk);
  Status Fence(PutId put_id);

 private:
  void Start();
  void Beat();
  void OnPing(TimePoint sent, const std::optional<Result<PingReply>>& reply);
  void UpdateClock();
  Status CheckTarget(const SegmentId& segment, AccessEpoch epoch) const;
  Status Admit(const WriteChunk& chunk) const;
  SegmentDescriptor Describe() const;

  const std::unique_ptr<MasterLink> master_;
  const uint64_t segment_bytes_;
  const Canary canary_;
  uint64_t lives_ = 0;
  ClientId client_;
  SegmentId segment_;
  AccessEpoch epoch_{0};
  std::unique_ptr<NodeCore> core_;
  std::optional<MasterClockSample> clock_;  // nothing until the epoch belongs to the clock's master
  Term clock_term_{};
  bool leaving_ = false;
  SegmentMemory memory_;
  std::set<uint64_t> fenced_;
  std::map<uint64_t, TimePoint> admitted_;
};

}  // namespace mooncake::sim
