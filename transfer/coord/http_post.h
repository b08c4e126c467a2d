// One HTTP POST: what talking to etcd needs of the network, as a function, and libcurl as it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "transfer/base/result.h"
#include "transfer/base/time.h"

namespace mooncake {

struct HttpRequest {
  std::string url;
  std::string body;  // JSON
  Duration timeout = Seconds(5);
  size_t max_reply_bytes = size_t{1} << 20;
};

struct HttpReply {
  int status = 0;  // 200, 404, …
  std::string body;
};

// Any reply is OK, whatever its status. kRpcTimeout: none within the time-out; kRpcFail: none, half of one, or one beyond the bound. After
// an error the request may have been carried out all the same. Thread-safe; blocks.
using HttpPost = std::function<Result<HttpReply>(const HttpRequest&)>;

// By HTTP/1.1 on a connection of its own, straight to the URL's host: no proxy, no redirection. https checks the certificate against
// those the system trusts.
Result<HttpReply> PostByCurl(const HttpRequest& request);

}  // namespace mooncake
