// The suite against the service itself, as an embedded store uses it.
#include "master/server/master_service.h"
#include "tests/conformance/master_api_suite.h"

namespace mooncake::testing {
namespace {

class InProcessWorld final : public MasterApiWorld {
 public:
  InProcessWorld() {
    auto service = MasterService::Create({.term = Term{7}, .seed = 1, .background = false}, clock_);
    EXPECT_TRUE(service.ok()) << service.status();
    service_ = std::move(service).value();
  }
  MasterApi& api() override { return *service_; }
  ManualClock& clock() override { return clock_; }
  TimePoint Deadline() override { return clock_.Now() + Seconds(30); }
  void Tick() override {
    while (service_->Tick()) {
    }
  }

 private:
  ManualClock clock_;
  std::unique_ptr<MasterService> service_;
};

std::unique_ptr<MasterApiWorld> MakeInProcessWorld() { return std::make_unique<InProcessWorld>(); }

}  // namespace
}  // namespace mooncake::testing

MC_INSTANTIATE_MASTER_API_SUITE(InProcess, &mooncake::testing::MakeInProcessWorld)
