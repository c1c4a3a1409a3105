#include "comm/run/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/establish/split.hpp"

namespace ringlet::comm {
namespace {

// Communicators of all ranks, which one thread drives.
std::vector<std::shared_ptr<Communicator>> AllOf(std::uint32_t size, const EnvMap& environment) {
  std::vector<std::shared_ptr<Communicator>> all(size);
  RunRanks(size, environment,
           [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok()) << communicator.error().message;
             all[rank] = std::move(*communicator);
           });
  return all;
}

class GroupOver : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Links, GroupOver, testing::Values("inproc", "shm", "tcp"),
                         [](const auto& links) { return links.param; });

TEST_P(GroupOver, ASingleThreadDrivesAllRanksThroughSeveralCalls) {
  constexpr std::uint32_t kSize = 4;
  constexpr std::size_t kCount = 100'000;
  const auto all = AllOf(kSize, {{"RINGLET_LINKS", GetParam()}});
  std::vector<std::vector<std::int32_t>> data(2 * kSize, std::vector<std::int32_t>(kCount));
  std::vector<GroupedCall> calls;
  for (std::uint32_t round = 0; round < 2; ++round)
    for (std::uint32_t rank = 0; rank < kSize; ++rank) {
      auto& mine = data[round * kSize + rank];
      for (std::size_t i = 0; i < kCount; ++i)
        mine[i] = static_cast<std::int32_t>(rank + i + round);
      calls.push_back({all[rank], Call{.input = std::as_bytes(std::span(mine)),
                                       .output = std::as_writable_bytes(std::span(mine)),
                                       .count = kCount,
                                       .type = DataType::kInt32}});
    }
  const Status status = RunGroup(calls);
  ASSERT_TRUE(status.ok()) << status.error().message;
  for (std::uint32_t round = 0; round < 2; ++round)
    for (std::uint32_t rank = 0; rank < kSize; ++rank)
      for (std::size_t i = 0; i < kCount; i += 997)
        ASSERT_EQ(data[round * kSize + rank][i], static_cast<std::int32_t>(6 + 4 * (i + round)));
}

// Two threads use one communicator: the second gets an error, and the first continues.
TEST(Group, ASecondThreadIsRefused) {
  const auto all = AllOf(2, {{"RINGLET_LINKS", "shm"}});
  float data[3] = {1, 2, 3};
  const auto sum_of = [&](float& value) {
    const auto bytes = std::as_writable_bytes(std::span(&value, 1));
    return Call{.input = bytes, .output = bytes, .count = 1};
  };
  std::jthread first([&] { EXPECT_TRUE(all[0]->Run(sum_of(data[0])).ok()); });
  while (all[0]->control().doing().operations == 0) std::this_thread::yield();
  const std::vector<std::function<Status()>> intruders = {
      [&] { return all[0]->Run(sum_of(data[2])); },
      [&] { return all[0]->Run(Work(Call{.kind = CallKind::kBarrier})); },
      [&] {
        return Send(*all[0], Rank{1}, std::as_bytes(std::span(data, 1)), 1, DataType::kFloat32);
      },
      [&] {
        return RunGroup({{all[0], sum_of(data[2])}, {all[1], sum_of(data[1])}});
      },
      [&] { return all[0]->FreeWorkingMemory(); },
      [&] {
        const auto child = Split(*all[0], 0, 0, {});
        return child.ok() ? Ok() : Status(child.error());
      },
  };
  for (const auto& intruder : intruders) {
    const Status refused = intruder();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::kUnsupported);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("another thread"));
  }
  EXPECT_TRUE(all[1]->Run(sum_of(data[1])).ok());
  first.join();
  EXPECT_EQ(data[0], 3);
  EXPECT_EQ(data[1], 3);
}

