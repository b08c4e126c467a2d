#include "client/core/put_session.h"

#include <gtest/gtest.h>

namespace mooncake {
namespace {

using Phase = PutSession::Phase;

constexpr SegmentId kA{1, 1};
constexpr SegmentId kB{2, 2};

PutStartReply TwoReplicas() {
  return {.put_id = PutId{9},
          .replicas = {{.extents = {{.segment = kA, .offset = 0, .length = 60},
                                    {.segment = kA, .offset = 640, .length = 40}}},
                       {.extents = {{.segment = kB, .offset = 0, .length = 100}}}}};
}
Status Error(ErrorCode code) { return Status(code, "x"); }

TEST(PutSession, WritesEveryExtentOfEveryReplica) {
  PutSession session(TwoReplicas(), 100);
  ASSERT_EQ(session.phase(), Phase::kWriting);
  ASSERT_EQ(session.writes().size(), 3u);
  EXPECT_EQ(session.writes()[1].object_offset, 60u);
  EXPECT_EQ(session.writes()[2].object_offset, 0u);
  EXPECT_EQ(session.replicas(), 2u);
}

TEST(PutSession, AnEmptyObjectHasNothingToWrite) {
  PutSession session({.put_id = PutId{9}}, 0);
  EXPECT_EQ(session.phase(), Phase::kEnding);
  session.OnEnd(Status::Ok());
  EXPECT_TRUE(session.outcome().ok());
}

TEST(PutSession, AReplyThatDoesNotFitIsRevoked) {
  for (const uint64_t size : {0, 50, 99, 101}) {
    PutSession session(TwoReplicas(), size);
    EXPECT_EQ(session.phase(), Phase::kRevoking) << size;
    EXPECT_TRUE(session.settled());
    session.OnRevoke(Status::Ok());
    EXPECT_EQ(session.outcome().code(), ErrorCode::kInternal);
  }
  PutSession none({.put_id = PutId{9}}, 1);
  EXPECT_EQ(none.phase(), Phase::kRevoking);
}

TEST(PutSession, AnAcknowledgedWriteIsEnded) {
  PutSession session(TwoReplicas(), 100);
  session.OnWrites({{}, {}, {}});
  ASSERT_EQ(session.phase(), Phase::kEnding);
  session.OnEnd(Status::Ok());
  EXPECT_EQ(session.phase(), Phase::kDone);
  EXPECT_TRUE(session.outcome().ok());
}

TEST(PutSession, ARefusedWriteIsRevokedAsSettled) {
  PutSession session(TwoReplicas(), 100);
  session.OnWrites({{}, Error(ErrorCode::kInvalidVersion), {}});
  ASSERT_EQ(session.phase(), Phase::kRevoking);
  EXPECT_TRUE(session.settled());
  session.OnRevoke(Error(ErrorCode::kRpcTimeout));
  EXPECT_EQ(session.outcome().code(), ErrorCode::kInvalidVersion);
}

TEST(PutSession, AnUnknownWriteIsFencedOncePerSegment) {
  PutSession session(TwoReplicas(), 100);
  session.OnWrites({Error(ErrorCode::kTransferFail), Error(ErrorCode::kRpcTimeout), {}});
  ASSERT_EQ(session.phase(), Phase::kFencing);
  EXPECT_EQ(session.to_fence(), std::vector<SegmentId>{kA});
  session.OnFences(true);
  EXPECT_EQ(session.phase(), Phase::kRevoking);
  EXPECT_TRUE(session.settled());
}

TEST(PutSession, AWriteThatWasNeverSentNeedsNoFence) {
  PutSession session(TwoReplicas(), 100);
  session.OnWrites({{}, {}, Error(ErrorCode::kTransferFail)}, {false, false, true});
  EXPECT_EQ(session.phase(), Phase::kRevoking);
  EXPECT_TRUE(session.settled());
}

TEST(PutSession, WithoutItsFenceTheSpaceIsHeld) {
  PutSession session(TwoReplicas(), 100);
  session.OnWrites({Error(ErrorCode::kTransferFail), {}, Error(ErrorCode::kRpcTimeout)});
  EXPECT_EQ(session.to_fence(), (std::vector<SegmentId>{kA, kB}));
  session.OnFences(false);
  EXPECT_FALSE(session.settled());
  session.OnRevoke(Status::Ok());
  EXPECT_EQ(session.outcome().code(), ErrorCode::kTransferFail);
}

TEST(PutSession, AnEndOfALostPutIsRevokedToFreeItsSpace) {
  for (const ErrorCode code : {ErrorCode::kObjectNotFound, ErrorCode::kInvalidWrite}) {
    PutSession session(TwoReplicas(), 100);
    session.OnWrites({{}, {}, {}});
    session.OnEnd(Error(code));
    ASSERT_EQ(session.phase(), Phase::kRevoking);
    EXPECT_TRUE(session.settled());
    session.OnRevoke(Error(code));
    EXPECT_EQ(session.phase(), Phase::kDone);
    EXPECT_EQ(session.outcome().code(), code);
    EXPECT_TRUE(session.forgotten());
  }
}

TEST(PutSession, AnEndThatIsRefusedIsRevoked) {
  PutSession session(TwoReplicas(), 100);
  session.OnWrites({{}, {}, {}});
  session.OnEnd(Error(ErrorCode::kTenantQuotaExceeded));
  ASSERT_EQ(session.phase(), Phase::kRevoking);
  session.OnRevoke(Error(ErrorCode::kInvalidWrite));
  EXPECT_EQ(session.outcome().code(), ErrorCode::kTenantQuotaExceeded);
}

// The session after as many unanswered Ends as it sends.
PutSession EndInDoubt() {
  PutSession session(TwoReplicas(), 100);
  session.OnWrites({{}, {}, {}});
  for (int i = 0; i < PutSession::kMaxEnds; ++i) {
    EXPECT_EQ(session.phase(), Phase::kEnding);
    session.OnEnd(Error(ErrorCode::kRpcTimeout));
  }
  EXPECT_EQ(session.phase(), Phase::kRevoking);
  return session;
}

TEST(PutSession, ARepeatedEndThatSucceedsIsASuccess) {
  PutSession session(TwoReplicas(), 100);
  session.OnWrites({{}, {}, {}});
  session.OnEnd(Error(ErrorCode::kRpcTimeout));
  session.OnEnd(Status::Ok());
  EXPECT_TRUE(session.outcome().ok());
}

TEST(PutSession, AnEndThatFindsNothingAfterOneWithoutAnswerProvesNothing) {
  PutSession session(TwoReplicas(), 100);
  session.OnWrites({{}, {}, {}});
  session.OnEnd(Error(ErrorCode::kRpcTimeout));
  session.OnEnd(Error(ErrorCode::kObjectNotFound));
  session.OnRevoke(Error(ErrorCode::kObjectNotFound));
  EXPECT_EQ(session.outcome().code(), ErrorCode::kRpcTimeout);
  EXPECT_FALSE(session.forgotten());
  EXPECT_NE(session.outcome().message().find("not known"), std::string::npos);
}

TEST(PutSession, ARevokeTellsWhatBecameOfAnEndInDoubt) {
  PutSession revoked = EndInDoubt();
  revoked.OnRevoke(Status::Ok());
  EXPECT_EQ(revoked.outcome().code(), ErrorCode::kRpcTimeout);

  PutSession ended = EndInDoubt();
  ended.OnRevoke(Error(ErrorCode::kObjectAlreadyExists));
  EXPECT_TRUE(ended.outcome().ok());

  PutSession unknown = EndInDoubt();
  unknown.OnRevoke(Error(ErrorCode::kRpcTimeout));
  EXPECT_EQ(unknown.outcome().code(), ErrorCode::kRpcTimeout);
  EXPECT_NE(unknown.outcome().message().find("not known"), std::string::npos);
}

TEST(PutSession, AnAbandonedPutIsRevokedAsSettled) {
  PutSession session(TwoReplicas(), 100);
  session.Abandon(Error(ErrorCode::kRpcTimeout));
  EXPECT_EQ(session.phase(), Phase::kRevoking);
  EXPECT_TRUE(session.settled());
}

}  // namespace
}  // namespace mooncake
