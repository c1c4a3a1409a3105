#include "comm/run/communicator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <future>

#include "comm/establish/ranks_for_test.hpp"
#include "os/process/clock.hpp"
#include "transport/ofi/libfabric.hpp"

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const EnvMap kShm = {{"RINGLET_LINKS", "shm"}};

TEST(Communicator, OperationsFollowEachOther) {
  RunRanks(3, kShm, [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    for (std::size_t i = 0; i < 200; ++i) ASSERT_TRUE(SumOfRanks(**communicator, i * 7 % 100).ok());
  });
}

TEST(Communicator, LibfabricLinksHostsWhereItIsAskedFor) {
  if (const auto fabric = transport::ofi::OpenLibfabric({}); !fabric.ok())
    GTEST_SKIP() << fabric.error().message;
  const auto process_of = [](std::uint32_t rank) {
    return ProcessWith({{"RINGLET_NET", "ofi"}, {"RINGLET_HOSTID", rank < 2 ? "a" : "b"}});
  };
  RunRanks(4, process_of, [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    for (const std::size_t count : {1u, 3000u, 300'000u}) {
      const Status status = SumOfRanks(**communicator, count);
      ASSERT_TRUE(status.ok()) << status.error().message;
    }
    EXPECT_THAT((*communicator)->links().Summary(),
                AllOf(HasSubstr("shm"), HasSubstr("ofi"), testing::Not(HasSubstr("tcp"))));
  });
}

// RINGLET_WAIT is each rank's own, and only ranks that look fetch memory that is not registered.
TEST(Communicator, RanksThatWaitInDifferentWaysAgreeHowACallRuns) {
  const auto process_of = [](std::uint32_t rank) {
    return ProcessWith({{"RINGLET_WAIT", rank == 0 ? "spin" : "yield"}, {"RINGLET_TIMEOUT", "20"}});
  };
  constexpr std::size_t kCount = std::size_t{1} << 18;
  RunRanks(3, process_of, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    for (const std::uint32_t root : {0u, 1u}) {
      std::vector<float> data(kCount, rank == root ? 7.0f : 0.0f);
      const auto bytes = std::as_writable_bytes(std::span(data));
      const Status status = (*formed)->Broadcast(
          {.input = bytes, .output = bytes, .count = kCount, .root = Rank{root}});
      ASSERT_TRUE(status.ok()) << status.error().message;
      EXPECT_EQ(std::count(data.begin(), data.end(), 7.0f), static_cast<std::ptrdiff_t>(kCount));
    }
  });
}

TEST(Communicator, ARankThatCallsSomethingElseIsNamedToAll) {
  RunRanks(3, kShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
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

TEST(Communicator, CallsThatShareNoLinkAreToldFromEachOtherLongBeforeTheDeadline) {
  // Rank 2 waits for rank 0 to scatter, while the others reduce to rank 1, and rank 0 only sends.
  RunRanks(3, kShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    std::vector<std::byte> in(96), out(96);
    const Call call{.input = View(in).first(32),
                    .output = std::span(out).first(rank == 0 ? 96 : 32),
                    .count = 8,
                    .root = Rank{rank == 2 ? 0u : 1u}};
    const Status status =
        rank == 2 ? (*communicator)->Scatter(call) : (*communicator)->Reduce(call);
    std::optional<Error> failure;
    if (!status.ok()) failure = status.error();
    // A rank that only sends may be done before any rank finds out.
    if (!failure) failure = (*communicator)->control().AwaitFailure(std::chrono::seconds(20));
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->code, Code::kProtocol) << failure->message;
    EXPECT_THAT(failure->message,
                AllOf(HasSubstr("rank 2 called scatter"), HasSubstr("called reduce of 8 float")));
  });
}

TEST(Communicator, AMessageAgainstACollectiveIsNamedAtTheDeadline) {
  // Small all-reduces among 4 ranks use no link between the ranks 0 and 3.
  RunRanks(4, {{"RINGLET_LINKS", "shm"}, {"RINGLET_TIMEOUT", "0.3"}},
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok()) << communicator.error().message;
             std::vector<std::byte> data(32);
             const Status status =
                 rank == 3 ? (*communicator)->Receive(Rank{0}, data, 8, DataType::kFloat32)
                           : SumOfRanks(**communicator, 8);
             ASSERT_FALSE(status.ok());
             EXPECT_THAT(status.error().message, AllOf(HasSubstr("a message of 8 float to rank 3"),
                                                       HasSubstr("all_reduce of 8 float")));
           });
}

/// Waits for a rank, in words that the test chooses.
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