TEST(Group, AMismatchFailsTheCommunicator) {
  const auto all = AllOf(2, {{"RINGLET_LINKS", "inproc"}});
  std::vector<float> a(10), b(10);
  const Status status =
      RunGroup({{all[0], Call{.input = std::as_bytes(std::span(a)),
                              .output = std::as_writable_bytes(std::span(a)),
                              .count = 10}},
                {all[1], Call{.input = std::as_bytes(std::span(b)).first(36),
                              .output = std::as_writable_bytes(std::span(b)).first(36),
                              .count = 9}}});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, testing::HasSubstr("all_reduce of"));
  EXPECT_TRUE(all[0]->failure() && all[1]->failure());
}

/// Returns a sum of `data` in place, as a call of a group.
GroupedCall SumOf(const std::shared_ptr<Communicator>& communicator, std::vector<float>& data) {
  return {communicator, Call{.input = std::as_bytes(std::span(data)),
                             .output = std::as_writable_bytes(std::span(data)),
                             .count = data.size()}};
}

// The others never call theirs. The shortest time limit among the communicators counts.
TEST_P(GroupOver, ACallThatOtherRanksLackEndsAtTheDeadline) {
  const auto all = AllOf(2, {{"RINGLET_LINKS", GetParam()}});
  const auto more = AllOf(2, {{"RINGLET_LINKS", GetParam()}});
  more[0]->set_timeout(std::chrono::milliseconds(200));
  std::vector<float> a(10), b(10);
  const Status status = RunGroup({SumOf(all[0], a), SumOf(more[0], b)});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kTimeout);
  EXPECT_THAT(status.error().message, testing::HasSubstr("rank 1"));
  for (const auto& one : {all[0], all[1], more[0], more[1]})
    EXPECT_TRUE(one->control().AwaitFailure(std::chrono::seconds(20)).has_value());
}

TEST_P(GroupOver, AbortEndsAGroupThatWaits) {
  const auto all = AllOf(2, {{"RINGLET_LINKS", GetParam()}});
  std::vector<float> data(10);
  std::thread other([&] { all[1]->Abort("the test wants it"); });
  const Status status = RunGroup({SumOf(all[0], data)});
  other.join();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kAborted);
  EXPECT_THAT(status.error().message, testing::HasSubstr("the test wants it"));
}

TEST_P(GroupOver, CallsAndMessagesOfACommunicatorRunInOrder) {
  RunRanks(2, {{"RINGLET_LINKS", GetParam()}},
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
             ASSERT_TRUE(formed.ok()) << formed.error().message;
             const std::shared_ptr<Communicator> mine = std::move(*formed);
             for (int round = 0; round < 3; ++round) {
               std::vector<float> data(10, static_cast<float>(rank + 1));
               const std::vector<float> given(20, static_cast<float>(rank));
               std::vector<float> got(20, -1);
               const Transfer sent{.peer = Rank{1 - rank},
                                   .sends = true,
                                   .from = std::as_bytes(std::span(given)),
                                   .count = 20};
               const Transfer received{.peer = Rank{1 - rank},
                                       .to = std::as_writable_bytes(std::span(got)),
                                       .count = 20};
               const Status status =
                   RunGroup({SumOf(mine, data), {mine, sent}, {mine, received}, SumOf(mine, data)});
               ASSERT_TRUE(status.ok()) << status.error().message;
               EXPECT_EQ(data, std::vector<float>(10, 6));
               EXPECT_EQ(got, std::vector<float>(20, static_cast<float>(1 - rank)));
               EXPECT_EQ(mine->control().doing().waits_for, -1) << "it is over";
             }
           });
}

TEST(Group, ARefusedCallPreventsTheOthers) {
  const auto all = AllOf(1, {{"RINGLET_LINKS", "inproc"}});
  std::vector<float> in(10, 1), out(10);
  GroupedCall good = {all[0], Call{.input = std::as_bytes(std::span(in)),
                                   .output = std::as_writable_bytes(std::span(out)),
                                   .count = 10}};
  GroupedCall bad = good;
  std::get<Call>(bad.work).count = 11;
  EXPECT_EQ(RunGroup({good, bad}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(out, std::vector<float>(10, 0));
  EXPECT_TRUE(RunGroup({good}).ok());
  EXPECT_EQ(out, in);
}

}  // namespace
}  // namespace ringlet::comm
