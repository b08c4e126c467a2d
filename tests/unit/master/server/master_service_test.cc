// The service around the core: slices, deadlines, shutdown, company in batches, numbers.
#include "master/server/master_service.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "master/server/metrics_text.h"
#include "transfer/base/manual_clock.h"

namespace mooncake {
namespace {

class MasterServiceTest : public ::testing::Test {
 protected:
  MasterServiceTest() {
    auto service = MasterService::Create({.term = Term{7},
                                          .seed = 1,
                                          .background = false,
                                          .keys_per_lock = 2,
                                          .puts_per_lock = 1,
                                          .keys_per_step = 4},
                                         clock_);
    EXPECT_TRUE(service.ok()) << service.status();
    service_ = std::move(service).value();
  }

  void Mount(uint64_t number) {
    const ClientId node{8, number};
    const SegmentDescriptor segment{.id = {7, number},
                                    .name = "segment" + std::to_string(number),
                                    .size = uint64_t{16} << 20,
                                    .epoch = AccessEpoch{1},
                                    .owner = node,
                                    .host_id = "host" + std::to_string(number),
                                    .protocol = "tcp",
                                    .endpoint = "h:1"};
    ASSERT_TRUE(service_->Ping(node, "node", Soon()).ok());
    ASSERT_EQ(service_->MountSegment(node, segment, Soon()), Status::Ok());
  }
  void Put(const std::string& key) {
    const PutStartArgs start{client_, {kDefaultTenant, key}, 100};
    const auto started = service_->BatchPutStart({&start, 1}, Soon());
    ASSERT_TRUE(started[0].ok()) << started[0].status();
    const PutEndArgs end{client_, {kDefaultTenant, key}, started[0]->put_id, std::nullopt};
    ASSERT_EQ(service_->BatchPutEnd({&end, 1}, Soon())[0], Status::Ok());
  }
  TimePoint Soon() const { return clock_.Now() + Seconds(30); }

  ManualClock clock_;
  std::unique_ptr<MasterService> service_;
  const ClientId client_{9, 9};
};

TEST_F(MasterServiceTest, RefusesOptionsThatMakeNoSense) {
  MasterServiceOptions options;
  options.core.client_ttl = Duration::zero();
  EXPECT_EQ(MasterService::Create(options, clock_).code(), ErrorCode::kInvalidParams);
}

TEST_F(MasterServiceTest, BatchesLongerThanASliceAreAnsweredWhole) {
  Mount(1);
  std::vector<ObjectName> names;
  for (int i = 0; i < 7; ++i) {
    Put("k" + std::to_string(i));
    names.push_back({kDefaultTenant, "k" + std::to_string(i)});
  }
  const auto exist = service_->BatchExistKey(names, false, Soon());
  ASSERT_EQ(exist.size(), 7u);
  for (const auto& answer : exist) EXPECT_TRUE(answer.value());
}

TEST_F(MasterServiceTest, LongWorkEndsAtItsDeadlineAndSaysHowFarItCame) {
  Mount(1);
  for (int i = 0; i < 50; ++i) Put("k" + std::to_string(i));
  const auto removed = service_->RemoveAll("", false, clock_.Now());
  EXPECT_EQ(removed.code(), ErrorCode::kRpcTimeout);
  EXPECT_NE(removed.message().find("so far"), std::string::npos) << removed.message();
  const uint64_t left = service_->core_counters().objects;
  EXPECT_GT(left, 0u);
  EXPECT_EQ(service_->RemoveAll("", false, Soon()).value(), left);
}

TEST_F(MasterServiceTest, LongWorkEndsWhenTheServiceStops) {
  Mount(1);
  for (int i = 0; i < 50; ++i) Put("k" + std::to_string(i));
  service_->BeginShutdown();
  EXPECT_EQ(service_->RemoveAll("", false, Soon()).code(), ErrorCode::kUnavailableInCurrentStatus);
  EXPECT_EQ(service_->RemoveByRegex({.pattern = "x"}, Soon()).code(),
            ErrorCode::kUnavailableInCurrentStatus);
}

TEST_F(MasterServiceTest, ABatchThatWantsToStayTogetherDoes) {
  for (uint64_t node = 1; node <= 8; ++node) Mount(node);
  std::vector<PutStartArgs> puts;
  for (int i = 0; i < 20; ++i) {
    PutStartArgs put{client_, {kDefaultTenant, "k" + std::to_string(i)}, 1000};
    put.config.prefer_same_node = true;
    puts.push_back(put);
  }
  const auto started = service_->BatchPutStart(puts, Soon());
  ASSERT_TRUE(started[0].ok()) << started[0].status();
  const SegmentId first = started[0]->replicas[0].extents[0].segment;
  for (const auto& reply : started) {
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->replicas[0].extents[0].segment, first);
  }
}

TEST_F(MasterServiceTest, TermGrowsWithTime) {
  ManualClock later(TimePoint(Seconds(1704067200 + 5)));
  EXPECT_EQ(TermNow(later), Term{5});
  later.Advance(Millis(1500));
  EXPECT_EQ(TermNow(later), Term{6});
  // A clock that was never set still gives a term.
  EXPECT_EQ(TermNow(clock_), Term{1});
}

TEST_F(MasterServiceTest, CountsCallsKeysAndFailures) {
  Mount(1);
  Put("a");
  const std::vector<ObjectName> names = {{kDefaultTenant, "a"}, {kDefaultTenant, "b"}};
  (void)service_->BatchGetReplicaList(names, Soon());
  (void)service_->BatchGetReplicaList({names.data() + 1, 1}, Soon());
  const CallCounters& gets = service_->counters().of(MasterCall::kGetReplicaList);
  EXPECT_EQ(gets.requests, 2u);
  EXPECT_EQ(gets.items, 3u);
  EXPECT_EQ(gets.failed_items, 2u);
  EXPECT_EQ(gets.partial_successes, 1u);
  EXPECT_EQ(gets.failures, 1u);
}

TEST_F(MasterServiceTest, MetricsAreWellFormedAndTrue) {
  Mount(1);
  Put("a");
  const std::string text = MetricsText(*service_, {.open = 3, .refused = 2});
  for (const char* line :
       {"master_key_count 1\n", "master_total_capacity_bytes 16777216\n",
        "master_put_start_requests_total 1\n", "master_batch_put_end_items_total 1\n",
        "segment_total_capacity_bytes{segment=\"segment1\"} 16777216\n",
        "master_value_size_bytes_count 1\n", "master_value_size_bytes_bucket{le=\"4096\"} 1\n",
        "master_rpc_connections 3\n", "master_rpc_connections_refused_total 2\n",
        "# TYPE master_key_count gauge\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  // Each line is a comment or "name value", and no metric is declared twice.
  std::vector<std::string> declared;
  for (size_t start = 0; start < text.size();) {
    const std::string line = text.substr(start, text.find('\n', start) - start);
    start += line.size() + 1;
    if (line.starts_with("# TYPE ")) {
      const std::string name = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_EQ(std::count(declared.begin(), declared.end(), name), 0) << name;
      declared.push_back(name);
    } else if (line[0] != '#') {
      EXPECT_EQ(std::count(line.begin(), line.end(), ' '), 1) << line;
    }
  }
  EXPECT_NE(MetricsSummary(*service_, {}).find("keys=1"), std::string::npos);
}

}  // namespace
}  // namespace mooncake
