// What every Transport must do, whatever carries its bytes. Instantiate with MC_TRANSPORT_SUITE(Name, factory).
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/served_node.h"
#include "tests/support/wait.h"
#include "transfer/base/seal.h"
#include "transfer/base/units.h"
#include "transfer/transport/transport.h"

namespace mooncake::testing {

// One node and one transport that reaches it.
class TransportHarness {
 public:
  static constexpr uint64_t kSegmentBytes = 40 * kMiB;

  virtual ~TransportHarness() = default;
  virtual ServedNode& node() = 0;
  virtual Transport& transport() = 0;
  virtual PeerAddress peer() const = 0;
  // Accesses that the node holds for as long as it serves, not for one transfer: keys that it has handed out.
  virtual size_t standing_accesses() const { return 0; }
};

using TransportHarnessFactory = std::function<std::unique_ptr<TransportHarness>()>;

class TransportSuite : public ::testing::TestWithParam<TransportHarnessFactory> {
 protected:
  void SetUp() override {
    harness_ = GetParam()();
    auto connection = harness_->transport().Connect(harness_->peer(), In(Seconds(10)));
    ASSERT_TRUE(connection.ok()) << connection.message();
    connection_ = *connection;
  }

  static TimePoint In(Duration d) { return SystemClock().Now() + d; }
  ServedNode& node() { return harness_->node(); }
  ServedSegments& segments() { return node().segments(); }

  Status Run(Slice& slice) {
    connection_->Execute({&slice, 1}, In(Seconds(20)));
    return slice.status;
  }
  Status WriteBytes(uint64_t offset, std::vector<std::byte>& bytes, PutId put_id = PutId{1}) {
    Slice slice = node().Write(offset, bytes, put_id);
    return Run(slice);
  }
  Status ReadBytes(uint64_t offset, std::vector<std::byte>& bytes) {
    Slice slice = ServedNode::Read(offset, bytes);
    return Run(slice);
  }
  // Before the test touches the memory itself: the last reply may be here before the node has let go.
  void AwaitIdle() {
    ASSERT_TRUE(Eventually([this] { return Idle(); }));
  }
  bool Idle() { return segments().active_accesses() == harness_->standing_accesses(); }
  bool MemoryIs(uint64_t offset, std::span<const std::byte> bytes) {
    const MutableByteSpan memory = node().memory().subspan(offset, bytes.size());
    return bytes.empty() || std::memcmp(memory.data(), bytes.data(), bytes.size()) ==
                                0;  // quick under sanitizers too
  }
  void PutSeal(uint64_t offset, PutId put_id) {
    const SealBytes seal = EncodeSeal({.put_id = put_id, .length = 1});
    std::copy(seal.begin(), seal.end(),
              node().memory().begin() + static_cast<std::ptrdiff_t>(offset));
  }

