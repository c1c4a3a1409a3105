#include "comm/run/communicator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <future>

#include "comm/establish/ranks_for_test.hpp"
#include "os/clock.hpp"
#include "transport/ofi/libfabric.hpp"

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const EnvMap kShm = {{"RINGLET_LINKS", "shm"}};

TEST(Communicator, RunsConsecutiveOperations) {
  RunRanks(3, kShm, [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    for (std::size_t i = 0; i < 200; ++i) ASSERT_TRUE(SumOfRanks(**communicator, i * 7 % 100).ok());
  });
}

TEST(Communicator, LibfabricLinksHostsIfTheSettingSelectsIt) {
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

// Each rank has its own RINGLET_WAIT, and only spinning ranks fetch unregistered memory.
TEST(Communicator, RanksWithDifferentWaitPoliciesAgreeOnTheAlgorithm) {
  const auto process_of = [](std::uint32_t rank) {
    return ProcessWith({{"RINGLET_WAIT", rank == 0 ? "spin" : "yield"}, {"RINGLET_TIMEOUT", "20"}});
  };
  constexpr std::size_t kCount = std::size_t{1} << 18;
  RunRanks(3, process_of, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    for (const std::uint32_t root : {0u, 1u}) {
      std::vector<float> data(kCount, rank == root ? 7.0f : 0.0f);
      const auto bytes = std::as_writable_bytes(std::span(data));
      const Status status = Broadcast(
          **formed, {.input = bytes, .output = bytes, .count = kCount, .root = Rank{root}});
      ASSERT_TRUE(status.ok()) << status.error().message;
      EXPECT_EQ(std::count(data.begin(), data.end(), 7.0f), static_cast<std::ptrdiff_t>(kCount));
    }
  });
}

TEST(Communicator, RefusesUnfittingBuffersAndStaysUsable) {
  RunRanks(1, kShm, [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok());
    std::vector<std::byte> data(64);
    const Status short_output =
        AllReduce(**communicator,
                  {.input = View(data).first(32), .output = std::span(data).first(16), .count = 8});
    EXPECT_EQ(short_output.error().code, Code::kInvalidArgument);
    const Status overlap = AllReduce(
        **communicator,
        {.input = View(data).first(32), .output = std::span(data).subspan(16, 32), .count = 8});
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

// Tests a size that the receiver would fetch from the sender's memory, and one that it would not.
TEST(Communicator, AbortEndsASendWithoutAReceive) {
  for (const std::size_t count : {std::size_t{1} << 20, std::size_t{8} << 20})
    RunRanks(2, kShm, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
      ASSERT_TRUE(communicator.ok());
      if (rank == 1) return (*communicator)->Abort("the test wants it");
      const Bytes data(count);
      const Status status = Send(**communicator, Rank{1}, data, count, DataType::kUint8);
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, Code::kAborted);
      EXPECT_THAT(status.error().message, HasSubstr("the test wants it"));
    });
}

// Resets the TCP connections of this process: a disconnected socket sends RST. The control network
// of one process uses UNIX sockets.
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

TEST(Communicator, AResetLinkIsNotReportedAsALostRank) {
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

// Ranks 0 and 2 do not have a link when the communicator is formed. Ranks 1 and 3 both receive, so
// that their calls last until the reason arrives.
TEST(Communicator, ARankWithoutFreeDescriptorsSendsTheReasonToTheOthers) {
  for (const char* links : {"shm", "tcp"}) {
    std::promise<void> done;
    const auto has_failed = done.get_future().share();
    std::latch all(4);
    const EnvMap environment = {{"RINGLET_LINKS", links}, {"RINGLET_TIMEOUT", "1"}};
    RunRanks(4, environment, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
      std::vector<float> data(1);
      const auto send_across = [&](std::uint32_t sender) {
        const Transfer transfer{.peer = Rank{(rank + 2) % 4},
                                .sends = rank == sender,
                                .from = std::as_bytes(std::span(data)),
                                .to = std::as_writable_bytes(std::span(data)),
                                .count = 1};
        return formed.ok() ? (*formed)->Run({&transfer, 1}) : Status(formed.error());
      };
      // UBSan opens a pipe at the first object of a class, so objects of these classes exist
      // before.
      if (rank % 2 == 1) {
        EXPECT_TRUE(send_across(1).ok());
      }
      all.arrive_and_wait();
      if (rank != 0) has_failed.wait();
      rlimit before{};
      ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
      const rlimit none{1, before.rlim_max};
      if (rank == 0) ::setrlimit(RLIMIT_NOFILE, &none);
      const Status status = send_across(0);
      ::setrlimit(RLIMIT_NOFILE, &before);
      if (rank == 0) done.set_value();
      ASSERT_FALSE(status.ok());
      EXPECT_THAT(status.error().message,
                  AllOf(HasSubstr("rank 0 (host"), HasSubstr("raise ulimit -n")))
          << links << ", rank " << rank;
    });
  }
}

// The service thread passes the failure to the control network. It is busy here.
TEST(Communicator, ACallAfterAFailureFailsBeforeTheServiceThreadRuns) {
  std::latch both(2);
  RunRanks(
      2, [](std::uint32_t) { return ProcessWith(kShm); },
      [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
        std::promise<void> release;
        if (formed.ok())
          (*formed)->origin().process->driver().Post(
              [released = release.get_future().share()] { released.wait(); });
        both.arrive_and_wait();
        const Status first = formed.ok() ? SumOfRanks(**formed, 1 + rank) : Status(formed.error());
        const Status second = formed.ok() ? SumOfRanks(**formed, 1) : Status(formed.error());
        release.set_value();
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        EXPECT_FALSE(first.ok());
        ASSERT_FALSE(second.ok());
        EXPECT_EQ(second.error().message, first.error().message);
      });
}

}  // namespace
}  // namespace ringlet::comm
