// Compares operations on the ranks' own memory with the same through stages and with naive sums.
// All ranks run in one thread. A seeded scheduler calls their Advance in any order.
#include "collective/shm/zero_copy_shm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/value/prng.hpp"
#include "collective/shm/shm_collective.hpp"

namespace ringlet::collective {
namespace {

using ::testing::HasSubstr;
using transport::Arena;
using transport::SharedBuffers;

constexpr std::uint32_t kRanks = 4;
constexpr std::size_t kRankBytes = 8 << 20;  // memory per rank; calls use parts of it
constexpr std::size_t kZeroCopySlotBytes = 256;
constexpr ShmOptions kOptions{.stream_bytes_min = 64 << 10};

/// Fetches blocks of 256 bytes to 64 KiB where possible. From 1 KiB on, avoids stages.
Algorithm ExpectedAlgorithm(const Call& call) {
  const std::size_t block = BlockBytes(call);
  const std::size_t given = block * (PieceEach(call.kind) ? kRanks : 1);
  const bool fetches = call.kind == CallKind::kAllToAll || call.kind == CallKind::kAllGather ||
                       call.kind == CallKind::kBroadcast || call.kind == CallKind::kScatter;
  if (given <= kZeroCopySlotBytes) return Algorithm::kOneShot;
  if (given < 1024) return Algorithm::kSlices;
  return fetches && block <= 64 << 10 ? Algorithm::kFetch : Algorithm::kZeroCopy;
}

enum class Way {
  kStages,
  kRegistered,
  kThreads,
  kMixed,
  kOneHasNot,
  kOneCannot,
  kFetched,
  kFetchedMixed,
  kOneIsNotRead
};
constexpr Way kWays[] = {Way::kStages,  Way::kRegistered,   Way::kThreads,
                         Way::kMixed,   Way::kOneHasNot,    Way::kOneCannot,
                         Way::kFetched, Way::kFetchedMixed, Way::kOneIsNotRead};

// This process, as known to ranks that take each other for other processes.
os::KnownProcess Here() {
  static const Secret sign = {std::byte{3}};
  return {.pid = ::getpid(), .sign_at = RemoteAddress::Of(&sign), .sign = sign};
}

// Ranks that access each other's memory as `way` states. kMixed: ranks 0 and 1 are threads of one
// process. kOneHasNot: rank 2 has not registered memory. kOneCannot: the memory that rank 2 has
// registered cannot be opened. kFetched: no rank has registered memory, and all can read each
// other's. kFetchedMixed: only rank 2 has registered memory. kOneIsNotRead: rank 0 cannot read the
// memory of rank 2.
class Host {
 public:
  Host(Way way, std::uint64_t seed, std::uint64_t (*ticks)() = nullptr) : prng_(seed) {
    auto arena =
        Arena::Create({.ranks = kRanks, .slot_bytes = kZeroCopySlotBytes, .stage_bytes = 1024});
    RINGLET_ASSERT(arena.ok());
    arena_ = *arena;
    near_ = std::make_shared<InProcessBuffers>(kRanks);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      auto memory = os::Shm::Create(kRankBytes);
      RINGLET_ASSERT(memory.ok());
      memory_.push_back(std::make_shared<os::Shm>(std::move(memory).value()));
      auto shared = std::make_shared<SharedBuffers>();
      shared_.push_back(shared);
      const bool fetched =
          way == Way::kFetched || way == Way::kFetchedMixed || way == Way::kOneIsNotRead;
      const bool registers = fetched ? way == Way::kFetchedMixed && rank == 2
                                     : way != Way::kStages && way != Way::kThreads &&
                                           !(way == Way::kOneHasNot && rank == 2);
      std::vector<os::KnownProcess> processes(kRanks, fetched ? Here() : os::KnownProcess());
      if (way == Way::kOneIsNotRead && rank == 0) processes[2] = {};
      shared->SetProcesses(std::move(processes));
      if (registers)
        handles_.push_back(shared->Register(memory_.back()->bytes(), memory_.back()).value());
      shared->Publish(arena_, rank);
      std::vector<bool> near(kRanks, way == Way::kThreads);
      near[rank] = true;
      if (way == Way::kMixed && rank < 2) near[0] = near[1] = true;
      engines_.push_back(std::make_unique<ShmCollective>(
          arena_, rank, WaitPolicy{},
          ShmOptions{.stream_bytes_min = kOptions.stream_bytes_min, .ticks = ticks},
          HostReach{.shared = shared, .near = near_, .is_near = std::move(near)}));
    }
    if (way == Way::kOneCannot) arena_->rank(2).buffers[0].inode += 1;
  }

