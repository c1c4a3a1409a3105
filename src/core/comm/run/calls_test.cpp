// Every operation, in place and not, on a few ranks over every kind of link. test/conformance has
// the long table of all types and counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/run/group.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<std::int32_t>;

View In(const Numbers& numbers, std::size_t begin, std::size_t count) {
  return std::as_bytes(std::span(numbers).subspan(begin, count));
}
std::span<std::byte> Out(Numbers& numbers, std::size_t begin, std::size_t count) {
  return std::as_writable_bytes(std::span(numbers).subspan(begin, count));
}

/// Element `i` of rank `rank`. All elements differ.
std::int32_t Value(std::uint32_t rank, std::size_t i) {
  return static_cast<std::int32_t>(rank * 1000 + i);
}
Numbers Values(std::uint32_t rank, std::size_t count) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = Value(rank, i);
  return numbers;
}
Numbers Sums(std::uint32_t ranks, std::size_t begin, std::size_t count) {
  Numbers sums(count);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::size_t i = 0; i < count; ++i) sums[i] += Value(rank, begin + i);
  return sums;
}

struct Setting {
  std::string links;
  std::uint32_t ranks;
};

class EveryOperation : public testing::TestWithParam<Setting> {
 protected:
  /// Runs `body` on each rank with its communicator.
  void OnEach(const std::function<void(std::uint32_t, Communicator&)>& body) {
    RunRanks(GetParam().ranks, {{"RINGLET_LINKS", GetParam().links}},
             [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
               ASSERT_TRUE(communicator.ok()) << communicator.error().message;
               body(rank, **communicator);
             });
  }
  std::uint32_t ranks() const { return GetParam().ranks; }
};

INSTANTIATE_TEST_SUITE_P(Links, EveryOperation,
                         testing::Values(Setting{"auto", 2}, Setting{"auto", 5},
                                         Setting{"inproc", 1}, Setting{"inproc", 3},
                                         Setting{"shm", 2}, Setting{"shm", 5}, Setting{"tcp", 4}),
                         [](const auto& test) {
                           return test.param.links + std::to_string(test.param.ranks);
                         });

constexpr std::size_t kCounts[] = {0, 1, 7, 5000};

TEST_P(EveryOperation, DeliversBlocksToTheirRanks) {
  OnEach([&](std::uint32_t rank, Communicator& communicator) {
    const std::size_t n = ranks();
    for (const std::size_t count : kCounts) {
      for (const bool in_place : {false, true}) {
        // all_gather
        Numbers mine = Values(rank, count), all(n * count);
        std::copy(mine.begin(), mine.end(),
                  all.begin() + static_cast<std::ptrdiff_t>(rank * count));
        const View input = in_place ? In(all, rank * count, count) : In(mine, 0, count);
        const Call gather{.input = input,
                          .output = Out(all, 0, n * count),
                          .count = count,
                          .type = DataType::kInt32};
        ASSERT_TRUE(AllGather(communicator, gather).ok());
        for (std::uint32_t from = 0; from < n; ++from)
          for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(all[from * count + i], Value(from, i));

        // all_to_all: block r of rank s
        Numbers blocks = Values(rank, n * count), received(n * count);
        if (in_place) received = blocks;
        const Status exchanged =
            AllToAll(communicator,
                     {.input = in_place ? In(received, 0, n * count) : In(blocks, 0, n * count),
                      .output = Out(received, 0, n * count),
                      .count = count,
                      .type = DataType::kInt32});
        ASSERT_TRUE(exchanged.ok()) << exchanged.error().message;
        for (std::uint32_t from = 0; from < n; ++from)
          for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(received[from * count + i], Value(from, rank * count + i));
      }
    }
  });
}

TEST_P(EveryOperation, MovesDataFromAndToTheRoot) {
  OnEach([&](std::uint32_t rank, Communicator& communicator) {
    const std::size_t n = ranks();
    for (std::uint32_t root = 0; root < n; ++root) {
      for (const std::size_t count : kCounts) {
        Call call{.count = count, .type = DataType::kInt32, .root = Rank{root}};
        Numbers mine = Values(rank, count), all(n * count), one(count);
        call.input = In(mine, 0, count);
        call.output = Out(one, 0, count);
        ASSERT_TRUE(Broadcast(communicator, call).ok());
        ASSERT_EQ(one, Values(root, count));

        ASSERT_TRUE(Reduce(communicator, call).ok());
        if (rank == root) {
          ASSERT_EQ(one, Sums(ranks(), 0, count));
        }

        call.output = Out(all, 0, n * count);
        ASSERT_TRUE(Gather(communicator, call).ok());
        for (std::uint32_t from = 0; rank == root && from < n; ++from)
          for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(all[from * count + i], Value(from, i));

        Numbers given = Values(rank, n * count);
        call.input = In(given, 0, n * count);
        call.output = Out(one, 0, count);
        ASSERT_TRUE(Scatter(communicator, call).ok());
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(one[i], Value(root, rank * count + i));
      }
    }
  });
}

