// The gateway of an etcd in memory, with faults: what of it the client uses, as an HttpPost.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "transfer/coord/etcd_json.h"
#include "transfer/coord/http_post.h"

namespace mooncake::testing {

// Not thread-safe.
class FakeEtcd {
 public:
  enum class Fate {
    kAnswered,
    kLost,       // the request never arrives
    kUnheard,    // carried out, but the answer never arrives
    kDelayed,    // as if lost; carried out by Deliver
    kLeaderless  // refused for now
  };

  // What becomes of each request; all are answered without.
  std::function<Fate(const HttpRequest&)> fate;
  std::vector<HttpRequest> requests;  // all that were made

  HttpPost Post() {
    return [this](const HttpRequest& request) { return Take(request); };
  }
  void Deliver();
  void Put(const std::string& key, const std::string& value) { keys_[key] = {value, ++revision_}; }
  void Erase(const std::string& key) {
    if (keys_.erase(key) == 1) ++revision_;
  }
  // "" if there is none.
  std::string Value(const std::string& key) const {
    const auto found = keys_.find(key);
    return found == keys_.end() ? "" : found->second.value;
  }

 private:
  Result<HttpReply> Take(const HttpRequest& request);
  HttpReply Execute(const HttpRequest& request);

  std::map<std::string, EtcdValue> keys_;
  int64_t revision_ = 1;
  std::vector<HttpRequest> delayed_;
};

}  // namespace mooncake::testing
