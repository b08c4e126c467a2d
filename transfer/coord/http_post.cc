#include "transfer/coord/http_post.h"

#include <algorithm>
#include <array>
#include <memory>

#include <curl/curl.h>

namespace mooncake {
namespace {

struct Sink {
  std::string bytes;
  size_t limit = 0;
  bool overflowed = false;
};

// Taking fewer bytes than were given ends the transfer.
size_t Take(const char* bytes, size_t size, size_t count, void* context) {
  Sink& sink = *static_cast<Sink*>(context);
  const size_t given = size * count;
  sink.overflowed = given > sink.limit - sink.bytes.size();
  if (sink.overflowed) return 0;
  sink.bytes.append(bytes, given);
  return given;
}

struct Free {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

using Headers = std::unique_ptr<curl_slist, Free>;

bool Append(Headers& headers, const char* line) {
  curl_slist* const longer = curl_slist_append(headers.get(), line);
  if (longer == nullptr) return false;
  (void)headers.release();
  headers.reset(longer);
  return true;
}

bool Prepare(CURL* curl, const HttpRequest& request, const curl_slist* headers) {
  const auto set = [curl](CURLoption option, auto value) {
    return curl_easy_setopt(curl, option, value) == CURLE_OK;
  };
  const long timeout_ms = static_cast<long>(std::max<int64_t>(1, ToMillis(request.timeout)));
  return set(CURLOPT_URL, request.url.c_str()) && set(CURLOPT_PROTOCOLS_STR, "http,https") &&
         set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)) &&
         set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size())) &&
         set(CURLOPT_POSTFIELDS, request.body.data()) && set(CURLOPT_HTTPHEADER, headers) &&
         set(CURLOPT_TIMEOUT_MS, timeout_ms) &&
         // Programs have threads and handlers of their own for signals.
         set(CURLOPT_NOSIGNAL, 1L) &&
         // A resolver that hangs is left behind, not waited for.
         set(CURLOPT_QUICK_EXIT, 1L) &&
         // The environment's proxy is for the way out; etcd is within.
         set(CURLOPT_PROXY, "");
}

}  // namespace

Result<HttpReply> PostByCurl(const HttpRequest& request) {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  const std::unique_ptr<CURL, Free> curl(ready ? curl_easy_init() : nullptr);
  Headers headers;
  // An empty Expect keeps curl from asking whether a large body is welcome, and waiting a second for the answer.
  if (curl == nullptr || !Append(headers, "Content-Type: application/json") ||
      !Append(headers, "Expect:") || !Prepare(curl.get(), request, headers.get())) {
    return Status(ErrorCode::kInternal, "libcurl cannot be set up for " + request.url);
  }
  Sink sink{.bytes = {}, .limit = request.max_reply_bytes};
  std::array<char, CURL_ERROR_SIZE> words{};
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &Take);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, words.data());
  const CURLcode code = curl_easy_perform(curl.get());
  if (sink.overflowed)
    return Status(ErrorCode::kRpcFail,
                  "its reply has more than " + std::to_string(sink.limit) + " bytes");
  if (code != CURLE_OK) {
    return Status(code == CURLE_OPERATION_TIMEDOUT ? ErrorCode::kRpcTimeout : ErrorCode::kRpcFail,
                  words[0] != '\0' ? words.data() : curl_easy_strerror(code));
  }
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  return HttpReply{static_cast<int>(status), std::move(sink.bytes)};
}

}  // namespace mooncake