  ShmCollective& engine(std::uint32_t rank) { return *engines_[rank]; }
  std::span<std::byte> memory(std::uint32_t rank) { return memory_[rank]->bytes(); }
  SharedBuffers& shared(std::uint32_t rank) { return *shared_[rank]; }
  SharedBuffers::Handle handle(std::uint32_t rank) const { return handles_[rank]; }
  Arena& arena() { return *arena_; }
  Prng& prng() { return prng_; }

  // When a rank is done, it owns its buffers again. The test then reads the output, and overwrites
  // the input unless that is the output.
  Status Run(const std::vector<Call>& calls) {
    return Run(calls, ExpectedAlgorithm(calls.front()));
  }
  Status Run(const std::vector<Call>& calls, Algorithm how) {
    outputs_.assign(kRanks, {});
    std::vector<bool> done(kRanks, false);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) engine(rank).Start(calls[rank], how, 0);
    for (int turn = 0; turn < 1'000'000; ++turn) {
      const auto rank = static_cast<std::uint32_t>(prng_.Below(kRanks));
      if (done[rank]) continue;
      const auto before = ProgressOf(rank);
      RINGLET_TRY_ASSIGN(const bool finished, engine(rank).Advance());
      const bool moved = finished || engine(rank).moved();
      EXPECT_TRUE(moved || ProgressOf(rank) == before) << "rank " << rank << " says it stood still";
      done[rank] = finished;
      if (finished) TakeBack(rank, calls[rank]);
      if (std::find(done.begin(), done.end(), false) == done.end()) return Ok();
    }
    return Error{Code::kTimeout, engine(0).WaitingFor()};
  }

  /// Returns the output of each rank at its end.
  const std::vector<Bytes>& outputs() const { return outputs_; }

 private:
  std::pair<std::uint64_t, std::uint64_t> ProgressOf(std::uint32_t rank) const {
    return {arena_->rank(rank).vote.load(), arena_->rank(rank).progress.got.load()};
  }

  void TakeBack(std::uint32_t rank, const Call& call) {
    outputs_[rank].assign(call.output.begin(), call.output.end());
    const bool apart = call.output.data() >= call.input.data() + call.input.size();
    if (apart) std::memset(memory(rank).data(), 0xee, call.input.size());
  }

  std::vector<Bytes> outputs_;
  std::shared_ptr<Arena> arena_;
  std::shared_ptr<InProcessBuffers> near_;
  std::vector<std::shared_ptr<os::Shm>> memory_;
  std::vector<std::shared_ptr<SharedBuffers>> shared_;
  std::vector<SharedBuffers::Handle> handles_;
  std::vector<std::unique_ptr<ShmCollective>> engines_;
  Prng prng_;
};

// Builds the calls of all ranks. The input is at the front of each rank's memory, which the seed
// fills. The output is behind it or, in place, where it belongs.
std::vector<Call> CallsOn(Host& host, Call call, bool in_place, std::uint64_t seed) {
  std::vector<Call> calls;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const CallPlace place{Rank{rank}, kRanks};
    const std::size_t in = InputBytes(call, place), out = OutputBytes(call, place);
    const std::size_t own = rank * BlockBytes(call);
    std::byte* const at = host.memory(rank).data();
    std::byte* input = at;
    std::byte* output = at + (in + 63) / 64 * 64;
    if (in_place && out > in) {
      output = at;
      input = at + own;
    } else if (in_place) {
      output = at + (in > out ? own : 0);
    }
    Prng values(seed * 100 + rank);
    for (std::size_t i = 0; i < in / 4; ++i) {
      const float value = static_cast<float>(values.Below(1'000'000)) * 1e-3f;
      std::memcpy(input + i * 4, &value, 4);
    }
    call.input = View(input, in);
    call.output = std::span(output, out);
    calls.push_back(call);
  }
  return calls;
}

