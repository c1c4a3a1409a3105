#include "comm/run/inquiry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/establish/ranks_for_test.hpp"
#include "os/clock.hpp"

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const EnvMap kInShm = {{"RINGLET_LINKS", "shm"}};

TEST(Inquiry, AllRanksReportADifferentCall) {
  RunRanks(3, kInShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    const Status status = SumOfRanks(**communicator, rank == 1 ? 9 : 8);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message,
                AllOf(HasSubstr("all_reduce of 8 float"), HasSubstr("all_reduce of 9 float"),
                      HasSubstr("rank 1")));
    EXPECT_TRUE((*communicator)->failure().has_value());
    EXPECT_FALSE(SumOfRanks(**communicator, 1).ok()) << "it stays failed";
  });
}

TEST(Inquiry, DetectsDifferentCallsWithoutASharedLinkBeforeTheDeadline) {
  // Rank 2 waits for rank 0 to scatter. The others reduce to rank 1, and rank 0 only sends.
  RunRanks(3, kInShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    std::vector<std::byte> in(96), out(96);
    const Call call{.input = View(in).first(32),
                    .output = std::span(out).first(rank == 0 ? 96 : 32),
                    .count = 8,
                    .root = Rank{rank == 2 ? 0u : 1u}};
    const Status status = rank == 2 ? Scatter(**communicator, call) : Reduce(**communicator, call);
    std::optional<Error> failure;
    if (!status.ok()) failure = status.error();
    // A rank that only sends may finish before any rank detects the error.
    if (!failure) failure = (*communicator)->control().AwaitFailure(std::chrono::seconds(20));
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->code, Code::kProtocol) << failure->message;
    EXPECT_THAT(failure->message,
                AllOf(HasSubstr("rank 2 called scatter"), HasSubstr("called reduce of 8 float")));
  });
}

TEST(Inquiry, ReportsAMessageAgainstACollectiveAtTheDeadline) {
  // Small all-reduces among 4 ranks use no link between the ranks 0 and 3.
  RunRanks(4, {{"RINGLET_LINKS", "shm"}, {"RINGLET_TIMEOUT", "0.3"}},
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok()) << communicator.error().message;
             std::vector<std::byte> data(32);
             const Status status =
                 rank == 3 ? Receive(**communicator, Rank{0}, data, 8, DataType::kFloat32)
                           : SumOfRanks(**communicator, 8);
             ASSERT_FALSE(status.ok());
             EXPECT_THAT(status.error().message, AllOf(HasSubstr("a message of 8 float to rank 3"),
                                                       HasSubstr("all_reduce of 8 float")));
           });
}

/// Waits for a rank, with a text that the test chooses.
class WaitingOperation final : public collective::Operation {
 public:
  explicit WaitingOperation(Rank awaited) : awaited_(awaited) {}
  Result<bool> Advance() override { return false; }
  bool moved() const override { return false; }
  std::string WaitingFor() const override { return words; }
  std::optional<Rank> Awaits() const override { return awaited_; }
  std::string words = "first";

 private:
  Rank awaited_;
};

