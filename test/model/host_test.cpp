// The protocols of the ranks of one host: the ring of posts, slices, direct access, and departure.
#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <memory>
#include <numeric>

#include "collective/call/run.hpp"
#include "collective/shm/shm_collective.hpp"
#include "programs_for_test.hpp"

namespace ringlet::model {
namespace {

using collective::Algorithm;
using collective::Call;
using collective::CallKind;
using collective::HostReach;
using collective::InProcessBuffers;
using collective::ShmCollective;
using transport::Arena;
using transport::ArenaShape;
using transport::SharedBuffers;

constexpr std::size_t kElementsMax = 256;

struct Buffers {
  std::int32_t input[kElementsMax * kThreadsMax];
  std::int32_t output[kElementsMax * kThreadsMax];
};
Buffers buffers[kThreadsMax];

std::int32_t Input(std::uint32_t rank, std::size_t element, std::size_t operation) {
  return static_cast<std::int32_t>(100000 * (operation + 1) + 1000 * (rank + 1) + element);
}

struct Setup {
  std::uint32_t ranks = 2;
  std::uint64_t slot_bytes = 64;
  std::uint64_t stage_bytes = 192;
  Algorithm how = Algorithm::kOneShot;  // algorithm of calls with data
  bool near = false;                    // threads that reach each other's buffers
  bool far = false;                     // ranks that use the kernel for it
};

// An arena with one engine for each rank. It is created once, and reset for each execution.
class World {
 public:
  explicit World(const Setup& setup) : setup_(setup) {
    auto arena = Arena::Create({setup.ranks, setup.slot_bytes, setup.stage_bytes, 2});
    RINGLET_ASSERT(arena.ok());
    arena_ = *arena;
    const auto* const begin = reinterpret_cast<const std::byte*>(&arena_->header());
    fresh_.assign(begin, begin + arena_->shape().TotalBytes());
    NameAll();
  }
  ~World() { SharedMemory().Forget(); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void Begin() {
    engines_.clear();
    std::memcpy(static_cast<void*>(&arena_->header()), fresh_.data(), fresh_.size());
    std::memset(buffers, 0, sizeof buffers);
    const auto near = std::make_shared<InProcessBuffers>(setup_.ranks);
    for (std::uint32_t rank = 0; rank < setup_.ranks; ++rank) {
      HostReach reach;
      if (setup_.near) {
        reach = {.shared = std::make_shared<SharedBuffers>(),
                 .near = near,
                 .is_near = std::vector<bool>(setup_.ranks, true)};
        reach.shared->Publish(arena_, rank);
      }
      if (setup_.far) {
        reach = {.shared = std::make_shared<SharedBuffers>(),
                 .near = near,
                 .is_near = std::vector<bool>(setup_.ranks, false)};
        reach.shared->Publish(arena_, rank);
        reach.shared->SetProcesses(std::vector<os::KnownProcess>(setup_.ranks, LocalHost()));
      }
      engines_.push_back(std::make_unique<ShmCollective>(
          arena_, rank, collective::WaitPolicy{}, collective::ShmOptions{}, std::move(reach)));
    }
  }

  /// Permits failures of operations from now on; their buffers are then reused for other data.
  void MayFail() { may_fail_ = true; }

  ShmCollective& engine(std::uint32_t rank) { return *engines_[rank]; }
  std::uint32_t ranks() const { return setup_.ranks; }

  // Before the threads: advances all ranks by this number of broadcasts without data.
  void Pass(int operations) {
    Call call{.kind = CallKind::kBarrier, .count = 0};
    for (int i = 0; i < operations; ++i) {
      for (auto& engine : engines_)
        engine->Start(call, Algorithm::kOneShot, static_cast<std::uint64_t>(i));
      std::vector<bool> done(engines_.size(), false);
      while (std::ranges::find(done, false) != done.end())
        for (std::size_t rank = 0; rank < done.size(); ++rank)
          if (!done[rank]) done[rank] = engines_[rank]->Advance().value();
    }
  }

  // Runs one operation of one rank, from its input to the check of its output.
  /// \param sleeps  number of sleeps before it gives up
  void Run(std::uint32_t rank, Call call, std::size_t operation, int sleeps = INT_MAX) {
    Buffers& mine = buffers[rank];
    const collective::CallPlace place{Rank{rank}, setup_.ranks};
    const std::size_t in = InputBytes(call, place), out = OutputBytes(call, place);
    for (std::size_t i = 0; i < in / 4; ++i) mine.input[i] = Input(rank, i, operation);
    call.input = View(reinterpret_cast<const std::byte*>(mine.input), in);
    call.output = std::span(reinterpret_cast<std::byte*>(mine.output), out);
    engine(rank).Start(call, call.count > 0 ? setup_.how : Algorithm::kOneShot, operation);
    const Status status =
        RunToEnd(engine(rank), NoLinks(), {.check = [&] {
                   return sleeps-- > 0 ? Ok() : Status(Error{Code::kTimeout, "late"});
                 }});
    if (!status.ok()) return Stop(rank, status.error());
    for (std::size_t i = 0; i < out / 4; ++i) Check(rank, call, i, operation);
  }

 private:
  void Stop(std::uint32_t rank, const Error& error) {
    if (!may_fail_) Fail("rank " + std::to_string(rank) + ": " + error.message);
    engine(rank).Withdraw();
    if (!setup_.far) {
      std::memset(static_cast<void*>(&buffers[rank]), 1, sizeof buffers[rank]);
      return;
    }
    for (std::size_t i = 0; i < 2; ++i)  // the kernel may be reading
      std::atomic_ref(buffers[rank].input[i]).store(1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < 2; ++i) buffers[rank].output[i] = 1;  // no rank may write it now
  }
  static transport::Waiter& NoLinks() {
    static transport::DoorbellWord word;
    static transport::BellWaiter waiter(word);
    return waiter;
  }

  void Check(std::uint32_t rank, const Call& call, std::size_t i, std::size_t operation) {
    const auto count = static_cast<std::size_t>(call.count);
    std::int32_t expected = 0;
    switch (call.kind) {
      case CallKind::kAllReduce:
      case CallKind::kReduce:
        for (std::uint32_t from = 0; from < setup_.ranks; ++from)
          expected += Input(from, i, operation);
        break;
      case CallKind::kReduceScatter:
        for (std::uint32_t from = 0; from < setup_.ranks; ++from)
          expected += Input(from, rank * count + i, operation);
        break;
      case CallKind::kAllToAll:
        expected =
            Input(static_cast<std::uint32_t>(i / count), rank * count + i % count, operation);
        break;
      case CallKind::kAllGather:
      case CallKind::kGather:
        expected = Input(static_cast<std::uint32_t>(i / count), i % count, operation);
        break;
      case CallKind::kScatter:
        expected = Input(Index(call.root), rank * count + i, operation);
        break;
      default: expected = Input(Index(call.root), i, operation);
    }
    if (buffers[rank].output[i] != expected)
      Fail("rank " + std::to_string(rank) + ": element " + std::to_string(i) + " of operation " +
           std::to_string(operation) + " is " + std::to_string(buffers[rank].output[i]) +
           " instead of " + std::to_string(expected));
  }

  void NameAll() {
    Memory& memory = SharedMemory();
    memory.Share("arena", fresh_.empty() ? nullptr : &arena_->header(), fresh_.size());
    memory.Share("buffers", buffers, sizeof buffers);
    memory.Name("failed", &arena_->header().failed, 4);
    for (std::uint32_t rank = 0; rank < setup_.ranks; ++rank) {
      const std::string of = " of " + std::to_string(rank);
      auto& part = arena_->rank(rank);
      memory.Name("bell" + of, &part.bell, sizeof part.bell);
      memory.Name("put" + of, &part.progress.put, 8);
      memory.Name("reduced" + of, &part.progress.reduced, 8);
      memory.Name("joined" + of, &part.progress.joined, 8);
      memory.Name("got" + of, &part.progress.got, 8);
      memory.Name("left" + of, &part.left, 4);
      memory.Name("vote" + of, &part.vote, 8);
      memory.Name("split" + of, &part.split, 8);
      memory.Name("delivered" + of, &part.delivered, 8);
      for (std::uint64_t post = 0; post < ArenaShape::kPosts; ++post)
        memory.Name("post " + std::to_string(post) + of, &arena_->post(rank, post),
                    sizeof(transport::ArenaPost));
      memory.Name("payloads" + of, arena_->payload(rank, 0), arena_->shape().PayloadBytes());
      memory.Name("stages" + of, arena_->stage(rank, 0), arena_->shape().StagesBytes());
      memory.Name("input" + of, buffers[rank].input, sizeof buffers[rank].input);
      memory.Name("output" + of, buffers[rank].output, sizeof buffers[rank].output);
    }
  }

  Setup setup_;
  bool may_fail_ = false;
  std::shared_ptr<Arena> arena_;
  std::vector<std::byte> fresh_;
  std::vector<std::unique_ptr<ShmCollective>> engines_;
};

Call CallOf(CallKind kind, std::uint64_t count, std::uint32_t root = 0) {
  return {.kind = kind, .count = count, .type = DataType::kInt32, .root = Rank{root}};
}

// All ranks execute `calls`.
Scenario All(World& world, const std::string& name, const std::vector<Call>& calls) {
  Scenario scenario{.name = std::to_string(world.ranks()) + " ranks, " + name,
                    .begin = [&world] { world.Begin(); },
                    .threads = {},
                    .end = {}};
  for (std::uint32_t rank = 0; rank < world.ranks(); ++rank)
    scenario.threads.push_back([=, &world] {
      for (std::size_t i = 0; i < calls.size(); ++i) world.Run(rank, calls[i], i);
    });
  return scenario;
}

// As before, with a last action of each rank.
Scenario Then(Scenario scenario, const std::string& name, std::function<void(std::uint32_t)> last) {
  scenario.name += ", " + name;
  for (std::uint32_t rank = 0; rank < scenario.threads.size(); ++rank)
    scenario.threads[rank] = [run = scenario.threads[rank], last, rank] {
      run();
      last(rank);
    };
  return scenario;
}

std::vector<Call> Many(std::size_t times, const Call& call) {
  return std::vector<Call>(times, call);
}

constexpr const char *kAsleep = "nobody wakes them", *kRace = "data race";
const Call kSum = CallOf(CallKind::kAllReduce, 2);
const Call kCast = CallOf(CallKind::kBroadcast, 2);
constexpr Algorithm kSlices = Algorithm::kSlices;
constexpr std::uint64_t kSlice = 48;  // int32 elements in one slice of the layout

// ---- posts --------------------------------------------------------------------------------------

TEST(PostModel, TwoRanksRunOneShotOperationsRight) {
  World world({.ranks = 2});
  ExpectRightInAll(All(world, "all_reduce", {kSum}));
  ExpectRightInAll(All(world, "2 all_reduce", {kSum, kSum}));
  ExpectRightInAll(All(world, "barrier", {CallOf(CallKind::kBarrier, 0)}));
}

TEST(PostModel, ThreeRanksRunOneShotOperationsRight) {
  World world({.ranks = 3});
  ExpectRightInAll(All(world, "broadcast", {kCast}));
  ExpectRightInMuch(All(world, "all_reduce", {kSum}));
}

// A root waits only for room: the ring holds four payloads of 64 bytes, or 64 posts.
Scenario PayloadsAround(World& world) {
  return All(world, "6 payloads in a ring of 4", Many(6, CallOf(CallKind::kBroadcast, 16)));
}
Scenario PostsAround(World& world) {
  Scenario scenario = All(world, "posts 63 to 67 of 64", Many(5, kCast));
  scenario.begin = [&world] {
    world.Begin();
    world.Pass(62);
  };
  return scenario;
}

TEST(PostModel, TwoRanksOverwriteNoUnreadData) {
  World two({.ranks = 2});
  ExpectRightInMuch(PayloadsAround(two));
  ExpectRightInMuch(PostsAround(two));
}

TEST(PostModel, ThreeRanksOverwriteNoUnreadData) {
  World three({.ranks = 3});
  ExpectRightInMuch(PayloadsAround(three), 1);
}

TEST(PostModel, PlantedMistakesAreFound) {
  World world({.ranks = 2});
  const Scenario once = All(world, "all_reduce", {kSum});
  ExpectFound(once, Weakened("the post is relaxed", "post", Op::kStore), kRace);
  ExpectFound(once, Weakened("it is looked at relaxed", "post", Op::kLoad), kRace);
  ExpectFound(once,
              Weakened("the post is stored with release", "post", Op::kStore, Order::kRelease),
              kAsleep);
  ExpectFound(PayloadsAround(world),
              {.name = "the root does not wait for room",
               .after =
                   [](std::string_view at, Event& event) {
                     if (event.thread == 0 && at.starts_with("post")) event.value = 1000;
                   }},
              kRace);
}

// ---- slices -------------------------------------------------------------------------------------

TEST(SliceModel, TwoRanksRunSlicedOperationsRight) {
  World world({.ranks = 2, .how = kSlices});
  ExpectRightInMuch(
      All(world, "all_reduce of 3 slices", {CallOf(CallKind::kAllReduce, 3 * kSlice)}));
  ExpectRightInMuch(All(world, "broadcast of 3", {CallOf(CallKind::kBroadcast, 3 * kSlice)}));
  ExpectRightInMuch(All(world, "all_gather of 3", {CallOf(CallKind::kAllGather, 3 * kSlice)}));
  ExpectRightInMuch(All(world, "all_to_all of 3", {CallOf(CallKind::kAllToAll, kSlice)}));
  ExpectRightInMuch(All(world, "reduce_scatter of 3", {CallOf(CallKind::kReduceScatter, kSlice)}));
  ExpectRightInMuch(All(
      world, "broadcast of 2 from each",
      {CallOf(CallKind::kBroadcast, 2 * kSlice, 0), CallOf(CallKind::kBroadcast, 2 * kSlice, 1)}));
}

TEST(SliceModel, ThreeRanksRunSlicedOperationsRight) {
  World world({.ranks = 3, .how = kSlices});
  ExpectRightInMuch(
      All(world, "all_reduce of 3 slices", {CallOf(CallKind::kAllReduce, 3 * kSlice)}), 1);
  ExpectRightInMuch(All(world, "broadcast of 3", {CallOf(CallKind::kBroadcast, 3 * kSlice)}), 1);
}

TEST(SliceModel, PlantedMistakesAreFound) {
  World world({.ranks = 2, .how = kSlices});
  const Scenario sum =
      All(world, "all_reduce of 3 slices", {CallOf(CallKind::kAllReduce, 3 * kSlice)});
  const Scenario cast = All(world, "broadcast of 3", {CallOf(CallKind::kBroadcast, 3 * kSlice)});
  for (const char* const counter : {"put", "reduced", "got"}) {
    const std::string name = counter;
    ExpectFound(sum, Weakened("'" + name + "' is relaxed", name, Op::kStore), kRace);
    ExpectFound(sum, Weakened("'" + name + "' is looked at relaxed", name, Op::kLoad), kRace);
    ExpectFound(
        sum, Weakened("'" + name + "' is stored with release", name, Op::kStore, Order::kRelease),
        kAsleep);
  }
  ExpectFound(cast,
              {.name = "a stage is taken for free one slice too early",
               .after =
                   [](std::string_view at, Event& event) {
                     if (at.starts_with("got")) ++event.value;
                   }},
              "instead of");
}

// ---- direct -------------------------------------------------------------------------------------

Setup Near(std::uint32_t ranks) {
  return {.ranks = ranks, .how = Algorithm::kZeroCopy, .near = true};
}

TEST(DirectModel, TwoRanksRunDirectOperationsRight) {
  World world(Near(2));
  ExpectRightInMuch(All(world, "direct all_reduce", {kSum}));
  ExpectRightInMuch(All(world, "2 direct all_reduce", {kSum, kSum}), 1);
  ExpectRightInMuch(All(world, "direct broadcast", {kCast}));
}

TEST(DirectModel, ThreeRanksRunDirectOperationsRight) {
  World world(Near(3));
  ExpectRightInMuch(All(world, "direct all_reduce", {kSum}), 1);
  ExpectRightInMuch(All(world, "direct broadcast", {kCast}), 1);
}

// A third thread aborts rank 0 at any moment. No rank hangs, and no rank accesses the buffers of a
// withdrawn one.
Scenario Aborted(World& world, const Call& call) {
  world.MayFail();
  Scenario scenario = All(world, "rank 0 aborted", {call});
  scenario.threads.push_back([&world] { world.engine(0).GiveUp(); });
  return scenario;
}

TEST(DirectModel, AnAbortReturnsTheBuffersOfTheRank) {
  World world(Near(2));
  ExpectRightInMuch(Aborted(world, kSum));
  ExpectRightInMuch(Aborted(world, kCast));
}

TEST(SliceModel, AnAbortedRankDoesNotBlockOthers) {
  World world({.ranks = 2, .how = kSlices});
  ExpectRightInMuch(Aborted(world, CallOf(CallKind::kAllReduce, kSlice)));
}

TEST(DirectModel, PlantedMistakesAreFound) {
  World world(Near(2));
  const Scenario sum = All(world, "direct all_reduce", {kSum});
  ExpectFound(sum, Weakened("'got' is stored with release", "got", Op::kStore, Order::kRelease),
              kAsleep);
  ExpectFound(All(world, "2 direct all_reduce", {kSum, kSum}),
              {.name = "a rank goes on before the others are done",
               .after =
                   [](std::string_view at, Event& event) {
                     if (at.starts_with("got")) event.value = 1000;
                   }},
              "instead of");
  ExpectFound(sum, Weakened("the vote is stored with release", "vote", Op::kStore, Order::kRelease),
              kAsleep);
  const Scenario aborted = Aborted(world, kSum);
  ExpectFound(aborted, Dropped("a visitor leaves before it is done", "a lock", Op::kLockShared),
              kRace);
}

// The kernel reads memory that a rank has withdrawn and overwritten: such data is invalid.
TEST(DirectModel, DataOfARankThatFailedDoNotCount) {
  World world({.ranks = 2, .how = Algorithm::kFetch, .far = true});
  ExpectRightInMuch(All(world, "broadcast by the kernel", {kCast}));
  Scenario late = All(world, "the root gives up", {kCast});
  late.threads[0] = [&world] { world.Run(0, kCast, 0, 1); };
  world.MayFail();
  ExpectRightInMuch(late);
  ExpectFound(late,
              {.name = "who has read looks by a load whether it counts",
               .before =
                   [](std::string_view at, Event& event) {
                     if (at == "failed" && event.op == Op::kReadWrite) event.op = Op::kLoad;
                   }},
              "instead of");
}

// The root writes pieces of a broadcast to the memory of its peers, but not once they have given
// up, and they wait until it has written.
TEST(DirectModel, NoRankWritesToMemoryThatItsOwnerHasTakenBack) {
  World world({.ranks = 2, .how = Algorithm::kFetch, .far = true});
  Scenario late = All(world, "a receiver gives up", {kCast});
  late.threads[1] = [&world] { world.Run(1, kCast, 0, 1); };
  world.MayFail();
  ExpectRightInMuch(late);
  ExpectFound(late,
              Weakened("'delivered' is stored relaxed", "delivered", Op::kStore, Order::kRelaxed),
              kRace);
}

// ---- leaving ------------------------------------------------------------------------------------

// A rank that leaves right after its last operation does not make another one fail.
void ExpectLeavingIsRight(World& world, const Call& call, std::uint32_t deviations) {
  const Scenario scenario = Then(All(world, ToText(call), {call}), "then each leaves",
                                 [&world](std::uint32_t rank) { world.engine(rank).Leave(); });
  ExpectRightInMuch(scenario, deviations);
}

TEST(LeaveModel, ARankThatLeavesInOrderFailsNoOther) {
  World posts({.ranks = 3});
  ExpectLeavingIsRight(posts, kSum, 1);
  ExpectLeavingIsRight(posts, kCast, 1);
}
TEST(LeaveModel, ARankThatLeavesAfterSlicesFailsNoOther) {
  World slices({.ranks = 3, .how = kSlices});
  ExpectLeavingIsRight(slices, CallOf(CallKind::kBroadcast, 3 * kSlice), 1);
  ExpectLeavingIsRight(slices, CallOf(CallKind::kGather, kSlice), 1);
  ExpectLeavingIsRight(slices, CallOf(CallKind::kScatter, kSlice), 1);
  ExpectLeavingIsRight(slices, CallOf(CallKind::kAllReduce, kSlice), 1);
}
TEST(LeaveModel, ARankThatLeavesAfterDirectFailsNoOther) {
  World direct(Near(2));
  ExpectLeavingIsRight(direct, kSum, 2);
}

}  // namespace
}  // namespace ringlet::model
