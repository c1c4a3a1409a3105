// Collectives without elements. No rank waits for another, but ranks detect different calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/run/group.hpp"
#include "os/clock.hpp"

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using EmptyFormed = Result<std::unique_ptr<Communicator>>;

constexpr CallKind kKinds[] = {CallKind::kAllReduce,     CallKind::kReduce,  CallKind::kBroadcast,
                               CallKind::kAllGather,     CallKind::kGather,  CallKind::kScatter,
                               CallKind::kReduceScatter, CallKind::kAllToAll};

Status Without(Communicator& communicator, CallKind kind) {
  return communicator.Run(Call{.kind = kind});
}

Status Sum(Communicator& communicator, std::vector<float>& data) {
  return AllReduce(communicator, {.input = std::as_bytes(std::span(data)),
                                  .output = std::as_writable_bytes(std::span(data)),
                                  .count = data.size()});
}

class EmptyCalls : public testing::TestWithParam<std::string> {
 protected:
  EnvMap environment_ = {{"RINGLET_TIMEOUT", "20"},
                         {"RINGLET_HOST_MEMORY", GetParam() == "memory" ? "1" : "0"}};
};
INSTANTIATE_TEST_SUITE_P(WithMeasuredLinks, EmptyCalls, testing::Values("memory", "links"),
                         [](const auto& over) { return over.param; });

TEST_P(EmptyCalls, ReturnBeforeTheOtherRanksCall) {
  std::latch called(1);
  RunRanks(3, environment_, [&](std::uint32_t rank, EmptyFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Communicator& mine = **formed;
    EXPECT_EQ(mine.host_memory().IsHere(), GetParam() == "memory");
    if (rank > 0) called.wait();
    for (const CallKind kind : kKinds) EXPECT_TRUE(Without(mine, kind).ok());
    if (rank == 0) called.count_down();
    const Status sum = SumOfRanks(mine, 1000);
    EXPECT_TRUE(sum.ok()) << sum.error().message;
  });
}

TEST_P(EmptyCalls, RunInOrderWithinAGroup) {
  RunRanks(2, environment_, [&](std::uint32_t rank, EmptyFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const std::shared_ptr<Communicator> mine = std::move(*formed);
    std::vector<float> data(10, static_cast<float>(rank + 1));
    const Call call{.input = std::as_bytes(std::span(data)),
                    .output = std::as_writable_bytes(std::span(data)),
                    .count = data.size()};
    const Status status =
        RunGroup({{mine, Call{}}, {mine, call}, {mine, Call{}}, {mine, Call{}}, {mine, call}});
    EXPECT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(data[9], 6);
    EXPECT_TRUE(RunGroup({{mine, Call{}}}).ok());
    EXPECT_TRUE(RunGroup({}).ok());
  });
}

TEST_P(EmptyCalls, AreDetectedByTheNextOperationIfASingleRankCallsThem) {
  RunRanks(2, environment_, [&](std::uint32_t rank, EmptyFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank == 0) {
      EXPECT_TRUE(Without(**formed, CallKind::kAllReduce).ok());
    }
    std::vector<float> data(8);
    const Status status = Sum(**formed, data);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kProtocol) << status.error().message;
  });
}

// The other rank is in no operation that would reveal its call, so it is queried.
TEST_P(EmptyCalls, AreDetectedByRanksThatHaveElements) {
  std::latch found(1);
  RunRanks(2, environment_, [&](std::uint32_t rank, EmptyFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank == 0) {
      EXPECT_TRUE(Without(**formed, CallKind::kAllReduce).ok());
      found.wait();
      EXPECT_TRUE((*formed)->control().AwaitFailure(std::chrono::seconds(20)));
      return;
    }
    std::vector<float> data(8);
    const Status status = Sum(**formed, data);
    found.count_down();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kProtocol) << status.error().message;
    EXPECT_THAT(status.error().message,
                AllOf(HasSubstr("all_reduce of 0"), HasSubstr("all_reduce of 8")));
  });
}

// The order of messages identifies them, so one without elements counts.
TEST_P(EmptyCalls, AnEmptyMessageIsAwaited) {
  std::atomic<bool> received{false};
  RunRanks(2, environment_, [&](std::uint32_t rank, EmptyFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank == 0) {
      const Status status = Receive(**formed, Rank{1}, {}, 0, DataType::kFloat32);
      received = true;
      EXPECT_TRUE(status.ok()) << status.error().message;
      return;
    }
    const Instant give_up = os::Now() + std::chrono::seconds(20);
    while ((*formed)->control().Ask(Rank{0}, std::chrono::seconds(1)).activity.waits_for != 1u)
      ASSERT_LT(os::Now(), give_up) << "rank 0 does not wait for this one";
    EXPECT_FALSE(received);
    EXPECT_TRUE(Send(**formed, Rank{0}, {}, 0, DataType::kFloat32).ok());
  });
}

TEST_P(EmptyCalls, AreRefusedByAFailedCommunicator) {
  RunRanks(1, environment_, [&](std::uint32_t, EmptyFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    (*formed)->Abort("a test");
    ASSERT_TRUE((*formed)->control().AwaitFailure(std::chrono::seconds(20)));
    EXPECT_EQ(Without(**formed, CallKind::kAllReduce).error().code, Code::kAborted);
  });
}

}  // namespace
}  // namespace ringlet::comm
