#include "bootstrap/gather.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <numeric>

#include "base/value/prng.hpp"
#include "bootstrap/fake_ranks_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

using testing::HasSubstr;

// The place of `self` in a tree with one rank per host.
TreePlace Place(std::uint32_t self, std::uint32_t size, std::uint32_t arity) {
  std::vector<std::uint32_t> node_leaders(size);
  std::iota(node_leaders.begin(), node_leaders.end(), 0u);
  return ControlTree(std::make_shared<TreeLayout>(node_leaders)).PlaceOf(self, arity);
}

TreeGather Gather(std::uint32_t self, std::uint32_t size, std::uint32_t arity) {
  return TreeGather(self, size, 0, Place(self, size, arity));
}

Bytes EntryOf(std::uint32_t rank, std::uint32_t round) {
  return Bytes((rank * 7 + round * 3) % 50, static_cast<std::byte>(rank + round));
}

void ExpectAllEntries(const Table& table, std::uint32_t size, std::uint32_t round) {
  ASSERT_EQ(table.size(), size);
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    const View entry = table.At(Rank{rank});
    EXPECT_EQ(Bytes(entry.begin(), entry.end()), EntryOf(rank, round)) << "of rank " << rank;
  }
}

constexpr std::uint32_t kRounds = 4;
bool IsBarrier(std::uint32_t round) {
  return round == 2;
}

// All ranks of one communicator and the messages between them. Each rank begins its next collective
// at a random time. Messages of one connection keep their order; different connections do not.
class TreeRun {
 public:
  TreeRun(std::uint32_t size, std::uint32_t arity, std::uint64_t seed)
      : prng_(seed), round_(size, 0) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      places_.push_back(Place(rank, size, arity));
      gathers_.emplace_back(rank, size, 0, places_.back());
    }
  }

  void Run() {
    const auto size = static_cast<std::uint32_t>(gathers_.size());
    std::uint32_t finished = 0;
    for (std::uint64_t step = 0; finished < size; ++step) {
      ASSERT_LT(step, 2'000'000u) << "somebody waits for ever";
      const auto rank = static_cast<std::uint32_t>(prng_.Below(size));
      if (prng_.Chance(0.5))
        Deliver(rank);
      else if (!gathers_[rank].running() && round_[rank] < kRounds)
        Check(gathers_[rank].Start(IsBarrier(round_[rank]), EntryOf(rank, round_[rank])));
      Collect(rank);
      if (auto table = gathers_[rank].TakeResult()) {
        if (IsBarrier(round_[rank]))
          EXPECT_EQ(table->size(), 0u);
        else
          ExpectAllEntries(*table, size, round_[rank]);
        finished += ++round_[rank] == kRounds;
      }
    }
  }

 private:
  static void Check(const Status& status) { ASSERT_TRUE(status.ok()) << status.error().message; }
  void Deliver(std::uint32_t rank) {
    const TreePlace& place = places_[rank];
    const std::size_t source = prng_.Below(place.children.size() + 1);
    const bool above = source == place.children.size();
    if (above && !place.parent) return;
    const std::uint32_t from = above ? *place.parent : place.children[source];
    std::deque<Slice>& queue = lines_[{from, rank}];
    if (queue.empty()) return;
    const Slice payload = queue.front();
    queue.pop_front();
    Check(above ? gathers_[rank].OnParent(payload) : gathers_[rank].OnChild(from, payload));
  }
  void Collect(std::uint32_t rank) {
    const TreePlace& place = places_[rank];
    if (auto up = gathers_[rank].TakeUpward())
      lines_[{rank, *place.parent}].push_back(Slice(Share(std::move(*up))));
    if (const auto down = gathers_[rank].TakeDownward())
      for (const std::uint32_t child : place.children) lines_[{rank, child}].push_back(*down);
  }

  Prng prng_;
  std::vector<TreePlace> places_;
  std::vector<TreeGather> gathers_;
  std::vector<std::uint32_t> round_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<Slice>> lines_;  // from, to
};