// Rank 1 has called something else, which rank 0 learns when it asks: so it is seen whether it
// does.
TEST(Communicator, AsksWhatOthersCalledOnlyWhenItStandsStill) {
  RunRanks(2, kShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Communicator& mine = **communicator;
    std::vector<std::byte> data(36);
    const std::size_t count = 8 + rank;
    const auto called = mine.Prepare(Call{.input = View(data).first(count * 4),
                                          .output = std::span(data).first(count * 4),
                                          .count = count});
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
      ASSERT_EQ(answer.presence, Control::Presence::kHere);
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

/// Both ranks have prepared their operation `number`, of `count` floats, which none has run.
void PrepareSum(Communicator& mine, std::vector<std::byte>& data, std::size_t count) {
  const auto called = mine.Prepare(Call{.input = View(data).first(count * 4),
                                        .output = std::span(data).first(count * 4),
                                        .count = count});
  ASSERT_TRUE(called.ok()) << called.error().message;
}

// How long the operation before took is forgotten: the next one is looked at as early.
TEST(Communicator, LooksAtEachOperationAnew) {
  RunRanks(2, kShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Communicator& mine = **communicator;
    std::vector<std::byte> data(36);
    PrepareSum(mine, data, 8);
    WaitingOperation running(Rank{1 - rank});
    const auto check_after = [&](std::chrono::milliseconds waited) {
      return mine.Check(os::Now() + mine.timeout() - waited, running);
    };
    for (const int seconds : {1, 2, 4}) {
      running.words += " and on";
      EXPECT_TRUE(check_after(std::chrono::seconds(seconds)).ok());
    }
    ASSERT_TRUE(mine.control().Barrier().ok());
    PrepareSum(mine, data, 8 + rank);
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

TEST(Communicator, AFinishedRankIsToldFromOneThatHasNotBegun) {
  RunRanks(2, kShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Communicator& mine = **communicator;
    std::vector<std::byte> data(32);
    PrepareSum(mine, data, 8);
    ASSERT_TRUE(mine.control().Barrier().ok());
    if (rank == 0) {
      const WaitingOperation running(Rank{1});
      const auto after_the_deadline = [&] {
        return mine.Check(os::Now() - std::chrono::seconds(1), running).error().message;
      };
      EXPECT_THAT(after_the_deadline(),
                  AllOf(HasSubstr("rank 1"), HasSubstr("has finished its part")));
      PrepareSum(mine, data, 8);
      EXPECT_THAT(after_the_deadline(),
                  HasSubstr("has not called it: it has begun 1 operations, rank 0 2"));
    }
    ASSERT_TRUE(mine.control().Barrier().ok());
  });
}

TEST(Communicator, ARankThatDoesNotCallAMessageIsNotSaidToBeDone) {
  RunRanks(2, kShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Communicator& mine = **communicator;
    ASSERT_TRUE(mine.control().Barrier().ok());
    if (rank == 0) {
      std::vector<std::byte> data(32);
      const Transfer receives{.peer = Rank{1}, .to = std::span(data), .count = 8};
      EXPECT_TRUE(mine.Prepare(std::span(&receives, 1)).ok());
      const WaitingOperation running(Rank{1});
      EXPECT_THAT(mine.Check(os::Now() - std::chrono::seconds(1), running).error().message,
                  AllOf(HasSubstr("rank 1"), HasSubstr("has not called its side")));
    }
    ASSERT_TRUE(mine.control().Barrier().ok());
  });
}

// A peer names a rank that cannot be asked: it is left at that.
TEST(Communicator, APeerThatWaitsForAnUnknownRankIsNotFollowed) {
  RunRanks(2, kShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Communicator& mine = **communicator;
    std::vector<std::byte> data(32);
    PrepareSum(mine, data, 8);
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

TEST(Communicator, RefusesBuffersThatDoNotFitAndStaysUsable) {
  RunRanks(1, kShm, [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok());
    std::vector<std::byte> data(64);
    const Status short_output =
        (*communicator)
            ->AllReduce(
                {.input = View(data).first(32), .output = std::span(data).first(16), .count = 8});
    EXPECT_EQ(short_output.error().code, Code::kInvalidArgument);
    const Status overlap = (*communicator)
                               ->AllReduce({.input = View(data).first(32),
                                            .output = std::span(data).subspan(16, 32),
                                            .count = 8});
    EXPECT_THAT(overlap.error().message, HasSubstr("overlap"));
    EXPECT_TRUE(SumOfRanks(**communicator, 8).ok());
  });
}

TEST(Communicator, AbortWakesTheRankThatWaitsInAnOperation) {
  RunRanks(2, kShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok());
    if (rank == 1) return (*communicator)->Abort("the test wants it");
    const Status status = SumOfRanks(**communicator, 1000);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kAborted);
    EXPECT_THAT(status.error().message, AllOf(HasSubstr("rank 1"), HasSubstr("the test wants it")));
  });
}

