// A client of etcd: one value under one key, read and replaced, at whichever member answers.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/coord/etcd_json.h"
#include "transfer/coord/http_post.h"

namespace mooncake {

// "10.0.0.1:2379,https://etcd-2:2379" -> {"http://10.0.0.1:2379", "https://etcd-2:2379"}: HOST:PORT, each with or without http:// or
// https://, commas or semicolons between. kInvalidParams: anything else, none, or more than 16; the message shows which.
Result<std::vector<std::string>> ParseEtcdEndpoints(std::string_view list);

// Thread-safe. Each call tries the members in turn, first the one that answered last, until one answers or the deadline passes; a member
// that is silent gets its share of the time that is left. kRpcFail, kRpcTimeout: none answered, the message tells of each;
// kInvalidParams, kPersistentFail: etcd refuses (see etcd_json::ErrorOfReply).
class EtcdClient {
 public:
  // `endpoints` as ParseEtcdEndpoints gives them.
  EtcdClient(std::vector<std::string> endpoints, HttpPost post, const Clock& clock);

  // The latest value that a majority has; nullopt: there is none.
  Result<std::optional<EtcdValue>> Get(const std::string& key, TimePoint deadline);

  // After kRpcFail or kRpcTimeout it may be done, or even happen later. When a member fell silent and another has the very value already, that
  // counts as swapped: so values that must tell writers apart name their writer.
  Result<EtcdSwapReply> CompareAndSwap(const EtcdSwap& swap, TimePoint deadline);

 private:
  // Gives the body of a reply to `parse`; its kRpcFail counts as no answer. How many were asked in vain before.
  Result<size_t> Call(const std::string& path, const std::string& body, TimePoint deadline,
                      const std::function<Status(std::string_view)>& parse);
  Status Ask(const HttpRequest& request,
             const std::function<Status(std::string_view)>& parse) const;

  const std::vector<std::string> endpoints_;
  const HttpPost post_;
  const Clock& clock_;
  std::atomic<size_t> first_{0};  // whom to ask first; any value is right, so no order is needed
};

}  // namespace mooncake