TEST_P(EveryOperation, ReducesCorrectly) {
  OnEach([&](std::uint32_t rank, Communicator& communicator) {
    const std::size_t n = ranks();
    for (const std::size_t count : kCounts) {
      for (const bool in_place : {false, true}) {
        Numbers mine = Values(rank, count), sum = mine;
        Call call{.input = In(in_place ? sum : mine, 0, count),
                  .output = Out(sum, 0, count),
                  .count = count,
                  .type = DataType::kInt32};
        ASSERT_TRUE(AllReduce(communicator, call).ok());
        ASSERT_EQ(sum, Sums(ranks(), 0, count));

        Numbers blocks = Values(rank, n * count), block(count);
        call.input = In(blocks, 0, n * count);
        call.output = in_place ? Out(blocks, rank * count, count) : Out(block, 0, count);
        ASSERT_TRUE(ReduceScatter(communicator, call).ok());
        const Numbers expected = Sums(ranks(), rank * count, count);
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_EQ(in_place ? blocks[rank * count + i] : block[i], expected[i]);

        const std::int32_t scalar = static_cast<std::int32_t>(rank) + 2;
        const View bytes = std::as_bytes(std::span(&scalar, 1));
        sum = mine;
        call.input = In(in_place ? sum : mine, 0, count);
        call.output = Out(sum, 0, count);
        call.op = ReduceOp::kPreMulSum;
        call.scalar = collective::Scalar(bytes);
        ASSERT_TRUE(AllReduce(communicator, call).ok());
        for (std::size_t i = 0; i < count; ++i) {
          std::int32_t total = 0;
          for (std::uint32_t r = 0; r < n; ++r)
            total += Value(r, i) * (static_cast<std::int32_t>(r) + 2);
          ASSERT_EQ(sum[i], total);
        }
      }
    }
  });
}

TEST_P(EveryOperation, PortionsMayDiffer) {
  OnEach([&](std::uint32_t rank, Communicator& communicator) {
    // Rank s sends s + 2 * r elements to rank r, with a gap of one element between portions.
    AllToAllVCall call{.type = DataType::kInt32};
    std::size_t in = 0, out = 0;
    for (std::uint32_t peer = 0; peer < ranks(); ++peer) {
      call.sent.counts.push_back(rank + 2 * peer);
      call.sent.displacements.push_back(in);
      in += rank + 2 * peer + 1;
      call.received.counts.push_back(peer + 2 * rank);
      call.received.displacements.push_back(out);
      out += peer + 2 * rank + 1;
    }
    const Numbers given = Values(rank, in);
    Numbers got(out, -1);
    call.input = In(given, 0, in);
    call.output = Out(got, 0, out);
    const Status status = AllToAllV(communicator, call);
    ASSERT_TRUE(status.ok()) << status.error().message;
    for (std::uint32_t peer = 0; peer < ranks(); ++peer) {
      std::size_t begin = 0;
      for (std::uint32_t r = 0; r < rank; ++r) begin += peer + 2 * r + 1;
      const std::size_t at = call.received.displacements[peer];
      for (std::size_t i = 0; i < peer + 2 * rank; ++i)
        ASSERT_EQ(got[at + i], Value(peer, begin + i));
      ASSERT_EQ(got[at + peer + 2 * rank], -1) << "beyond the portion";
    }
  });
}

// Portions extend to the last element of the buffers. Each rank sends no elements to itself.
TEST_P(EveryOperation, PortionsMayReachTheEndOfTheBuffer) {
  OnEach([&](std::uint32_t rank, Communicator& communicator) {
    constexpr std::size_t kEach = 6;
    AllToAllVCall call{.type = DataType::kInt32};
    for (std::uint32_t peer = 0; peer < ranks(); ++peer) {
      call.sent.counts.push_back(peer == rank ? 0 : kEach);
      call.sent.displacements.push_back((ranks() - 1 - peer) * kEach);
    }
    call.received = call.sent;
    const Numbers given = Values(rank, ranks() * kEach);
    Numbers got(given.size(), -1);
    call.input = In(given, 0, given.size());
    call.output = Out(got, 0, got.size());
    const Status status = AllToAllV(communicator, call);
    ASSERT_TRUE(status.ok()) << status.error().message;
    for (std::uint32_t peer = 0; peer < ranks(); ++peer)
      for (std::size_t i = 0; i < kEach; ++i)
        ASSERT_EQ(got[(ranks() - 1 - peer) * kEach + i],
                  peer == rank ? -1 : Value(peer, (ranks() - 1 - rank) * kEach + i));
  });
}

