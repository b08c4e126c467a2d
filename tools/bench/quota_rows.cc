#include "tools/bench/quota_rows.h"

#include <memory>
#include <string>

#include "tools/bench/benched_master.h"
#include "tools/bench/race.h"

namespace mooncake::bench {
namespace {

constexpr uint64_t kTenants = 8;
constexpr uint64_t kQuota = uint64_t{1} << 50;

struct World {
  std::unique_ptr<BenchedMaster> master;
  std::vector<std::string> tenants;
  uint64_t objects = 0;  // of each tenant
};

Result<World> MakeWorld(bool quotas, uint64_t objects, const Clock& clock) {
  World world;
  ASSIGN_OR_RETURN(world.master, BenchedMaster::Create(clock, clock, {.quotas = quotas}));
  RETURN_IF_ERROR(world.master->Mount(BenchedMaster::kClient, "bench", 2 * objects + 1024));
  for (uint64_t i = 0; i < (quotas ? kTenants : 1); ++i)
    world.tenants.push_back("tenant-" + std::to_string(i));
  world.objects = objects / world.tenants.size();
  for (const std::string& tenant : world.tenants) {
    if (quotas) {
      RETURN_IF_ERROR(
          world.master->local().SetQuota(tenant, kQuota, world.master->Deadline()).status());
    }
    for (uint64_t i = 0; i < world.objects; ++i) {
      const ObjectName name{tenant, BenchedMaster::KeyOf("kept/", i)};
      RETURN_IF_ERROR(BenchedMaster::PutObject(world.master->local(), name, kNever));
    }
  }
  return world;
}

// Five calls: put (two), exist, get, remove.
Status Work(const World& world, MasterApi& api, uint64_t i) {
  const TimePoint deadline = world.master->Deadline();
  const std::string& tenant = world.tenants[i % world.tenants.size()];
  const ObjectName own{tenant, "own"};
  const ObjectName kept{tenant, BenchedMaster::KeyOf("kept/", i * 7919 % world.objects)};
  RETURN_IF_ERROR(BenchedMaster::PutObject(api, own, deadline));
  RETURN_IF_ERROR(api.BatchExistKey({&kept, 1}, false, deadline)[0].status());
  RETURN_IF_ERROR(api.BatchGetReplicaList({&kept, 1}, deadline)[0].status());
  return api.BatchRemove({&own, 1}, true, deadline)[0];
}

}  // namespace

Status BenchQuotas(uint64_t objects, Duration time, const Clock& clock, std::vector<Row>& rows) {
  ASSIGN_OR_RETURN(const World with, MakeWorld(true, objects, clock));
  ASSIGN_OR_RETURN(const World without, MakeWorld(false, objects, clock));
  for (const bool remote : {false, true}) {
    const auto contender = [&](const World& world, const char* name) {
      MasterApi& api = remote ? world.master->remote() : world.master->local();
      return Contender{.name = name,
                       .run = [&world, &api](uint64_t i) { return Work(world, api, i); },
                       .batch = remote ? 8u : 64u};
    };
    std::vector<Contender> pair = {contender(with, "8 tenants with quotas"),
                                   contender(without, "1 tenant, no quotas")};
    RETURN_IF_ERROR(Race(pair, {.time = time}, clock));
    rows.push_back({.what = "put, exist, get, remove: " + pair[0].name,
                    .path = remote ? "rpc, 1 thread" : "in process",
                    .figure = {.samples = pair[0].samples},
                    .limit_name = pair[1].name,
                    .limit = {.samples = pair[1].samples}});
  }
  return Status::Ok();
}

}  // namespace mooncake::bench