  std::unique_ptr<TransportHarness> harness_;
  std::shared_ptr<Connection> connection_;
};

// Field report F090: one size failed where its neighbours worked.
TEST_P(TransportSuite, EverySizeArrivesWholeInBothDirections) {
  const uint64_t sizes[] = {0,
                            1,
                            2,
                            63,
                            64,
                            65,
                            511,
                            512,
                            513,
                            4095,
                            4096,
                            4097,
                            65535,
                            65536,
                            65537,
                            kMiB - 1,
                            kMiB,
                            kMiB + 1,
                            4 * kMiB - 1,
                            4 * kMiB,
                            4 * kMiB + 1,
                            8 * kMiB,
                            16 * kMiB + 3};
  for (const uint64_t size : sizes) {
    for (const uint64_t offset : {uint64_t{0}, uint64_t{64}, uint64_t{4097}}) {
      std::vector<std::byte> sent = Pattern(size, size + offset);
      const std::byte before = std::byte{0xa5};
      AwaitIdle();
      node().memory()[offset + size] = before;
      ASSERT_TRUE(WriteBytes(offset, sent).ok()) << size;
      ASSERT_TRUE(MemoryIs(offset, sent)) << size << " at " << offset;
      ASSERT_EQ(node().memory()[offset + size], before) << "wrote beyond its end, size " << size;
      std::vector<std::byte> got(size);
      ASSERT_TRUE(ReadBytes(offset, got).ok()) << size;
      ASSERT_TRUE(AsText(got) == AsText(sent)) << size << " at " << offset;
    }
  }
}

TEST_P(TransportSuite, GathersAndScattersUpToThreeBuffers) {
  std::vector<std::byte> sent = Pattern(5 * kMiB + 100, 5);
  const size_t cuts[][2] = {
      {1, 65}, {0, 100}, {5 * kMiB, 5 * kMiB + 36}, {kMiB - 1, kMiB + 1}, {100, 100}};
  for (const auto& [first, second] : cuts) {
    const MutableByteSpan all(sent);
    Slice write = node().Write(128, all.first(first), PutId{1});
    write.buffers[1] = all.subspan(first, second - first);
    write.buffers[2] = all.subspan(second);
    ASSERT_TRUE(Run(write).ok());
    ASSERT_TRUE(MemoryIs(128, sent));
    std::vector<std::byte> got(sent.size());
    const MutableByteSpan into(got);
    Slice read = ServedNode::Read(128, into.first(second));
    read.buffers[1] = into.subspan(second);
    ASSERT_TRUE(Run(read).ok());
    ASSERT_TRUE(AsText(got) == AsText(sent));
  }
}

TEST_P(TransportSuite, ABatchSettlesEachSliceByItself) {
  std::vector<std::byte> sent = Pattern(1000, 1);
  std::vector<std::vector<std::byte>> got(4, std::vector<std::byte>(1000));
  ASSERT_TRUE(WriteBytes(0, sent).ok());
  std::vector<Slice> slices = {ServedNode::Read(0, got[0]), ServedNode::Read(0, got[1]),
                               ServedNode::Read(0, got[2]), node().Write(8192, sent, PutId{1}),
                               ServedNode::Read(0, got[3])};
  slices[1].epoch = AccessEpoch{99};
  slices[2].offset = TransportHarness::kSegmentBytes;
  connection_->Execute(slices, In(Seconds(20)));
  EXPECT_TRUE(slices[0].status.ok());
  EXPECT_EQ(slices[1].status.code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(slices[2].status.code(), ErrorCode::kInvalidParams);
  EXPECT_TRUE(slices[3].status.ok());
  EXPECT_TRUE(slices[4].status.ok());
  EXPECT_EQ(got[0], sent);
  EXPECT_EQ(got[3], sent);
  EXPECT_TRUE(MemoryIs(8192, sent));
}

TEST_P(TransportSuite, ManySlicesInOneBatch) {
  constexpr size_t kSlices = 3000;
  constexpr size_t kBytes = 777;
  std::vector<std::byte> sent = Pattern(kSlices * kBytes, 3);
  std::vector<std::byte> got(sent.size());
  std::vector<Slice> slices;
  for (size_t i = 0; i < kSlices; ++i) {
    slices.push_back(
        node().Write(i * 1024, MutableByteSpan(sent).subspan(i * kBytes, kBytes), PutId{1}));
  }
  connection_->Execute(slices, In(Seconds(20)));
  for (const Slice& slice : slices) ASSERT_TRUE(slice.status.ok()) << slice.status;
  slices.clear();
  for (size_t i = kSlices; i-- > 0;) {
    slices.push_back(ServedNode::Read(i * 1024, MutableByteSpan(got).subspan(i * kBytes, kBytes)));
  }
  connection_->Execute(slices, In(Seconds(20)));
  for (const Slice& slice : slices) ASSERT_TRUE(slice.status.ok()) << slice.status;
  EXPECT_EQ(got, sent);
}

TEST_P(TransportSuite, AnEmptyBatchIsNothing) { connection_->Execute({}, In(Seconds(1))); }

TEST_P(TransportSuite, RefusesAnotherEpochInBothDirections) {
  std::vector<std::byte> bytes = Pattern(100, 1);
  for (const uint64_t epoch :
       {uint64_t{0}, ServedNode::kEpoch.value - 1, ServedNode::kEpoch.value + 1}) {
    Slice read = ServedNode::Read(0, bytes);
    read.epoch = AccessEpoch{epoch};
    EXPECT_EQ(Run(read).code(), ErrorCode::kInvalidVersion);
    Slice write = node().Write(0, bytes, PutId{1});
    write.epoch = AccessEpoch{epoch};
    EXPECT_EQ(Run(write).code(), ErrorCode::kInvalidVersion);
  }
  EXPECT_TRUE(MemoryIs(0, std::vector<std::byte>(100)));
}

TEST_P(TransportSuite, AnAdvancedEpochRefusesTheOldOneAndServesTheNew) {
  std::vector<std::byte> bytes = Pattern(100, 1);
  ASSERT_TRUE(WriteBytes(0, bytes).ok());
  ASSERT_TRUE(ReadBytes(0, bytes).ok());
  ASSERT_TRUE(segments().SetEpoch(ServedNode::kSegment, AccessEpoch{4}, In(Seconds(5))).ok());
  EXPECT_EQ(WriteBytes(0, bytes).code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(ReadBytes(0, bytes).code(), ErrorCode::kInvalidVersion);
  Slice read = ServedNode::Read(0, bytes);
  read.epoch = AccessEpoch{4};
  EXPECT_TRUE(Run(read).ok());
}

TEST_P(TransportSuite, RefusesAnUnknownSegment) {
  std::vector<std::byte> bytes(100);
  Slice slice = ServedNode::Read(0, bytes);
  slice.segment = SegmentId{1, 2};
  EXPECT_EQ(Run(slice).code(), ErrorCode::kSegmentNotFound);
  Slice write = node().Write(0, bytes, PutId{1});
  write.segment = SegmentId{1, 2};
  EXPECT_EQ(Run(write).code(), ErrorCode::kSegmentNotFound);
}

TEST_P(TransportSuite, RefusesWhatIsNotWhollyInTheSegment) {
  const uint64_t size = node().memory().size();
  std::vector<std::byte> bytes = Pattern(100, 1);
  for (const uint64_t offset :
       {size - 99, size, size + 1, UINT64_MAX - 99, UINT64_MAX - 50, UINT64_MAX}) {
    EXPECT_EQ(ReadBytes(offset, bytes).code(), ErrorCode::kInvalidParams) << offset;
    EXPECT_EQ(WriteBytes(offset, bytes).code(), ErrorCode::kInvalidParams) << offset;
  }
  EXPECT_TRUE(WriteBytes(size - 100, bytes).ok());
}

TEST_P(TransportSuite, RefusesAWriteWhoseGrantHasEnded) {
  std::vector<std::byte> bytes = Pattern(100, 1);
  Slice slice = node().Write(0, bytes, PutId{1});
  slice.grant.deadline_ms = 5;
  EXPECT_EQ(Run(slice).code(), ErrorCode::kInvalidVersion);
  EXPECT_TRUE(MemoryIs(0, std::vector<std::byte>(100)));
}

TEST_P(TransportSuite, RefusesWritesWhileTheMastersClockIsUnknown) {
  std::vector<std::byte> bytes = Pattern(100, 1);
  node().master_clock().Reset();
  EXPECT_EQ(WriteBytes(0, bytes).code(), ErrorCode::kInvalidVersion);
  EXPECT_TRUE(ReadBytes(0, bytes).ok());
}

TEST_P(TransportSuite, AFencedPutCannotWriteAnyMore) {
  std::vector<std::byte> bytes = Pattern(100, 1);
  ASSERT_TRUE(WriteBytes(0, bytes, PutId{1}).ok());
  ASSERT_TRUE(connection_->Fence(ServedNode::kSegment, PutId{1}, In(Seconds(5))).ok());
  std::vector<std::byte> late = Pattern(100, 2);
  EXPECT_EQ(WriteBytes(0, late, PutId{1}).code(), ErrorCode::kInvalidVersion);
  EXPECT_TRUE(MemoryIs(0, bytes));
  EXPECT_TRUE(WriteBytes(0, late, PutId{2}).ok());
  EXPECT_TRUE(connection_->Fence(ServedNode::kSegment, PutId{1}, In(Seconds(5))).ok())
      << "fencing again";
}

TEST_P(TransportSuite, SupersedeSetsTheFlagOfThatPutOnly) {
  PutSeal(640, PutId{9});
  EXPECT_EQ(connection_
                ->Supersede(ServedNode::kSegment, ServedNode::kEpoch, 640, PutId{8}, In(Seconds(5)))
                .code(),
            ErrorCode::kReplicaIsGone);
  std::vector<std::byte> seal_bytes(kSealBytes);
  Seal seal;
  ASSERT_TRUE(ReadBytes(640, seal_bytes).ok());
  ASSERT_TRUE(
      DecodeSeal(std::span<const std::byte, kSealBytes>(seal_bytes.data(), kSealBytes), seal).ok());
  EXPECT_FALSE(seal.superseded);
  for (int i = 0; i < 2; ++i) {  // twice is fine
    EXPECT_TRUE(
        connection_
            ->Supersede(ServedNode::kSegment, ServedNode::kEpoch, 640, PutId{9}, In(Seconds(5)))
            .ok());
  }
  ASSERT_TRUE(ReadBytes(640, seal_bytes).ok());
  ASSERT_TRUE(
      DecodeSeal(std::span<const std::byte, kSealBytes>(seal_bytes.data(), kSealBytes), seal).ok());
  EXPECT_TRUE(seal.superseded);
  EXPECT_EQ(seal.put_id, PutId{9});
}

TEST_P(TransportSuite, SupersedeRefusesWhatCannotBe) {
  const auto supersede = [&](SegmentId segment, uint64_t epoch, uint64_t offset) {
    return connection_->Supersede(segment, AccessEpoch{epoch}, offset, PutId{9}, In(Seconds(5)))
        .code();
  };
  EXPECT_EQ(supersede(ServedNode::kSegment, 3, 640),
            ErrorCode::kReplicaIsGone);  // zeros are no seal
  EXPECT_EQ(supersede(ServedNode::kSegment, 4, 640), ErrorCode::kInvalidVersion);
  EXPECT_EQ(supersede(SegmentId{1, 1}, 3, 640), ErrorCode::kSegmentNotFound);
  EXPECT_EQ(supersede(ServedNode::kSegment, 3, node().memory().size() - 63),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(supersede(ServedNode::kSegment, 3, UINT64_MAX - 10), ErrorCode::kInvalidParams);
}

TEST_P(TransportSuite, ViewsShowTheMemoryInPlaceOrAreNotThereAtAll) {
  std::vector<std::byte> bytes = Pattern(5000, 1);
  ASSERT_TRUE(WriteBytes(64, bytes).ok());
  const Result<ByteSpan> view =
      connection_->View(ServedNode::kSegment, ServedNode::kEpoch, 64, 5000);
  if (!harness_->transport().capabilities().views) {
    EXPECT_EQ(view.code(), ErrorCode::kNotSupported);
    return;
  }
  ASSERT_TRUE(view.ok()) << view.message();
  EXPECT_TRUE(std::equal(view->begin(), view->end(), bytes.begin(), bytes.end()));
  bytes = Pattern(5000, 2);
  ASSERT_TRUE(WriteBytes(64, bytes).ok());
  EXPECT_TRUE(std::equal(view->begin(), view->end(), bytes.begin(), bytes.end()))
      << "a view is no copy";
  const auto code = [&](SegmentId segment, uint64_t epoch, uint64_t offset, uint64_t length) {
    return connection_->View(segment, AccessEpoch{epoch}, offset, length).code();
  };
  EXPECT_EQ(code(ServedNode::kSegment, 2, 0, 1), ErrorCode::kInvalidVersion);
  EXPECT_EQ(code(ServedNode::kSegment, 3, node().memory().size(), 1), ErrorCode::kInvalidParams);
  EXPECT_EQ(code(ServedNode::kSegment, 3, UINT64_MAX, 2), ErrorCode::kInvalidParams);
  EXPECT_TRUE(
      connection_->View(ServedNode::kSegment, ServedNode::kEpoch, 0, node().memory().size()).ok());
}

TEST_P(TransportSuite, ADeadlineThatHasPassedMovesNothing) {
  std::vector<std::byte> bytes = Pattern(100, 1);
  Slice slice = node().Write(0, bytes, PutId{1});
  connection_->Execute({&slice, 1}, SystemClock().Now() - Seconds(1));
  EXPECT_EQ(slice.status.code(), ErrorCode::kRpcTimeout);
  EXPECT_TRUE(MemoryIs(0, std::vector<std::byte>(100)));
  EXPECT_TRUE(WriteBytes(0, bytes).ok()) << "the connection works afterwards";
}

TEST_P(TransportSuite, ARemovedSegmentIsNotFound) {
  std::vector<std::byte> bytes(100);
  ASSERT_TRUE(ReadBytes(0, bytes).ok());
  ASSERT_TRUE(segments().Remove(ServedNode::kSegment, In(Seconds(5))).ok());
  // A reader of shared memory sees the closed epoch; the others ask the node.
  const ErrorCode code = ReadBytes(0, bytes).code();
  EXPECT_TRUE(code == ErrorCode::kSegmentNotFound || code == ErrorCode::kInvalidVersion) << code;
  EXPECT_EQ(WriteBytes(0, bytes).code(), ErrorCode::kSegmentNotFound);
}

TEST_P(TransportSuite, ManyThreadsShareAConnection) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 40;
  constexpr size_t kBytes = 100'000;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const uint64_t offset = static_cast<uint64_t>(t) * kMiB;
      std::vector<std::byte> got(kBytes);
      for (int i = 0; i < kRounds; ++i) {
        std::vector<std::byte> sent = Pattern(kBytes, static_cast<uint64_t>(t * kRounds + i));
        if (!WriteBytes(offset, sent).ok() || !ReadBytes(offset, got).ok() ||
            AsText(got) != AsText(sent)) {
          ++wrong;
        };
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  // A server counts an access out after the reply is on its way.
  EXPECT_TRUE(Eventually([&] { return Idle(); }));
}

// No byte of an older epoch may land once the epoch has advanced, and no reader of an older epoch may see a byte of a newer
// one. (A reader of the new epoch may see what the old one left: telling that apart is the seal's business.)
TEST_P(TransportSuite, EpochsDoNotMixUnderLoad) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "readers and writers of one place race on purpose here";
#endif
  constexpr size_t kBytes = 3 * kMiB;
  constexpr uint64_t kFirst = ServedNode::kEpoch.value;
  constexpr uint64_t kEnd = kFirst + 9;
  std::atomic<bool> stop{false};
  std::atomic<int> too_new{0};
  const auto move = [&](SliceOp op, std::vector<std::byte>& bytes, uint64_t epoch, PutId put_id) {
    Slice slice = node().Write(0, bytes, put_id);
    slice.op = op;
    slice.epoch = AccessEpoch{epoch};
    connection_->Execute({&slice, 1}, In(Seconds(20)));
    return slice.status.ok();
  };
  std::thread reader([&] {
    std::vector<std::byte> got(kBytes);
    while (!stop) {
      for (uint64_t epoch = kFirst; epoch < kEnd; ++epoch) {
        if (!move(SliceOp::kRead, got, epoch, kNoPut)) continue;
        int wrong = 0;
        for (const std::byte b : got) wrong += static_cast<uint64_t>(b) > epoch ? 1 : 0;
        too_new += wrong;
      }
    }
  });
  std::thread writer([&] {
    while (!stop) {
      for (uint64_t epoch = kFirst; epoch < kEnd; ++epoch) {
        std::vector<std::byte> bytes(kBytes, static_cast<std::byte>(epoch));
        (void)move(SliceOp::kWrite, bytes, epoch, PutId{1});
      }
    }
  });
  for (uint64_t epoch = kFirst + 1; epoch < kEnd; ++epoch) {
    EXPECT_TRUE(
        segments().SetEpoch(ServedNode::kSegment, AccessEpoch{epoch}, In(Seconds(10))).ok());
    // What an old writer might still be doing would show here.
    std::fill_n(node().memory().begin(), kBytes, std::byte{0});
    std::vector<std::byte> mine(kBytes, static_cast<std::byte>(epoch));
    (void)move(SliceOp::kWrite, mine, epoch, PutId{2});
    size_t old = 0;
    for (size_t i = 0; i < kBytes; ++i) {
      const auto byte = static_cast<uint64_t>(node().memory()[i]);
      old += byte != epoch && byte != 0 ? 1 : 0;
    }
    EXPECT_EQ(old, 0u) << "bytes of an old epoch in epoch " << epoch;
  }
  stop = true;
  reader.join();
  writer.join();
  EXPECT_EQ(too_new.load(), 0);
}

#define MC_TRANSPORT_SUITE(name, factory)                                       \
  INSTANTIATE_TEST_SUITE_P(name, TransportSuite,                                \
                           ::testing::Values(TransportHarnessFactory(factory)), \
                           [](const auto&) { return std::string("it"); })

}  // namespace mooncake::testing