TEST_P(EveryOperation, MessagesOfAGroupMayBeInAnyOrder) {
  constexpr std::size_t kCount = 300'000;  // more than any link holds
  OnEach([&](std::uint32_t rank, Communicator& borrowed) {
    const std::shared_ptr<Communicator> communicator(&borrowed, [](Communicator*) {});
    const Numbers mine = Values(rank, kCount);
    std::vector<Numbers> got(ranks(), Numbers(kCount));
    std::vector<GroupedCall> calls;
    // Each rank receives first from the last rank, and sends first to itself.
    for (std::uint32_t i = 0; i < ranks(); ++i) {
      const std::uint32_t from = ranks() - 1 - i, to = (rank + i) % ranks();
      calls.push_back({communicator, Transfer{.peer = Rank{from},
                                              .to = Out(got[from], 0, kCount),
                                              .count = kCount,
                                              .type = DataType::kInt32}});
      calls.push_back({communicator, Transfer{.peer = Rank{to},
                                              .sends = true,
                                              .from = In(mine, 0, kCount),
                                              .count = kCount,
                                              .type = DataType::kInt32}});
    }
    const Status status = RunGroup(calls);
    ASSERT_TRUE(status.ok()) << status.error().message;
    for (std::uint32_t from = 0; from < ranks(); ++from)
      ASSERT_EQ(got[from], Values(from, kCount)) << from;
  });
}

TEST(Validate, RefusesAnImpossibleCallAndStaysUsable) {
  RunRanks(1, {{"RINGLET_LINKS", "inproc"}},
           [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok());
             std::vector<std::byte> data(64);
             const auto refusal = [&](const Work& work) {
               const Status status = (*communicator)->Run(work);
               EXPECT_FALSE(status.ok());
               return status.ok() ? "" : status.error().message;
             };
             const Call good{
                 .input = View(data).first(32), .output = std::span(data).last(32), .count = 8};
             Call bad = good;
             bad.op = ReduceOp::kBxor;
             EXPECT_THAT(refusal(bad), HasSubstr("bxor of float does not exist"));
             bad = good;
             bad.op = ReduceOp::kPreMulSum;
             EXPECT_THAT(refusal(bad), HasSubstr("a scalar of 4 bytes"));
             bad = good;
             bad.kind = CallKind::kBroadcast;
             bad.root = Rank{1};
             EXPECT_THAT(refusal(bad), HasSubstr("root 1"));
             bad = good;
             bad.count = SIZE_MAX / 2;
             EXPECT_THAT(refusal(bad), HasSubstr("larger than any memory"));
             EXPECT_THAT(refusal(Transfer{.peer = Rank{1}}), HasSubstr("rank 1"));
             EXPECT_THAT(refusal(AllToAllVCall{}), HasSubstr("0 counts"));
             EXPECT_THAT(
                 refusal(AllToAllVCall{.input = data, .sent = {{17}, {0}}, .received = {{0}, {0}}}),
                 HasSubstr("17 elements at 0"));
             const auto portions = [&](Portions sent, Portions received) {
               return refusal(AllToAllVCall{.input = View(data).first(32),
                                            .output = std::span(data).last(32),
                                            .sent = std::move(sent),
                                            .received = std::move(received)});
             };
             EXPECT_THAT(portions({{8}, {1}}, {{8}, {0}}), HasSubstr("sends 8 elements at 1"));
             EXPECT_THAT(portions({{8}, {0}}, {{0}, {9}}), HasSubstr("receives 0 elements at 9"));
             EXPECT_THAT(portions({{1}, {SIZE_MAX}}, {{1}, {0}}), HasSubstr("beyond the 8"));
             EXPECT_THAT(portions({{1, 1}, {0}}, {{1}, {0}}), HasSubstr("2 counts"));
             EXPECT_THAT(portions({{1}, {0}}, {{1}, {0, 0}}), HasSubstr("2 displacements"));
             EXPECT_THAT(refusal(AllToAllVCall{.input = View(data).first(33),
                                               .output = std::span(data).last(32),
                                               .sent = {{1}, {0}},
                                               .received = {{1}, {0}}}),
                         HasSubstr("overlap"));
             EXPECT_THAT(refusal(Transfer{.peer = Rank{0}, .sends = true, .from = data}),
                         HasSubstr("are not 64 bytes of message"));
             EXPECT_THAT(refusal(Transfer{.peer = Rank{0}, .to = data, .count = SIZE_MAX / 2}),
                         HasSubstr("larger than any memory"));
             EXPECT_TRUE((*communicator)->Run(good).ok()) << "nothing has happened";
             const Status sent =
                 Send(**communicator, Rank{0}, View(data).first(1), 1, DataType::kUint8);
             EXPECT_THAT(sent.error().message, HasSubstr("does not receive it"));
           });
}

}  // namespace
}  // namespace ringlet::comm