// Of a size that the receiver would fetch from the sender's memory, and of one that it would not.
TEST(Communicator, AbortEndsASendWithoutAReceive) {
  for (const std::size_t count : {std::size_t{1} << 20, std::size_t{8} << 20})
    RunRanks(2, kShm, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
      ASSERT_TRUE(communicator.ok());
      if (rank == 1) return (*communicator)->Abort("the test wants it");
      const Bytes data(count);
      const Status status = (*communicator)->Send(Rank{1}, data, count, DataType::kUint8);
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, Code::kAborted);
      EXPECT_THAT(status.error().message, HasSubstr("the test wants it"));
    });
}

TEST(Communicator, ARankThatDoesNotCallIsNamedAtTheDeadline) {
  RunRanks(2, {{"RINGLET_LINKS", "shm"}, {"RINGLET_TIMEOUT", "0.2"}},
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok());
             if (rank == 1) {
               // Stays, and takes no part, until it hears why the others gave up.
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

TEST(Communicator, TheMissingRankIsFoundBehindThoseThatWaitThemselves) {
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

TEST(Communicator, ARankThatLeavesEarlyIsNamed) {
  RunRanks(2, kShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok());
    if (rank == 1) return;
    const Status status = SumOfRanks(**communicator, 1000);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kPeerLost);
    EXPECT_THAT(status.error().message, AllOf(HasSubstr("rank 1"), HasSubstr("operation 0")));
  });
}

// Resets the TCP connections of this process: a disconnected socket sends RST. The control network
// of one process has UNIX sockets.
void ResetTcpConnections() {
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_storage peer{};
    socklen_t bytes = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) continue;
    if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) continue;
    const sockaddr nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
    ::connect(fd, &nowhere, sizeof nowhere);
  }
}

TEST(Communicator, AResetLinkIsNotTakenForTheEndOfARank) {
  std::latch linked(2), cut(2);
  RunRanks(2, {{"RINGLET_LINKS", "tcp"}},
           [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
             const Status before = formed.ok() ? SumOfRanks(**formed, 10) : formed.error();
             linked.arrive_and_wait();
             if (rank == 0) ResetTcpConnections();
             cut.arrive_and_wait();
             ASSERT_TRUE(before.ok()) << before.error().message;
             const Status status = SumOfRanks(**formed, 10);
             ASSERT_FALSE(status.ok());
             EXPECT_EQ(status.error().code, Code::kPeerLost);
             EXPECT_THAT(status.error().message,
                         AllOf(testing::StartsWith("rank "), HasSubstr("): the link to rank "),
                               testing::Not(HasSubstr("gone"))));
           });
}

// Ranks 0 and 2 have no link when the communicator is formed.
TEST(Communicator, ARankThatLacksDescriptorsForALinkGivesTheReasonToTheOthers) {
  for (const char* links : {"shm", "tcp"}) {
    std::promise<void> done;
    const auto has_failed = done.get_future().share();
    const EnvMap environment = {{"RINGLET_LINKS", links}, {"RINGLET_TIMEOUT", "1"}};
    RunRanks(4, environment, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
      if (rank != 0) has_failed.wait();
      rlimit before{};
      ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
      const rlimit none{1, before.rlim_max};
      if (rank == 0) ::setrlimit(RLIMIT_NOFILE, &none);
      std::vector<float> data(1);
      const Transfer transfer{.peer = Rank{(rank + 2) % 4},
                              .sends = rank < 2,
                              .from = std::as_bytes(std::span(data)),
                              .to = std::as_writable_bytes(std::span(data)),
                              .count = 1};
      const Status status = formed.ok() ? (*formed)->Run({&transfer, 1}) : Status(formed.error());
      ::setrlimit(RLIMIT_NOFILE, &before);
      if (rank == 0) done.set_value();
      ASSERT_FALSE(status.ok());
      EXPECT_THAT(status.error().message,
                  AllOf(HasSubstr("rank 0 (host"), HasSubstr("raise ulimit -n")))
          << links << ", rank " << rank;
    });
  }
}

TEST(Communicator, ARankThatLeavesBeforeAMessageIsNamed) {
  RunRanks(2, kShm, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok());
    ASSERT_TRUE(SumOfRanks(**communicator, 8).ok());
    if (rank == 1) return;
    std::byte value{};
    const Status status = (*communicator)->Receive(Rank{1}, {&value, 1}, 1, DataType::kUint8);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kPeerLost);
    EXPECT_THAT(status.error().message,
                AllOf(HasSubstr("rank 1"), HasSubstr("a message after 1 collectives")));
  });
}

}  // namespace
}  // namespace ringlet::comm
