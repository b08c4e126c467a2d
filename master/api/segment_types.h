// The part of the vocabulary that is about segments, the clients that own them, and the cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transfer/base/ids.h"
#include "transfer/base/strong_id.h"
#include "transfer/base/time.h"

namespace mooncake {

using ClientId = Uuid<struct ClientIdTag>;  // a process: writer, reader or node; new at every start
using Term = StrongId<struct TermTag>;

enum class SegmentStatus : uint8_t {
  kUndefined = 0,
  kOk = 1,
  kDraining = 2,
  kDrained = 3,
  kGracefullyUnmounting = 4,
  kUnmounting = 5,
};

// What a node lends, and how to reach it.
struct SegmentDescriptor {
  SegmentId id;
  std::string name;  // unique in the cluster; a restart under the same name replaces the old life
  uint64_t size = 0;
  AccessEpoch epoch;
  ClientId owner;        // the node's id
  std::string host_id;   // the machine: replicas are spread over hosts; equal = same host
  std::string protocol;  // "tcp" or "rdma"
  std::string endpoint;  // HOST:PORT of the node's data server
  std::string
      local_socket;  // Unix socket ("@" = abstract) that hands the region to clients of the same host
  friend bool operator==(const SegmentDescriptor&, const SegmentDescriptor&) = default;
};

struct SegmentInfo {
  SegmentDescriptor descriptor;
  SegmentStatus status = SegmentStatus::kUndefined;
  uint64_t used = 0;          // bytes of live extents, seals and rounding included
  uint64_t largest_free = 0;  // the largest hole
  uint64_t object_count = 0;  // replicas
  bool quarantined = false;   // clients had trouble with it: for a while nothing new goes there
};

struct ClientInfo {
  ClientId id;
  std::string address;  // as the client told it
  Duration since_ping{};
  uint32_t segment_count = 0;
};

// Numeric addresses of a client: those in what it told Ping, and of its segments' endpoints.
struct ClientAddresses {
  ClientId client;
  std::vector<std::string> addresses;  // each once; IPv6 without brackets and scope
  friend bool operator==(const ClientAddresses&, const ClientAddresses&) = default;
};

enum class PingStatus : uint8_t { kOk = 0, kNeedRemount = 1 };

struct PingReply {
  PingStatus status =
      PingStatus::kOk;  // kNeedRemount: this client has segments which the master does not know
  Term term;
  int64_t master_now_ms = 0;  // the master's monotonic clock, for write deadlines
  Duration client_ttl{};      // ping several times within this
  uint64_t log_position = 0;  // up to here the master's log is durable; 0: it keeps none
};

struct ClusterStatus {
  Term term;
  std::string version;
  uint64_t capacity = 0;
  uint64_t used = 0;
  uint64_t object_count = 0;
  uint64_t processing_count = 0;  // writes in progress
  uint64_t soft_pinned_count = 0;
  uint32_t segment_count = 0;
  uint32_t client_count = 0;
  uint64_t evicted_objects = 0;  // since start
  uint64_t evicted_bytes = 0;
  Duration uptime{};
};

}  // namespace mooncake
