#include "cxx/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "cxx/ranks_for_test.hpp"

namespace ringlet::cxx {
namespace {

using testing::HasSubstr;

// An error is found before any data is sent, so one rank of three can call alone.
class WrongCall : public testing::Test {
 protected:
  std::vector<Communicator> ranks_ = AllRanks(3);
  Communicator& root_ = ranks_[0];
  std::vector<float> two_ = std::vector<float>(2), six_ = std::vector<float>(6),
                     seven_ = std::vector<float>(7);
  std::vector<double> doubles_ = std::vector<double>(2);

  static void ExpectRefused(const Status& status, const std::string& why) {
    ASSERT_FALSE(status.ok()) << why;
    EXPECT_EQ(status.error().code, Code::kInvalidArgument);
    EXPECT_THAT(status.error().message, HasSubstr(why));
  }
  void TearDown() override {
    for (const Communicator& rank : ranks_) EXPECT_FALSE(rank.failure()) << "nothing happened";
  }
};

TEST_F(WrongCall, NamesBothLengthsThatDoNotFit) {
  ExpectRefused(root_.AllReduce(two_, six_), "all_reduce: receive has 6 elements, not 2 as send");
  ExpectRefused(root_.Reduce(two_, six_, ReduceOp::kMax, Rank{0}),
                "reduce: receive has 6 elements, not 2 as send");
  ExpectRefused(root_.AllGather(two_, seven_),
                "all_gather: receive has 7 elements, not 6 = 3 ranks x the 2 of send");
  ExpectRefused(root_.Gather(two_, seven_, Rank{0}),
                "gather: receive has 7 elements, not 6 = 3 ranks x the 2 of send");
  ExpectRefused(root_.ReduceScatter(seven_, two_),
                "reduce_scatter: send has 7 elements, not 6 = 3 ranks x the 2 of receive");
  ExpectRefused(root_.Scatter(seven_, two_, Rank{0}),
                "scatter: send has 7 elements, not 6 = 3 ranks x the 2 of receive");
}

TEST_F(WrongCall, ReportsCountsThatTheRanksDoNotDivide) {
  std::vector<float> nine(9);
  ExpectRefused(root_.AllToAll(seven_, six_), "send has 7 elements, not a multiple of the 3 ranks");
  ExpectRefused(root_.AllToAll(six_, nine), "receive has 9 elements, not 6 as send");
}

TEST_F(WrongCall, NamesBothTypesThatDiffer) {
  ExpectRefused(root_.AllReduce(two_, doubles_),
                "send and receive differ in type: send has float, receive has double");
}

TEST_F(WrongCall, ReportsUnknownRanksTypesAndReductions) {
  ExpectRefused(root_.Broadcast(two_, Rank{3}), "root 3 of broadcast");
  ExpectRefused(root_.Send(two_, Rank{3}), "rank 3");
  const SendBuffer typeless(two_.data(), 2, static_cast<DataType>(99));
  ExpectRefused(root_.AllReduce(typeless, two_), "data type 99 does not exist");
  ExpectRefused(root_.AllReduce(two_, two_, static_cast<ReduceOp>(9)),
                "reduction 9 does not exist");
  ExpectRefused(root_.AllReduce(two_, two_, ReduceOp::kBxor), "bxor of float does not exist");
  ExpectRefused(root_.AllReduce(two_, two_, ReduceOp::kPreMulSum), "premulsum");
}

TEST_F(WrongCall, ReportsNullAndSizesLargerThanAnyMemory) {
  ExpectRefused(root_.AllReduce(SendBuffer(nullptr, 2, DataType::kFloat32), two_),
                "send is null, but has 2 elements");
  ExpectRefused(root_.Receive(ReceiveBuffer(nullptr, 2, DataType::kFloat32), Rank{1}),
                "receive: the buffer is null");
  const std::size_t huge = std::numeric_limits<std::size_t>::max();
  ExpectRefused(root_.Send(SendBuffer(two_.data(), huge, DataType::kFloat32), Rank{1}),
                "more than any memory");
  const SendBuffer wraps(two_.data(), std::size_t{1} << 55, DataType::kFloat32);
  ExpectRefused(root_.AllGather(wraps, two_), "not 108086391056891904 = 3 ranks x");
}

TEST_F(WrongCall, ReportsMissingBuffersOfTheRoot) {
  ExpectRefused(root_.Gather(two_, {}, Rank{0}), "receive has 0 elements, not 6");
  ExpectRefused(root_.Scatter({}, two_, Rank{0}), "send has 0 elements, not 6");
  ExpectRefused(root_.Reduce(two_, {}, ReduceOp::kSum, Rank{0}), "receive has 0 elements, not 2");
}

}  // namespace
}  // namespace ringlet::cxx
