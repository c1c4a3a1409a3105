#include "comm/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

// Communicators of all ranks, in the hands of one thread.
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

TEST_P(GroupOver, OneThreadDrivesAllRanksThroughSeveralCalls) {
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

}  // namespace
}  // namespace ringlet::comm
