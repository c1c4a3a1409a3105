// Programs of messages on communicators without links. They end only if each message begins as soon
// as its own peer arrives.
#include "comm/backend/gradual_messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/run/group.hpp"

namespace ringlet::comm {
namespace {

using Integers = std::vector<std::int32_t>;
using Shared = std::shared_ptr<Communicator>;

constexpr std::size_t kMessageCount = 300'000;  // more than any link holds

struct Ring {
  std::uint32_t ranks;
  std::string links;          // "auto": shared memory, or within the process
  std::uint32_t shift;        // each rank sends to the rank at this distance
  std::uint32_t per_process;  // ranks
};

/// The part of one rank: it sends to the right and receives from the left.
struct Part {
  Part(const Shared& communicator, std::uint32_t shift) : mine(communicator) {
    const std::uint32_t size = mine->identity().size, self = Index(mine->identity().rank);
    const std::uint32_t left = (self + size - shift) % size;
    given.assign(kMessageCount, static_cast<std::int32_t>(self));
    expected.assign(kMessageCount, static_cast<std::int32_t>(left));
    got.assign(kMessageCount, -1);
    send = {.peer = Rank{(self + shift) % size},
            .sends = true,
            .from = std::as_bytes(std::span(given)),
            .count = kMessageCount,
            .type = DataType::kInt32};
    receive = {.peer = Rank{left},
               .to = std::as_writable_bytes(std::span(got)),
               .count = kMessageCount,
               .type = DataType::kInt32};
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  void RunGrouped() { Expect(RunGroup({{mine, send}, {mine, receive}})); }
  void RunSingly(bool sends_first) {
    Expect(mine->Run(sends_first ? send : receive));
    Expect(mine->Run(sends_first ? receive : send));
  }
  void Expect(const Status& status) const { EXPECT_TRUE(status.ok()) << status.error().message; }

  Shared mine;
  Integers given, expected, got;
  Transfer send, receive;
};

RankBody EachRank(const std::function<void(std::uint32_t, Shared)>& body) {
  return [body](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    body(rank, std::move(*communicator));
  };
}

class MessageRing : public testing::TestWithParam<Ring> {
 protected:
  /// \param every  one of so many ranks has both of its messages in a group
  static void RunRing(std::uint32_t every, bool sends_first) {
    SCOPED_TRACE(testing::Message() << "a group on one of " << every << " ranks, the others "
                                    << (sends_first ? "send" : "receive") << " first");
    std::vector<std::shared_ptr<Process>> processes;
    EnvMap environment = {{"RINGLET_LINKS", GetParam().links}, {"RINGLET_TIMEOUT", "10"}};
    if (GetParam().links == "tcp") environment["RINGLET_SOCKETS_PER_LINK"] = "2";
    for (std::uint32_t i = 0; i < GetParam().ranks; ++i)
      processes.push_back(ProcessWith(environment));
    RunRanks(
        GetParam().ranks,
        [&](std::uint32_t rank) { return processes[rank / GetParam().per_process]; },
        EachRank([&](std::uint32_t rank, const Shared& communicator) {
          Part part(communicator, GetParam().shift);
          if (rank % every == 0) {
            part.RunGrouped();
          } else {
            part.RunSingly(sends_first);
          }
          EXPECT_EQ(part.got, part.expected);
        }));
  }
};

INSTANTIATE_TEST_SUITE_P(Worlds, MessageRing,
                         testing::Values(Ring{3, "auto", 1, 1}, Ring{4, "auto", 1, 1},
                                         Ring{5, "auto", 1, 1}, Ring{6, "auto", 1, 1},
                                         Ring{3, "auto", 1, 3}, Ring{6, "auto", 1, 6},
                                         Ring{4, "auto", 1, 2}, Ring{5, "tcp", 2, 1}),
                         [](const auto& test) {
                           const Ring& ring = test.param;
                           return "Ranks" + std::to_string(ring.ranks) + "By" +
                                  std::to_string(ring.per_process) + ring.links;
                         });

TEST_P(MessageRing, FinishesInASingleGroup) {
  for (const bool sends_first : {false, true}) RunRing(GetParam().ranks, sends_first);
}

TEST_P(MessageRing, FinishesWithGroupsAndSingleMessages) {
  for (const bool sends_first : {false, true}) RunRing(2, sends_first);
}

TEST(MessageRing, FinishesAcrossThreadsAndProcesses) {
  std::vector<Shared> all(4);
  const EnvMap environment = {{"RINGLET_TIMEOUT", "10"}};
  const std::vector processes = {ProcessWith(environment), ProcessWith(environment)};
  RunRanks(
      4, [&](std::uint32_t rank) { return processes[rank % 2]; },
      EachRank(
          [&](std::uint32_t rank, Shared communicator) { all[rank] = std::move(communicator); }));
  Part zero(all[0], 1), one(all[1], 1), two(all[2], 1), three(all[3], 1);
  std::thread first([&] { one.RunSingly(false); }), second([&] { three.RunSingly(false); });
  const Status status = RunGroup(
      {{all[0], zero.send}, {all[0], zero.receive}, {all[2], two.send}, {all[2], two.receive}});
  EXPECT_TRUE(status.ok()) << status.error().message;
  first.join();
  second.join();
  for (const Part* part : {&zero, &one, &two, &three}) EXPECT_EQ(part->got, part->expected);
}

TEST(GradualMessages, ADifferentCallIsReportedWhileOthersAreMissing) {
  RunRanks(
      3, {{"RINGLET_TIMEOUT", "30"}}, EachRank([&](std::uint32_t rank, const Shared& communicator) {
        std::array<std::int32_t, 2> data{};
        const auto with = [&](std::uint32_t peer, bool sends, std::size_t count) {
          const auto part = std::span(data).first(count);
          return Transfer{.peer = Rank{peer},
                          .sends = sends,
                          .from = std::as_bytes(part),
                          .to = std::as_writable_bytes(part),
                          .count = count,
                          .type = DataType::kInt32};
        };
        if (rank == 2) {  // makes no call
          const auto reason = communicator->control().AwaitFailure(std::chrono::seconds(20));
          ASSERT_TRUE(reason.has_value());
          EXPECT_EQ(reason->code, Code::kProtocol);
          return;
        }
        const Status status =
            rank == 0
                ? RunGroup({{communicator, with(1, false, 1)}, {communicator, with(2, false, 1)}})
                : communicator->Run(with(0, true, 2));
        if (rank == 0) {
          ASSERT_FALSE(status.ok());
          EXPECT_EQ(status.error().code, Code::kProtocol) << status.error().message;
        } else {  // stays to pass the failure on: its departure could keep the failure from rank 2
          communicator->control().AwaitFailure(std::chrono::seconds(20));
        }
      }));
}

}  // namespace
}  // namespace ringlet::comm