constexpr CallKind kZeroCopyKinds[] = {
    CallKind::kAllReduce, CallKind::kAllGather, CallKind::kReduceScatter, CallKind::kBroadcast,
    CallKind::kReduce,    CallKind::kAllToAll,  CallKind::kGather,        CallKind::kScatter};

TEST(ZeroCopyShm, GivesTheSameBitsAsStagedCopies) {
  for (const CallKind kind : kZeroCopyKinds)
    for (const std::uint64_t count : {300u, 1031u, 20'000u})
      for (const bool in_place : {false, true}) {
        if (in_place && kind == CallKind::kAllToAll) continue;
        const Call call{.kind = kind,
                        .count = count,
                        .type = DataType::kFloat32,
                        .op = count == 1031 ? ReduceOp::kAvg : ReduceOp::kSum,
                        .root = Rank{static_cast<std::uint32_t>(count % kRanks)}};
        std::vector<Bytes> expected;
        for (const Way way : kWays) {
          SCOPED_TRACE(testing::Message() << ToText(call) << (in_place ? " in place" : "")
                                          << ", way " << static_cast<int>(way));
          Host host(way, count);
          for (std::uint64_t round = 0; round < 3; ++round) {
            const auto calls = CallsOn(host, call, in_place, count);
            const Status status = host.Run(calls);
            ASSERT_TRUE(status.ok()) << status.error().message;
            if (expected.empty()) expected = host.outputs();
            ASSERT_EQ(host.outputs(), expected);
          }
        }
      }
}

/// Number of slices that `rank` has begun; an operation on the ranks' memory counts as one.
std::uint64_t SlicesOf(Host& host, std::uint32_t rank) {
  return host.arena().rank(rank).progress.got.load();
}

// A clock of the rank that chooses: an operation takes the cost of the way that the rank posted.
struct FakeClock {
  const Arena* arena = nullptr;
  std::uint32_t chooser = 0;
  std::uint64_t operation = 0;
  std::array<std::uint64_t, 3> costs = {};
  std::array<int, 3> used = {};
  bool began = false;
};
FakeClock fake_clock;

std::uint64_t FakeTicks() {
  fake_clock.began = !fake_clock.began;
  if (fake_clock.began) return 0;
  transport::ArenaPlaces places;
  std::memcpy(&places,
              fake_clock.arena->post(fake_clock.chooser, fake_clock.operation).inline_payload,
              sizeof places);
  ++fake_clock.used.at(places.way);
  return fake_clock.costs.at(places.way);
}

TEST(ZeroCopyShm, AdaptiveOperationsTakeTheFastestWayWithTheSameResult) {
  constexpr Rank kRoot{2};
  constexpr std::uint64_t kFew = 900, kMany = (1 << 20) / kRanks / sizeof(float);
  std::vector<std::pair<CallKind, std::uint64_t>> cases = {{CallKind::kScatter, kMany},
                                                           {CallKind::kScatter, kMany - 1}};
  for (const CallKind kind : kZeroCopyKinds) cases.emplace_back(kind, kFew);
  for (const auto& [kind, count] : cases) {
    const bool may_fetch = kind == CallKind::kAllGather || kind == CallKind::kAllToAll ||
                           kind == CallKind::kBroadcast || count == kMany;
    const bool to_root = kind == CallKind::kReduce || kind == CallKind::kGather;
    const bool from_root = kind == CallKind::kBroadcast || kind == CallKind::kScatter;
    const Call call{.kind = kind, .count = count, .type = DataType::kFloat32, .root = kRoot};
    Host stages(Way::kStages, 1);
    ASSERT_TRUE(stages.Run(CallsOn(stages, call, false, 1)).ok());
    for (std::size_t fastest = may_fetch ? 0 : 1; fastest < 3; ++fastest) {
      SCOPED_TRACE(testing::Message() << Name(kind) << ", way " << fastest);
      Host host(Way::kFetched, 1, FakeTicks);
      fake_clock = {.arena = &host.arena(),
                    .chooser = to_root     ? Index(kRoot)
                               : from_root ? Index(kRoot) + 1
                                           : 0,
                    .costs = {1000, 1000, 1000}};
      fake_clock.costs[fastest] = 100;
      int in_place = 0;
      for (std::uint64_t operation = 1; operation <= 60; ++operation) {
        fake_clock.operation = operation;
        const std::uint64_t before = SlicesOf(host, 0);
        const Status status = host.Run(CallsOn(host, call, false, 1), Algorithm::kAdaptive);
        ASSERT_TRUE(status.ok()) << status.error().message;
        ASSERT_EQ(host.outputs(), stages.outputs());
        if (SlicesOf(host, 0) == before + 1) ++in_place;
      }
      EXPECT_EQ(in_place, fake_clock.used[0]);
      for (std::size_t way = 0; way < 3; ++way)
        EXPECT_EQ(fake_clock.used[way] > 0, way > 0 || may_fetch) << "each is tried";
      EXPECT_GT(fake_clock.used[fastest], 40);
    }
  }
}

TEST(ZeroCopyShm, AdaptiveOperationsUseRegisteredMemoryInPlace) {
  Host host(Way::kRegistered, 1, [] { return std::uint64_t{0}; });
  const Call call{.kind = CallKind::kAllReduce, .count = 4000, .type = DataType::kFloat32};
  for (int operation = 1; operation <= 20; ++operation) {
    ASSERT_TRUE(host.Run(CallsOn(host, call, false, 1), Algorithm::kAdaptive).ok());
    EXPECT_EQ(SlicesOf(host, 0), static_cast<std::uint64_t>(operation));
  }
}

// The copy of a rank to itself is last, when others may have ended and closed their buffers. A
// block has five chunks, and a turn has sixteen: one of them belongs to the rank's own block.
TEST(ZeroCopyShm, CopyingItsOwnBlockNeedsNoOtherRank) {
  for (const Way way : {Way::kThreads, Way::kMixed, Way::kRegistered, Way::kFetched}) {
    SCOPED_TRACE(testing::Message() << "way " << static_cast<int>(way));
    Host host(way, 1);
    const Call call{.kind = CallKind::kAllGather, .count = 320'000, .type = DataType::kFloat32};
    const auto calls = CallsOn(host, call, false, 1);
    const Status status = host.Run(calls);
    ASSERT_TRUE(status.ok()) << status.error().message;
    for (std::uint32_t rank = 1; rank < kRanks; ++rank)
      EXPECT_EQ(host.outputs()[rank], host.outputs()[0]);
  }
}

TEST(ZeroCopyShm, IsUsedOnlyIfAllRanksSupportIt) {
  for (const Way way : kWays) {
    Host host(way, 1);
    const Call call{.kind = CallKind::kAllReduce, .count = 4000, .type = DataType::kFloat32};
    ASSERT_TRUE(host.Run(CallsOn(host, call, false, 1)).ok());
    const bool direct = way == Way::kRegistered || way == Way::kThreads || way == Way::kMixed;
    EXPECT_EQ(SlicesOf(host, 0) == 1, direct) << "way " << static_cast<int>(way);
  }
}

TEST(ZeroCopyShm, IsFetchedIfAllRanksCanFetchAndNeedTheData) {
  for (const Way way : {Way::kFetched, Way::kFetchedMixed, Way::kOneIsNotRead}) {
    for (const CallKind kind : {CallKind::kAllGather, CallKind::kAllToAll, CallKind::kBroadcast,
                                CallKind::kScatter, CallKind::kGather}) {
      Host host(way, 1);
      const Call call{.kind = kind, .count = 4000, .type = DataType::kFloat32};
      ASSERT_TRUE(host.Run(CallsOn(host, call, false, 1)).ok());
      const bool fetched = way != Way::kOneIsNotRead && kind != CallKind::kGather;
      EXPECT_EQ(SlicesOf(host, 0) == 1, fetched)
          << "way " << static_cast<int>(way) << ", " << Name(kind);
    }
    Host host(way, 1);
    const Call large{.kind = CallKind::kAllGather, .count = 20'000, .type = DataType::kFloat32};
    ASSERT_TRUE(host.Run(CallsOn(host, large, false, 1)).ok());
    EXPECT_GT(SlicesOf(host, 0), 1u) << "more than is fetched";
  }
}

TEST(ZeroCopyShm, RanksOfferOnlyAcceptableMemory) {
  Host host(Way::kOneIsNotRead, 1);
  const Call call{.kind = CallKind::kAllGather, .count = 1000, .type = DataType::kInt32};
  ASSERT_TRUE(host.Run(CallsOn(host, call, false, 1)).ok());
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    EXPECT_EQ(host.arena().rank(rank).vote.load(), 0u) << "rank " << rank;
}

/// Runs an all-gather until all ranks have voted that they can fetch.
void VoteToFetch(Host& host) {
  const Call call{.kind = CallKind::kAllGather, .count = 1000, .type = DataType::kInt32};
  const auto calls = CallsOn(host, call, false, 1);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    host.engine(rank).Start(calls[rank], ExpectedAlgorithm(calls[rank]), 0);
  for (int round = 0; round < 2; ++round)
    for (std::uint32_t rank = 0; rank < kRanks; ++rank)
      ASSERT_FALSE(host.engine(rank).Advance().value());
  ASSERT_EQ(host.arena().rank(0).vote.load(), 3u) << "all can";
}

TEST(ZeroCopyShm, AWithdrawnBufferIsNotRead) {
  Host host(Way::kFetched, 1);
  VoteToFetch(host);
  host.engine(0).Withdraw();
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) {
    Result<bool> done = false;
    for (int turn = 0; done.ok() && !*done && turn < 100; ++turn)
      done = host.engine(rank).Advance();
    ASSERT_FALSE(done.ok()) << "rank " << rank;
    EXPECT_THAT(done.error().message, HasSubstr("rank 0 has given up"));
  }
}

TEST(ZeroCopyShm, UnreadableMemoryIsALoss) {
  Host host(Way::kFetched, 1);
  VoteToFetch(host);
  host.shared(1).SetProcesses({});
  Result<bool> done = false;
  for (int turn = 0; done.ok() && !*done && turn < 100; ++turn) done = host.engine(1).Advance();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, Code::kPeerLost);
  EXPECT_THAT(done.error().message, HasSubstr("is no longer accessible"));
}

constexpr std::size_t kSplitCount = 100'000;  // floats: 7 pieces of a split copy
constexpr Call kSplitBroadcast{
    .kind = CallKind::kBroadcast, .count = kSplitCount, .type = DataType::kFloat32};

/// Starts a fetched broadcast of rank 0 and runs it until all ranks have voted for it.
std::vector<Call> VoteToSplit(Host& host) {
  const auto calls = CallsOn(host, kSplitBroadcast, false, 1);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    host.engine(rank).Start(calls[rank], Algorithm::kFetch, 0);
  for (int round = 0; round < 2; ++round)
    for (std::uint32_t rank = 0; rank < kRanks; ++rank)
      EXPECT_FALSE(host.engine(rank).Advance().value());
  return calls;
}

TEST(ZeroCopyShm, TheRootOfAFetchedBroadcastWritesPartsOfIt) {
  for (const std::uint32_t first : {0u, 2u}) {
    Host host(Way::kFetched, 1);
    const auto calls = VoteToSplit(host);
    std::vector<bool> done(kRanks, false);
    for (std::uint32_t turn = 0; turn < 1000; ++turn) {
      const std::uint32_t rank = (first + turn) % kRanks;
      if (!done[rank]) done[rank] = host.engine(rank).Advance().value();
    }
    EXPECT_EQ(done, std::vector<bool>(kRanks, true));
    std::uint64_t written = 0;
    for (std::uint32_t rank = 1; rank < kRanks; ++rank) {
      EXPECT_TRUE(std::ranges::equal(calls[rank].output, calls[0].input)) << "rank " << rank;
      written += host.arena().rank(rank).split.load() & 0xffff;
    }
    EXPECT_GT(written, 0u) << "rank " << first << " was first";
  }
}

TEST(ZeroCopyShm, TheRootDoesNotWriteToARankThatHasGivenUp) {
  Host host(Way::kFetched, 1);
  const auto calls = VoteToSplit(host);
  const Bytes before(calls[1].output.begin(), calls[1].output.end());
  ASSERT_FALSE(host.engine(0).Advance().value()) << "counts the votes; writes next";
  host.engine(1).Withdraw();
  Result<bool> done = false;
  for (int turn = 0; done.ok() && !*done && turn < 100; ++turn) done = host.engine(0).Advance();
  ASSERT_FALSE(done.ok());
  EXPECT_TRUE(std::ranges::equal(calls[1].output, before));
}

TEST(ZeroCopyShm, ARankThatGivesUpAwaitsTheRootsWrite) {
  Host host(Way::kFetched, 1);
  VoteToSplit(host);
  SplitCopy root(host.arena().rank(1), 1, kSplitCount * 4);
  ASSERT_TRUE(root.TakeBack());
  std::jthread writes([&] {
    while (host.arena().header().failed.load() == 0) std::this_thread::yield();
    root.Deliver();
  });
  host.engine(1).Withdraw();
  EXPECT_TRUE(root.delivered());
  // Without an answer, the wait ends too.
  Host other(Way::kFetched, 1);
  VoteToSplit(other);
  ASSERT_TRUE(SplitCopy(other.arena().rank(1), 1, kSplitCount * 4).TakeBack());
  other.engine(1).Withdraw();
}

TEST(ZeroCopyShm, DeregisteredMemoryIsCopiedAgain) {
  Host host(Way::kRegistered, 1);
  const Call call{.kind = CallKind::kAllGather, .count = 1000, .type = DataType::kInt32};
  ASSERT_TRUE(host.Run(CallsOn(host, call, false, 1)).ok());
  EXPECT_EQ(SlicesOf(host, 0), 1u);
  ASSERT_TRUE(host.shared(3).Deregister(host.handle(3)).ok());
  ASSERT_TRUE(host.Run(CallsOn(host, call, false, 1)).ok());
  EXPECT_GT(SlicesOf(host, 0), 2u);
}

TEST(ZeroCopyShm, ADifferentCallIsReported) {
  Host host(Way::kRegistered, 1);
  const Call call{.kind = CallKind::kAllReduce, .count = 1000, .type = DataType::kInt32};
  auto calls = CallsOn(host, call, false, 1);
  calls[2].op = ReduceOp::kMax;
  const Status status = host.Run(calls);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kProtocol);
  EXPECT_THAT(status.error().message, HasSubstr("rank 2"));
}

TEST(ZeroCopyShm, RefusesPlacesBeyondTheRegisteredMemory) {
  Host host(Way::kRegistered, 1);
  const auto place = host.shared(1).Find(host.memory(1).data() + 8, 8);
  ASSERT_TRUE(place);
  SharedBuffers& other = host.shared(0);
  EXPECT_NE(other.Reach(1, *place, kRankBytes - 8), nullptr);
  EXPECT_EQ(other.Reach(1, *place, kRankBytes), nullptr);
  EXPECT_EQ(other.Reach(1, {.name = place->name, .offset = ~std::uint64_t{0}}, 8), nullptr);
  EXPECT_EQ(other.Reach(1, {.name = place->name + 1, .offset = 0}, 8), nullptr);
  EXPECT_EQ(other.Reach(1, {.name = place->name | 0xff, .offset = 0}, 8), nullptr);
  EXPECT_EQ(other.Reach(1, {.name = 0, .offset = 0}, 8), nullptr);
}

// A rank that gives up owns its memory again. Others no longer access it, even if they have seen
// its offer.
TEST(ZeroCopyShm, AWithdrawalClosesTheBuffersOfThreads) {
  Host host(Way::kThreads, 1);
  const Call call{.kind = CallKind::kAllReduce, .count = 1000, .type = DataType::kInt32};
  const auto calls = CallsOn(host, call, false, 1);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    host.engine(rank).Start(calls[rank], ExpectedAlgorithm(calls[rank]), 0);
  for (int round = 0; round < 2; ++round)  // posted, then voted
    for (std::uint32_t rank = 0; rank < kRanks; ++rank)
      ASSERT_FALSE(host.engine(rank).Advance().value());
  ASSERT_EQ(host.arena().rank(0).vote.load(), 3u) << "all can";
  std::memset(calls[0].output.data(), 7, 4000);
  host.engine(0).Withdraw();
  for (int round = 0; round < 4; ++round)
    for (std::uint32_t rank = 1; rank < kRanks; ++rank)
      ASSERT_FALSE(host.engine(rank).Advance().value());
  EXPECT_EQ(host.engine(1).Awaits(), Rank{0});
  for (std::size_t i = 0; i < 4000; ++i) ASSERT_EQ(calls[0].output[i], std::byte{7});
}

}  // namespace
}  // namespace ringlet::collective