// Rank 1 has made a different call. Rank 0 fails only if it queries rank 1, which shows if it does.
TEST(Inquiry, QueriesOtherRanksOnlyWithoutProgress) {
  RunRanks(2, kInShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Communicator& mine = **communicator;
    std::vector<std::byte> data(36);
    const std::size_t count = 8 + rank;
    const auto called = mine.Start(Work(Call{.input = View(data).first(count * 4),
                                             .output = std::span(data).first(count * 4),
                                             .count = count}));
    ASSERT_TRUE(called.ok()) << called.error().message;
    WaitingOperation running(Rank{1 - rank});
    const auto check_after = [&](std::chrono::milliseconds waited) {
      return mine.Check(os::Now() + mine.timeout() - waited, running);
    };
    if (rank == 1) {
      EXPECT_TRUE(check_after(std::chrono::milliseconds(0)).ok());
      EXPECT_TRUE(mine.control().AwaitFailure(std::chrono::seconds(60)).has_value());
      return;
    }
    for (bool waits = false; !waits;) {
      const auto answer = mine.control().Ask(Rank{1}, std::chrono::seconds(60));
      ASSERT_EQ(answer.presence, Control::Reachability::kHere);
      waits = answer.activity.waits_for.has_value();
    }
    for (const int seconds : {1, 2, 4}) {
      running.words += " and on";
      EXPECT_TRUE(check_after(std::chrono::seconds(seconds)).ok()) << "it moves";
    }
    const Status status = check_after(std::chrono::seconds(8));
    ASSERT_FALSE(status.ok()) << "it stands still";
    EXPECT_THAT(status.error().message,
                AllOf(HasSubstr("all_reduce of 8 float"), HasSubstr("all_reduce of 9 float")));
    mine.Abort("the test is over");
  });
}

/// Starts an all-reduce of `count` floats, and withdraws it before it has moved data.
void StartSum(Communicator& mine, std::vector<std::byte>& data, std::size_t count) {
  const auto called = mine.Start(Work(Call{.input = View(data).first(count * 4),
                                           .output = std::span(data).first(count * 4),
                                           .count = count}));
  ASSERT_TRUE(called.ok()) << called.error().message;
  (*called)->Withdraw();
}

// The duration of the previous operation is forgotten: the first look at the next one is as early.
TEST(Inquiry, RestartsItsTimeForEachOperation) {
  RunRanks(2, kInShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Communicator& mine = **communicator;
    std::vector<std::byte> data(36);
    StartSum(mine, data, 8);
    WaitingOperation running(Rank{1 - rank});
    const auto check_after = [&](std::chrono::milliseconds waited) {
      return mine.Check(os::Now() + mine.timeout() - waited, running);
    };
    for (const int seconds : {1, 2, 4}) {
      running.words += " and on";
      EXPECT_TRUE(check_after(std::chrono::seconds(seconds)).ok());
    }
    ASSERT_TRUE(mine.control().Barrier().ok());
    StartSum(mine, data, 8 + rank);
    EXPECT_TRUE(check_after(std::chrono::milliseconds(0)).ok()) << "too early to ask";
    ASSERT_TRUE(mine.control().Barrier().ok());
    if (rank == 1) {
      EXPECT_TRUE(mine.control().AwaitFailure(std::chrono::seconds(60)).has_value());
      return;
    }
    EXPECT_TRUE(check_after(std::chrono::milliseconds(500)).ok()) << "it may have moved till then";
    EXPECT_FALSE(check_after(std::chrono::seconds(1)).ok());
    mine.Abort("the test is over");
  });
}

TEST(Inquiry, DistinguishesFinishedFromUnstartedRanks) {
  RunRanks(2, kInShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Communicator& mine = **communicator;
    std::vector<std::byte> data(32);
    StartSum(mine, data, 8);
    ASSERT_TRUE(mine.control().Barrier().ok());
    if (rank == 0) {
      const WaitingOperation running(Rank{1});
      const auto after_the_deadline = [&] {
        return mine.Check(os::Now() - std::chrono::seconds(1), running).error().message;
      };
      EXPECT_THAT(after_the_deadline(),
                  AllOf(HasSubstr("rank 1"), HasSubstr("has finished its part")));
      StartSum(mine, data, 8);
      EXPECT_THAT(after_the_deadline(),
                  HasSubstr("has not called it: it has begun 1 operations, rank 0 has begun 2"));
    }
    ASSERT_TRUE(mine.control().Barrier().ok());
  });
}

