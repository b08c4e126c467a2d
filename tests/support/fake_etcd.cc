#include "tests/support/fake_etcd.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "transfer/base/base64.h"
#include "transfer/base/check.h"

namespace mooncake::testing {
namespace {

using Json = nlohmann::json;

std::string Bytes(const Json& text) { return DecodeBase64(text.get<std::string>()).value(); }

}  // namespace

void FakeEtcd::Deliver() {
  for (const HttpRequest& request : std::exchange(delayed_, {})) (void)Execute(request);
}

Result<HttpReply> FakeEtcd::Take(const HttpRequest& request) {
  requests.push_back(request);
  switch (fate ? fate(request) : Fate::kAnswered) {
    case Fate::kAnswered:
      return Execute(request);
    case Fate::kUnheard:
      (void)Execute(request);
      return Status(ErrorCode::kRpcTimeout, "unheard");
    case Fate::kDelayed:
      delayed_.push_back(request);
      return Status(ErrorCode::kRpcTimeout, "delayed");
    case Fate::kLost:
      return Status(ErrorCode::kRpcFail, "lost");
    case Fate::kLeaderless:
      return HttpReply{
          503, R"({"error":"etcdserver: no leader","message":"etcdserver: no leader","code":14})"};
  }
  MC_CHECK(false);
  return Status(ErrorCode::kInternal, "");
}

HttpReply FakeEtcd::Execute(const HttpRequest& request) {
  const Json body = Json::parse(request.body);
  const auto range = [&](const std::string& key) {
    Json found = {{"header", {{"revision", std::to_string(revision_)}}}};
    const auto at = keys_.find(key);
    if (at != keys_.end()) {
      found["kvs"] = Json::array({{{"key", EncodeBase64(key)},
                                   {"value", EncodeBase64(at->second.value)},
                                   {"mod_revision", std::to_string(at->second.mod_revision)}}});
      found["count"] = "1";
    }
    return found;
  };
  if (request.url.ends_with("/v3/kv/range")) return {200, range(Bytes(body.at("key"))).dump()};
  MC_CHECK(request.url.ends_with("/v3/kv/txn")) << request.url;
  const Json& compare = body.at("compare").at(0);
  MC_CHECK(compare.at("target") == "MOD" && compare.at("result") == "EQUAL") << request.body;
  const std::string key = Bytes(compare.at("key"));
  const auto at = keys_.find(key);
  const int64_t revision = at == keys_.end() ? 0 : at->second.mod_revision;
  Json reply;
  if (std::to_string(revision) == compare.at("mod_revision").get<std::string>()) {
    const Json& put = body.at("success").at(0).at("request_put");
    Put(Bytes(put.at("key")), Bytes(put.at("value")));
    reply["succeeded"] = true;
    reply["responses"] =
        Json::array({{{"response_put", {{"header", {{"revision", std::to_string(revision_)}}}}}}});
  } else {
    reply["responses"] =
        Json::array({{{"response_range",
                       range(Bytes(body.at("failure").at(0).at("request_range").at("key")))}}});
  }
  reply["header"] = {{"revision", std::to_string(revision_)}};
  return {200, reply.dump()};
}

}  // namespace mooncake::testing
