// A rank leaves in good order. A rank that has all its data continues. A rank that waits for it
// receives an error with the departure and the operation.
#include <gmock/gmock.h>

#include <latch>

#include "comm/establish/ranks_for_test.hpp"
#include "link_names.hpp"

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using transport::LinkNames;

class Leaves : public testing::TestWithParam<const char*> {
 protected:
  /// Gives each rank a process of its own, from Ringlet's view, unless links are inproc.
  void Run(std::uint32_t ranks, const RankBody& body) const {
    const EnvMap environment = {{"RINGLET_LINKS", GetParam()}, {"RINGLET_TIMEOUT", "60"}};
    const auto shared = ProcessWith(environment);
    const bool one_process = std::string_view(GetParam()) == "inproc";
    RunRanks(
        ranks, [&](std::uint32_t) { return one_process ? shared : ProcessWith(environment); },
        body);
  }
};
INSTANTIATE_TEST_SUITE_P(Links, Leaves,
                         testing::ValuesIn(LinkNames(transport::Libfabric::kWithout)),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(Leaves, AWaitingRankNamesTheDepartedRank) {
  std::latch gone(3);
  Run(3, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    ASSERT_TRUE(SumOfRanks(**formed, 1000).ok());
    if (rank == 1) formed->reset();
    gone.arrive_and_wait();
    if (rank == 1) return;
    const Status status = SumOfRanks(**formed, 1000);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kPeerLost);
    EXPECT_THAT(
        status.error().message,
        AllOf(HasSubstr("rank 1"),
              HasSubstr("left the communicator (destroyed or aborted it) before operation 1")));
    EXPECT_EQ(status.error().lost_rank, 1);
  });
}

// The rank has no link to it yet, and no connection of the control network either.
TEST_P(Leaves, ARankWaitingForAMessageNamesTheDepartedRank) {
  std::latch gone(4);
  Run(4, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank == 3) formed->reset();
    gone.arrive_and_wait();
    if (rank != 1) {
      if (rank == 3) return;
      EXPECT_TRUE((*formed)->control().AwaitFailure(std::chrono::seconds(60)).has_value());
      return;
    }
    Bytes data(8);
    const Status status = Receive(**formed, Rank{3}, data, data.size(), DataType::kUint8);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kPeerLost);
    EXPECT_THAT(status.error().message,
                AllOf(HasSubstr("rank 3"),
                      HasSubstr("left the communicator (destroyed or aborted it) before a "
                                "message after 0 collectives")));
    EXPECT_EQ(status.error().lost_rank, 3);
  });
}

// Data sent before the departure still reaches later ranks.
TEST_P(Leaves, DataSentBeforeTheDepartureArrives) {
  for (const std::size_t count : {1u, 1000u, 40'000u}) {
    std::latch gone(3);
    Run(3, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      std::vector<float> data(count, rank == 1 ? 5.0f : 0.0f);
      const std::span<std::byte> bytes = std::as_writable_bytes(std::span(data));
      const bool small = count == 1;  // the root need not wait for any rank
      if (rank != 1 && small) gone.arrive_and_wait();
      const Status status =
          Broadcast(**formed, {.input = bytes, .output = bytes, .count = count, .root = Rank{1}});
      EXPECT_TRUE(status.ok()) << status.error().message;
      EXPECT_EQ(data, std::vector<float>(count, 5.0f));
      formed->reset();
      if (rank == 1 && small) gone.arrive_and_wait();
    });
  }
}

}  // namespace
}  // namespace ringlet::comm
