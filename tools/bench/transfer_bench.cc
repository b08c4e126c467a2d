#include "tools/bench/transfer_bench.h"

#include <algorithm>
#include <memory>
#include <string>

#include "client/embedded/embedded_store.h"
#include "tools/bench/limits.h"
#include "tools/bench/race.h"

namespace mooncake::bench {
namespace {

// One store in this process, and a client for each way to it.
class Paths {
 public:
  static Result<std::unique_ptr<Paths>> Create(uint64_t size) {
    EmbeddedOptions embedded;
    embedded.size = size;
    embedded.prefault = true;
    std::unique_ptr<Paths> paths(new Paths);
    ASSIGN_OR_RETURN(paths->store_, EmbeddedStore::Create(embedded));
    ClientOptions options;
    options.master = paths->store_->rpc_address();
    ASSIGN_OR_RETURN(paths->shm_, Client::Connect(options));
    options.use_shared_memory = false;
    ASSIGN_OR_RETURN(paths->tcp_, Client::Connect(options));
    return paths;
  }
  Client& memcpy() { return store_->client(); }
  Client& shm() { return *shm_; }
  Client& tcp() { return *tcp_; }

 private:
  Paths() = default;
  std::unique_ptr<EmbeddedStore> store_;
  std::unique_ptr<Client> shm_;
  std::unique_ptr<Client> tcp_;
};

std::string KeyOf(const std::string& path, uint64_t i) {
  return "bench/" + path + "/" + std::to_string(i);
}

Contender PutContender(const std::string& name, Client& client,
                       const std::shared_ptr<std::vector<std::byte>>& value) {
  return {
      .name = name,
      .run = [&client, name,
              value](uint64_t i) { return client.Put(KeyOf(name, i), *value).status(); },
      .after =
          [&client, name](uint64_t i) {
            client.Remove(KeyOf(name, i), true).Ignore("the next Put tells if there is no room");
          }};
}

Contender GetContender(const std::string& name, Client& client, uint64_t keys, uint64_t size) {
  auto buffer = std::make_shared<std::vector<std::byte>>(size);
  return {.name = name, .run = [&client, keys, buffer](uint64_t i) {
            return client.GetInto(KeyOf("get", i % keys), *buffer).status();
          }};
}

// In place: whoever wants the bytes looks at them where they are.
Contender ViewContender(Client& client, uint64_t keys) {
  return {.name = "shm view", .run = [&client, keys](uint64_t i) -> Status {
            ASSIGN_OR_RETURN(const auto view, client.GetView(KeyOf("get", i % keys)));
            return view->Valid() ? Status::Ok()
                                 : Status(ErrorCode::kLeaseExpired, "the view is not valid");
          }};
}

void AddRows(const char* what, uint64_t bytes, const std::vector<Contender>& contenders,
             std::vector<Row>& rows) {
  const auto figure = [&](const std::string& name) {
    const auto found = std::ranges::find(contenders, name, &Contender::name);
    return Figure{.bytes = bytes, .operations = 1, .samples = found->samples};
  };
  for (const Contender& contender : contenders) {
    if (contender.name == "memcpy" || contender.name == "raw tcp") continue;
    const std::string limit = contender.name == "tcp" ? "raw tcp" : "memcpy";
    rows.push_back({.what = what,
                    .path = contender.name == "in process" ? "memcpy" : contender.name,
                    .figure = figure(contender.name),
                    .limit_name = limit,
                    .limit = figure(limit),
                    .latencies = contender.samples});
  }
}

Status BenchSize(Paths& paths, uint64_t size, const TransferBenchOptions& options,
                 const Clock& clock, std::vector<Row>& rows) {
  const RaceOptions race{.time = options.time};
  const auto value = std::make_shared<std::vector<std::byte>>(size, std::byte{'v'});
  ASSIGN_OR_RETURN(Contender tcp_up, TcpLimit(size, Way::kUp));
  std::vector<Contender> puts = {
      PutContender("in process", paths.memcpy(), value), PutContender("shm", paths.shm(), value),
      PutContender("tcp", paths.tcp(), value), MemcpyLimit(size, options.area), std::move(tcp_up)};
  RETURN_IF_ERROR(Race(puts, race, clock));
  AddRows("put", size, puts, rows);

  const uint64_t keys = std::clamp<uint64_t>(options.area / size, 1, 64);
  for (uint64_t i = 0; i < keys; ++i) RETURN_IF_ERROR(paths.memcpy().Put(KeyOf("get", i), *value));
  ASSIGN_OR_RETURN(Contender tcp_down, TcpLimit(size, Way::kDown));
  std::vector<Contender> gets = {GetContender("in process", paths.memcpy(), keys, size),
                                 GetContender("shm", paths.shm(), keys, size),
                                 ViewContender(paths.shm(), keys),
                                 GetContender("tcp", paths.tcp(), keys, size),
                                 MemcpyLimit(size, keys * size),
                                 std::move(tcp_down)};
  RETURN_IF_ERROR(Race(gets, race, clock));
  AddRows("get", size, gets, rows);
  for (uint64_t i = 0; i < keys; ++i) RETURN_IF_ERROR(paths.memcpy().Remove(KeyOf("get", i), true));
  return Status::Ok();
}

}  // namespace

Result<std::vector<Row>> BenchTransfer(const TransferBenchOptions& options, const Clock& clock) {
  const uint64_t largest = *std::ranges::max_element(options.sizes);
  // What was removed under a lease stays for its length: room for the objects of the sizes before.
  ASSIGN_OR_RETURN(const auto paths, Paths::Create(3 * std::max(options.area, 4 * largest)));
  std::vector<Row> rows;
  for (const uint64_t size : options.sizes)
    RETURN_IF_ERROR(BenchSize(*paths, size, options, clock, rows));
  return rows;
}

}  // namespace mooncake::bench