TEST(TreeGather, CompletesForEverySizeArityAndOrder) {
  for (std::uint32_t size = 1; size <= 40; ++size)
    for (const std::uint32_t arity : {1u, 2u, 3u, 8u}) {
      const std::uint64_t seed = size * 100 + arity;
      SCOPED_TRACE(testing::Message() << "size " << size << " arity " << arity << " seed " << seed);
      TreeRun(size, arity, seed).Run();
      if (testing::Test::HasFailure()) return;
    }
}

void RunRing(std::uint32_t size, std::uint64_t seed) {
  Prng prng(seed);
  std::vector<RingGather> gathers;
  for (std::uint32_t rank = 0; rank < size; ++rank) gathers.emplace_back(rank, size, 0);
  std::vector<std::deque<Bytes>> to(size);
  std::vector<std::uint32_t> round(size, 0);
  std::uint32_t finished = 0;
  for (std::uint64_t step = 0; finished < size; ++step) {
    ASSERT_LT(step, 2'000'000u) << "somebody waits for ever";
    const auto rank = static_cast<std::uint32_t>(prng.Below(size));
    RingGather& gather = gathers[rank];
    if (prng.Chance(0.5) && !to[rank].empty()) {
      const Bytes block = std::move(to[rank].front());
      to[rank].pop_front();
      const Status status = gather.OnPrevious(Slice(View(block)));
      ASSERT_TRUE(status.ok()) << status.error().message;
    } else if (!gather.running() && round[rank] < kRounds) {
      const bool barrier = IsBarrier(round[rank]);
      const Status status = gather.Start(barrier, barrier ? Bytes() : EntryOf(rank, round[rank]));
      ASSERT_TRUE(status.ok()) << status.error().message;
    }
    for (Bytes& block : gather.TakeForward()) to[(rank + 1) % size].push_back(std::move(block));
    const auto table = gather.TakeResult();
    if (!table) continue;
    if (!IsBarrier(round[rank])) ExpectAllEntries(*table, size, round[rank]);
    finished += ++round[rank] == kRounds;
  }
  for (const auto& queue : to) EXPECT_TRUE(queue.empty()) << "a block that nobody needed";
}

TEST(RingGather, CompletesForEverySizeAndOrder) {
  for (std::uint32_t size = 1; size <= 40; ++size) {
    SCOPED_TRACE(testing::Message() << "size " << size << ", which is the seed too");
    RunRing(size, size);
    if (testing::Test::HasFailure()) return;
  }
}

Slice Up(std::uint32_t sequence, const std::vector<Entry>& entries, bool barrier = false) {
  return Slice(Share(GatherPayload(sequence, entries, barrier)));
}
Slice Down(std::uint32_t sequence, const std::vector<std::string_view>& entries) {
  return Slice(Share(TablePayload(sequence, entries)));
}

Slice Block(std::uint32_t sequence, bool barrier, std::uint32_t origin) {
  Writer out;
  Encode(out, GatherHeader{sequence, barrier, 0});
  out.U32(origin).Raw(AsView("block"));
  return Slice(Share(out.Take()));
}

TEST(TreeGather, ErrorNamesARankInAnotherCollective) {
  TreeGather top = Gather(0, 3, 2);
  ASSERT_TRUE(top.Start(false, {}).ok());
  const Status kind = top.OnChild(1, Up(1, {}, true));
  ASSERT_FALSE(kind.ok());
  EXPECT_EQ(kind.error().code, Code::kProtocol);
  EXPECT_THAT(kind.error().message,
              HasSubstr("it is in barrier 1 of the control network, rank 0 in all-gather 1"));
  EXPECT_THAT(top.OnChild(1, Up(2, {{1, "x"}})).error().message, HasSubstr("all-gather 2"));
}

TEST(TreeGather, ErrorReportsAnotherListOfRanks) {
  TreeGather top(0, 2, 77, Place(0, 2, 2));
  const Status other = top.OnChild(1, Up(1, {{1, "x"}}));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::kInvalidArgument);
  EXPECT_THAT(other.error().message, HasSubstr("another list of this communicator's ranks"));
}

TEST(TreeGather, ComparesAnEarlyKindAtTheStartAndNamesItsRank) {
  TreeGather top = Gather(0, 3, 2);
  ASSERT_TRUE(top.OnChild(1, Up(1, {{1, "x"}})).ok());
  ASSERT_TRUE(top.OnChild(2, Up(1, {}, true)).ok());
  const Status status = top.Start(false, {});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("rank 2 is in barrier 1"));
}

