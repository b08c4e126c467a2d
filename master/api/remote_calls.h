// The forms that calls to a remote master have: one thing asked, a batch of statuses, and so on. Private to remote_master.cc.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "master/api/master_api.h"
#include "master/api/remote_call.h"

namespace mooncake {

// Thread-safe.
class RemoteCalls : public MasterApi {
 protected:
  RemoteCalls(HostPort address, size_t max_idle, Duration patience, const Clock& clock)
      : caller_(std::move(address), max_idle, patience, clock) {}

  using C = thriftgen::MasterRpcClient;

  // Of a call that asks for one thing and says nothing more.
  template <typename Reply, typename Send, typename Receive>
  auto PlainValue(const char* name, Send send, Receive receive, TimePoint deadline) {
    thriftgen::PlainRequest request;
    return Value<Reply>(name, send, receive, request, deadline);
  }

  // Of a call that is answered by one value.
  template <typename Reply, typename Request, typename Send, typename Receive>
  auto Value(const char* name, Send send, Receive receive, Request& request, TimePoint deadline)
      -> decltype(wire::Decode(std::move(std::declval<Reply&>().value))) {
    Reply reply;
    RETURN_IF_ERROR(Call(name, send, receive, request, reply, deadline));
    return OrGarbage(wire::Decode(std::move(reply.value)));
  }

  template <typename Request, typename Reply, typename Send, typename Receive>
  Status Call(const char* name, Send send, Receive receive, Request& request, Reply& reply,
              TimePoint deadline) {
    return caller_.Call(name, send, receive, request, reply, deadline);
  }

  // A batch whose entries are answered by a status alone; `make(chunk)` makes the request.
  template <typename Args, typename Send, typename Receive, typename Make>
  std::vector<Status> StatusBatch(const char* name, Send send, Receive receive,
                                  std::span<const Args> args, TimePoint deadline, Make make) {
    return InChunks<Status>(args, [&](std::span<const Args> chunk) -> Result<std::vector<Status>> {
      auto request = make(chunk);
      thriftgen::BatchStatusReply reply;
      RETURN_IF_ERROR(Call(name, send, receive, request, reply, deadline));
      RETURN_IF_ERROR(CheckAnswerCount(reply.results.size(), chunk.size()));
      std::vector<Status> out;
      out.reserve(chunk.size());
      for (thriftgen::Status& status : reply.results)
        out.push_back(wire::Decode(std::move(status)));
      return out;
    });
  }

  template <typename Request, typename Send, typename Receive>
  Status Plain(const char* name, Send send, Receive receive, Request& request, TimePoint deadline) {
    thriftgen::StatusReply reply;
    return Call(name, send, receive, request, reply, deadline);
  }

  template <typename Request, typename Send, typename Receive>
  Result<uint64_t> Count(const char* name, Send send, Receive receive, Request& request,
                         TimePoint deadline) {
    thriftgen::CountReply reply;
    RETURN_IF_ERROR(Call(name, send, receive, request, reply, deadline));
    return static_cast<uint64_t>(reply.count);
  }

  RemoteCaller caller_;
};

}  // namespace mooncake
