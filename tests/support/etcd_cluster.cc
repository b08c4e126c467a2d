#include "tests/support/etcd_cluster.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "transfer/base/base64.h"
#include "transfer/base/check.h"
#include "transfer/base/clock.h"
#include "transfer/base/rng.h"
#include "transfer/base/unique_fd.h"
#include "transfer/coord/http_post.h"

namespace mooncake::testing {
namespace {

bool IsFree(uint16_t port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int reuse = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

// Below those that the kernel gives to outgoing connections, so that a member that is killed finds its own free again.
uint16_t FreePort(Rng& rng) {
  for (;;) {
    const auto port = static_cast<uint16_t>(rng.Between(15000, 32000));
    if (IsFree(port)) return port;
  }
}

std::string Url(uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }
std::string NameOf(size_t member) { return "m" + std::to_string(member); }

void MustPost(const std::string& url, const std::string& body) {
  const auto reply = PostByCurl({.url = url, .body = body, .timeout = Seconds(20)});
  MC_CHECK(reply.ok() && reply->status == 200) << (reply.ok() ? reply->body : reply.message());
}

}  // namespace

EtcdCluster::EtcdCluster(size_t members, std::vector<std::string> flags)
    : flags_(std::move(flags)), members_(members) {
  // Another test may take a port between the look and the start.
  constexpr int kTries = 5;
  Rng rng(static_cast<uint64_t>(SystemClock().Now().time_since_epoch().count()) ^
          static_cast<uint64_t>(::getpid()));
  for (int i = 0; i < kTries; ++i) {
    for (Member& member : members_) {
      member.client_port = FreePort(rng);
      member.peer_port = FreePort(rng);
    }
    if (TryStartAll()) return;
    for (Member& member : members_) member.process.reset();
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      std::filesystem::remove_all(entry);
  }
  MC_CHECK(false) << "etcd does not start; is etcd-server installed (tools/dev/setup)?";
}

bool EtcdCluster::TryStartAll() {
  for (size_t i = 0; i < size(); ++i) Start(i);
  for (size_t i = 0; i < size(); ++i) {
    if (!process(i).WaitForLine("ready to serve client requests").ok()) return false;
  }
  return true;
}

std::string EtcdCluster::endpoint(size_t member) const {
  return "127.0.0.1:" + std::to_string(members_[member].client_port);
}

std::string EtcdCluster::endpoints() const {
  std::string list;
  for (size_t i = 0; i < size(); ++i) list += (i == 0 ? "" : ",") + endpoint(i);
  return list;
}

void EtcdCluster::Start(size_t member) {
  std::string all;
  for (size_t i = 0; i < size(); ++i)
    all += (i == 0 ? "" : ",") + NameOf(i) + "=" + Url(members_[i].peer_port);
  const std::string client = Url(members_[member].client_port);
  const std::string peer = Url(members_[member].peer_port);
  std::vector<std::string> command = {"/usr/bin/etcd",
                                      "--name=" + NameOf(member),
                                      "--data-dir=" + folder_ / NameOf(member),
                                      "--listen-client-urls=" + client,
                                      "--advertise-client-urls=" + client,
                                      "--listen-peer-urls=" + peer,
                                      "--initial-advertise-peer-urls=" + peer,
                                      "--initial-cluster=" + all,
                                      "--heartbeat-interval=50",
                                      "--election-timeout=500"};
  command.insert(command.end(), flags_.begin(), flags_.end());
  members_[member].process = std::make_unique<Process>(ProcessOptions{.command = command});
}

void EtcdCluster::WaitReady(size_t member) {
  const auto line = process(member).WaitForLine("ready to serve client requests");
  MC_CHECK(line.ok()) << line.message();
}

void EtcdCluster::Erase(const std::string& key) {
  MustPost("http://" + endpoint(0) + "/v3/kv/deleterange",
           R"({"key":")" + EncodeBase64(key) + R"("})");
}

void EtcdCluster::Put(const std::string& key, const std::string& value) {
  MustPost("http://" + endpoint(0) + "/v3/kv/put",
           R"({"key":")" + EncodeBase64(key) + R"(","value":")" + EncodeBase64(value) + R"("})");
}

}  // namespace mooncake::testing