TEST(TreeGather, RefusesMissingDuplicateAndUnknownEntries) {
  TreeGather top = Gather(0, 4, 1);
  EXPECT_FALSE(top.OnChild(1, Up(1, {{1, "a"}, {4, "b"}})).ok()) << "there is no rank 4";
  EXPECT_FALSE(top.OnChild(1, Up(1, {{1, "a"}}, true)).ok()) << "a barrier carries nothing";
  EXPECT_FALSE(top.OnChild(1, Slice(AsView("ab"))).ok());
  ASSERT_TRUE(top.OnChild(1, Up(1, {{1, "a"}, {2, "b"}})).ok());
  EXPECT_FALSE(top.Start(false, {}).ok()) << "rank 3 is missing";
  TreeGather twice = Gather(0, 3, 1);
  ASSERT_TRUE(twice.OnChild(1, Up(1, {{1, "a"}, {1, "b"}})).ok());
  EXPECT_FALSE(twice.Start(false, {}).ok());
}

TEST(TreeGather, AnUnexpectedTableOrOneOfAnotherSizeIsRefused) {
  TreeGather leaf = Gather(1, 2, 2);
  EXPECT_FALSE(leaf.OnParent(Down(1, {"a", "b"})).ok()) << "not begun";
  ASSERT_TRUE(leaf.Start(false, {}).ok());
  EXPECT_FALSE(leaf.OnParent(Down(2, {"a", "b"})).ok());
  EXPECT_FALSE(leaf.OnParent(Up(1, {}, true)).ok());
  EXPECT_FALSE(leaf.OnParent(Down(1, {"a"})).ok());
  EXPECT_FALSE(leaf.OnParent(Down(1, {"a", "b", "c"})).ok());
  ASSERT_TRUE(leaf.OnParent(Down(1, {"a", "b"})).ok());

  TreeGather middle = Gather(1, 3, 1);
  ASSERT_TRUE(middle.Start(false, {}).ok());
  EXPECT_FALSE(middle.OnParent(Down(1, {"a", "b", "c"})).ok())
      << "a table without this rank's own entries";
}

TEST(TreeGather, IgnoresARepeatedFrame) {
  TreeGather middle = Gather(1, 3, 1);
  for (std::uint32_t round = 1; round <= 2; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    const std::vector<Entry> entries = {{2, round == 1 ? "c1" : "c2"}};
    ASSERT_TRUE(middle.OnChild(2, Up(round, entries)).ok());
    EXPECT_TRUE(middle.OnChild(2, Up(round, entries)).ok()) << "before this rank has begun";
    EXPECT_TRUE(middle.OnChild(2, Up(round - 1, {{2, "x"}}, true)).ok()) << "of the last round";
    ASSERT_TRUE(middle.Start(false, Bytes(1, std::byte{'b'})).ok());
    EXPECT_TRUE(middle.TakeUpward());
    EXPECT_TRUE(middle.OnChild(2, Up(round, entries)).ok()) << "after it was passed on";
    EXPECT_TRUE(middle.OnParent(Down(round - 1, {"x", "x", "x"})).ok()) << "of the last round";
    EXPECT_TRUE(middle.running());
    ASSERT_TRUE(middle.OnParent(Down(round, {"a", "b", "c"})).ok());
    EXPECT_EQ(AsText(middle.TakeResult()->At(Rank{2})), "c");
    EXPECT_TRUE(middle.TakeDownward());
    EXPECT_TRUE(middle.OnParent(Down(round, {"a", "b", "c"})).ok()) << "twice";
    EXPECT_TRUE(middle.OnChild(2, Up(round, entries)).ok()) << "after the end";
    EXPECT_FALSE(middle.TakeResult());
    EXPECT_FALSE(middle.TakeDownward());
    EXPECT_FALSE(middle.TakeUpward());
  }
}

