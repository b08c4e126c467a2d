// The suite through the stub, loopback and the Thrift server.
#include "master/api/remote_master.h"
#include "master/server/master_service.h"
#include "master/server/thrift_server.h"
#include "tests/conformance/master_api_suite.h"

namespace mooncake::testing {
namespace {

class RemoteWorld final : public MasterApiWorld {
 public:
  RemoteWorld() {
    auto service = MasterService::Create({.term = Term{7}, .seed = 1, .background = false}, clock_);
    EXPECT_TRUE(service.ok()) << service.status();
    service_ = std::move(service).value();
    // On the master's clock, which stands still: nothing on the server's side runs into a time limit.
    auto server = ThriftServer::Start(
        {.address = {"127.0.0.1", 0}}, *service_, [this] { return service_->term(); }, clock_);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = std::move(server).value();
    remote_ = MakeRemoteMaster({.address = server_->address()}, SystemClock());
  }
  MasterApi& api() override { return *remote_; }
  ManualClock& clock() override { return clock_; }
  TimePoint Deadline() override { return SystemClock().Now() + Seconds(30); }
  void Tick() override {
    while (service_->Tick()) {
    }
  }

 private:
  ManualClock clock_;
  std::unique_ptr<MasterService> service_;
  std::unique_ptr<ThriftServer> server_;
  std::unique_ptr<MasterApi> remote_;
};

std::unique_ptr<MasterApiWorld> MakeRemoteWorld() { return std::make_unique<RemoteWorld>(); }

}  // namespace
}  // namespace mooncake::testing

MC_INSTANTIATE_MASTER_API_SUITE(Remote, &MakeRemoteWorld)