TEST(Inquiry, ReportsARankThatDoesNotCallItsMessage) {
  RunRanks(2, kInShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Communicator& mine = **communicator;
    ASSERT_TRUE(mine.control().Barrier().ok());
    if (rank == 0) {
      std::vector<std::byte> data(32);
      const Transfer receives{.peer = Rank{1}, .to = std::span(data), .count = 8};
      EXPECT_TRUE(mine.Start(std::span(&receives, 1)).ok());
      const WaitingOperation running(Rank{1});
      EXPECT_THAT(mine.Check(os::Now() - std::chrono::seconds(1), running).error().message,
                  AllOf(HasSubstr("rank 1"), HasSubstr("has not called its side")));
    }
    ASSERT_TRUE(mine.control().Barrier().ok());
  });
}

// A peer names a rank that cannot be queried, so the chain ends there.
TEST(Inquiry, DoesNotFollowAPeerThatWaitsForAnUnknownRank) {
  RunRanks(2, kInShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Communicator& mine = **communicator;
    std::vector<std::byte> data(32);
    StartSum(mine, data, 8);
    if (rank == 1) mine.control().doing().waits_for = 2;
    ASSERT_TRUE(mine.control().Barrier().ok());
    if (rank == 0) {
      WaitingOperation running(Rank{1});
      for (const int seconds : {1, 2}) {
        const Status status =
            mine.Check(os::Now() + mine.timeout() - std::chrono::seconds(seconds), running);
        EXPECT_TRUE(status.ok()) << status.error().message;
      }
      const Status late = mine.Check(os::Now() - std::chrono::seconds(1), running);
      ASSERT_FALSE(late.ok());
      EXPECT_EQ(late.error().code, Code::kTimeout);
      EXPECT_THAT(late.error().message, testing::StartsWith("rank 0 "));
    }
    ASSERT_TRUE(mine.control().Barrier().ok());
  });
}

TEST(Inquiry, NamesAMissingRankAtTheDeadline) {
  RunRanks(2, {{"RINGLET_LINKS", "shm"}, {"RINGLET_TIMEOUT", "0.2"}},
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok());
             if (rank == 1) {
               // Stays, without a call, until it receives the reason of the others.
               EXPECT_TRUE(
                   (*communicator)->control().AwaitFailure(std::chrono::seconds(20)).has_value());
               return;
             }
             const Status status = SumOfRanks(**communicator, 1000);
             ASSERT_FALSE(status.ok());
             EXPECT_EQ(status.error().code, Code::kTimeout);
             EXPECT_THAT(status.error().message, HasSubstr("waits for rank 1 to begin"));
           });
}

TEST(Inquiry, FindsTheMissingRankBehindWaitingRanks) {
  RunRanks(5, {{"RINGLET_LINKS", "shm"}, {"RINGLET_TIMEOUT", "0.2"}},
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok()) << communicator.error().message;
             std::optional<Error> failure;
             if (rank == 2) {
               failure = (*communicator)->control().AwaitFailure(std::chrono::seconds(20));
             } else {
               failure = SumOfRanks(**communicator, 1000).error();
             }
             ASSERT_TRUE(failure.has_value());
             EXPECT_THAT(failure->message, HasSubstr("rank 2 (host"));
             EXPECT_THAT(failure->message,
                         HasSubstr("has not called it: it has begun 0 operations"));
           });
}

TEST(Inquiry, NamesARankThatLeavesEarly) {
  RunRanks(2, kInShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok());
    if (rank == 1) return;
    const Status status = SumOfRanks(**communicator, 1000);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kPeerLost);
    EXPECT_THAT(status.error().message, AllOf(HasSubstr("rank 1"), HasSubstr("operation 0")));
  });
}

TEST(Inquiry, NamesARankThatLeavesBeforeAMessage) {
  RunRanks(2, kInShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok());
    ASSERT_TRUE(SumOfRanks(**communicator, 8).ok());
    if (rank == 1) return;
    std::byte value{};
    const Status status = Receive(**communicator, Rank{1}, {&value, 1}, 1, DataType::kUint8);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kPeerLost);
    EXPECT_THAT(status.error().message,
                AllOf(HasSubstr("rank 1"), HasSubstr("a message after 1 collectives")));
  });
}

}  // namespace
}  // namespace ringlet::comm