TEST(TreeGather, NamesTheAwaitedRank) {
  TreeGather top = Gather(0, 6, 2);
  ASSERT_TRUE(top.Start(false, {}).ok());
  EXPECT_EQ(top.Awaited(), "rank 1 or the ranks below it, rank 4 or the ranks below it");
  ASSERT_TRUE(top.OnChild(1, Up(1, {{1, "1"}, {2, "2"}, {3, "3"}})).ok());
  EXPECT_EQ(top.Awaited(), "rank 4 or the ranks below it");
  TreeGather leaf = Gather(5, 6, 2);
  ASSERT_TRUE(leaf.Start(false, {}).ok());
  EXPECT_EQ(leaf.Awaited(), "the answer of rank 4");
}

TEST(RingGather, ErrorNamesARankInAnotherCollective) {
  RingGather gather(1, 4, 0);
  ASSERT_TRUE(gather.Start(false, {}).ok());
  EXPECT_THAT(gather.OnPrevious(Block(1, true, 0)).error().message,
              HasSubstr("it is in barrier 1 of the control network, rank 1 in all-gather 1"));
  EXPECT_FALSE(gather.OnPrevious(Block(2, false, 0)).ok());
  RingGather late(1, 4, 0);
  ASSERT_TRUE(late.OnPrevious(Block(1, true, 0)).ok());
  EXPECT_FALSE(late.OnPrevious(Block(2, true, 3)).ok());
  EXPECT_THAT(late.Start(false, {}).error().message, HasSubstr("rank 0 is in barrier 1"));
}

TEST(RingGather, RefusesImpossibleBlocks) {
  RingGather gather(1, 4, 0);
  ASSERT_TRUE(gather.Start(false, {}).ok());
  ASSERT_TRUE(gather.OnPrevious(Block(1, false, 0)).ok());
  for (const std::uint32_t origin : {1u, 4u, 0xffffffffu})
    EXPECT_EQ(gather.OnPrevious(Block(1, false, origin)).error().message,
              "it forwarded a block of rank " + std::to_string(origin) + ", which is impossible");
  EXPECT_FALSE(gather.OnPrevious(Slice(AsView("cut"))).ok());
}

TEST(RingGather, IgnoresARepeatedBlock) {
  RingGather gather(1, 3, 0);
  for (std::uint32_t round = 1; round <= 2; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    ASSERT_TRUE(gather.Start(false, {}).ok());
    EXPECT_EQ(gather.TakeForward().size(), 1u);
    ASSERT_TRUE(gather.OnPrevious(Block(round, false, 0)).ok());
    EXPECT_EQ(gather.TakeForward().size(), 1u);
    EXPECT_TRUE(gather.OnPrevious(Block(round, false, 0)).ok());
    EXPECT_TRUE(gather.OnPrevious(Block(round - 1, true, 2)).ok()) << "of the last round";
    EXPECT_TRUE(gather.TakeForward().empty());
    EXPECT_TRUE(gather.running());
    ASSERT_TRUE(gather.OnPrevious(Block(round, false, 2)).ok());
    EXPECT_TRUE(gather.TakeResult());
    EXPECT_TRUE(gather.OnPrevious(Block(round, false, 0)).ok()) << "after the end";
  }
}

TEST(RingGather, NamesTheAwaitedRank) {
  RingGather gather(1, 4, 0);
  ASSERT_TRUE(gather.Start(false, {}).ok());
  EXPECT_EQ(gather.Awaited(), "rank 0 (3 entries missing)");
  ASSERT_TRUE(gather.OnPrevious(Block(1, false, 0)).ok());
  EXPECT_EQ(gather.Awaited(), "rank 3 (2 entries missing)");
}

TEST(Table, RefusesAnotherNumberOfEntries) {
  const Slice entries(Share(Table::Join({AsView("a"), AsView(""), AsView("ccc")})));
  const auto table = Table::Parse(entries, 3);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(AsText(table->At(Rank{2})), "ccc");
  EXPECT_TRUE(table->At(Rank{1}).empty());
  EXPECT_FALSE(Table::Parse(entries, 2).ok());
  EXPECT_FALSE(Table::Parse(entries, 4).ok());
  EXPECT_FALSE(
      Table::Parse(Slice(entries.bytes.first(entries.bytes.size() - 1), entries.owner), 3).ok());
  EXPECT_EQ(Table::Parse(Slice(), 0)->size(), 0u);
}

}  // namespace
}  // namespace ringlet::bootstrap
