// A rank aborts at any moment of any operation: every rank returns an error that names it.
//
// The moment is random: after some operations, and then after some turns of a loop that ends
// anywhere within the next one.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>

#include "base/value/prng.hpp"
#include "base/value/text.hpp"
#include "comm/establish/ranks_for_test.hpp"
#include "link_names.hpp"

namespace ringlet::comm {
namespace {

using transport::LinkNames;

constexpr std::uint32_t kEndRanks = 4;
constexpr CallKind kEndKinds[] = {
    CallKind::kAllReduce,     CallKind::kReduce,     CallKind::kBroadcast, CallKind::kAllGather,
    CallKind::kReduceScatter, CallKind::kAllToAll,   CallKind::kGather,    CallKind::kScatter,
    CallKind::kBarrier,       CallKind::kSendReceive};
// One packet; several slices; more than pipes and arenas hold.
constexpr std::size_t kEndCounts[] = {1, 20'000, 1'500'000};

struct Scene {
  CallKind kind = CallKind::kAllReduce;
  std::size_t count = 0;
  std::uint32_t victim = 0;
  std::uint64_t operations = 0;  // operations that the victim ends before the moment
  std::uint64_t turns = 0;       // turns of a loop until then

  std::string Text() const {
    return fmt::format("{} of {} floats, rank {} aborts after {} operations and {} turns",
                       Name(kind), count, victim, operations, turns);
  }
};

Status PassOn(Communicator& communicator, std::size_t count, std::span<float> values) {
  const std::uint32_t self = Index(communicator.identity().rank);
  const std::array<Transfer, 2> both = {
      Transfer{.peer = Rank{(self + 1) % kEndRanks},
               .sends = true,
               .from = std::as_bytes(values.first(count)),
               .count = count},
      Transfer{.peer = Rank{(self + kEndRanks - 1) % kEndRanks},
               .to = std::as_writable_bytes(values.subspan(count, count)),
               .count = count}};
  return communicator.Run(both);
}

Status RunOnce(Communicator& communicator, const Scene& scene, std::uint64_t operation,
               std::vector<float>& values) {
  if (scene.kind == CallKind::kSendReceive) {
    values.resize(2 * scene.count);
    return PassOn(communicator, scene.count, values);
  }
  Call call{.kind = scene.kind,
            .count = scene.kind == CallKind::kBarrier ? 0 : scene.count,
            .op = ReduceOp::kMax,
            .root = Rank{static_cast<std::uint32_t>(operation % kEndRanks)}};
  const std::size_t in = InputCount(call, communicator.place()),
                    out = OutputCount(call, communicator.place());
  values.resize(std::max(values.size(), in + out));
  call.input = std::as_bytes(std::span(values).first(in));
  call.output = std::as_writable_bytes(std::span(values).subspan(in, out));
  return communicator.Run(call);
}

/// Runs operations until one fails.
Status RunUntilTheEnd(Communicator& communicator, const Scene& scene,
                      std::atomic<std::uint64_t>& ended) {
  std::vector<float> values;
  for (std::uint64_t operation = 0;; ++operation) {
    RINGLET_TRY(RunOnce(communicator, scene, operation, values));
    ++ended;
  }
}

void AbortWhenItIsTime(Communicator& communicator, const Scene& scene,
                       const std::atomic<std::uint64_t>& ended) {
  while (ended < scene.operations) std::this_thread::yield();
  for (std::atomic<std::uint64_t> turn = 0; turn < scene.turns; ++turn) {
  }
  communicator.Abort("the test wants it");
}

/// Gives each rank a process of its own, from Ringlet's view, unless links are inproc.
void Play(const Scene& scene, const char* links) {
  SCOPED_TRACE(scene.Text());
  const EnvMap environment = {{"RINGLET_LINKS", links}, {"RINGLET_TIMEOUT", "60"}};
  const auto shared = ProcessWith(environment);
  const bool one_process = std::string_view(links) == "inproc";
  RunRanks(
      kEndRanks, [&](std::uint32_t) { return one_process ? shared : ProcessWith(environment); },
      [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        std::atomic<std::uint64_t> ended = 0;
        std::thread aborter;
        if (rank == scene.victim)
          aborter = std::thread([&] { AbortWhenItIsTime(**formed, scene, ended); });
        const Status end = RunUntilTheEnd(**formed, scene, ended);
        if (aborter.joinable()) aborter.join();
        const std::string named = fmt::format("rank {}", scene.victim);
        EXPECT_EQ(end.error().code, Code::kAborted) << end.error().message;
        EXPECT_THAT(end.error().message, testing::HasSubstr("the test wants it"));
        if (rank != scene.victim) {
          EXPECT_THAT(end.error().message, testing::HasSubstr(named)) << "said to rank " << rank;
        }
        EXPECT_FALSE(Barrier(**formed).ok()) << "after its end";
      });
}

class Ends : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Links, Ends, testing::ValuesIn(LinkNames(transport::Libfabric::kWithout)),
                         [](const auto& kind) { return std::string(kind.param); });

void PlayAll(const char* links, std::uint64_t seed, std::size_t rounds) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Prng prng(seed);
  for (std::size_t round = 0; round < rounds; ++round)
    for (const CallKind kind : kEndKinds)
      Play({.kind = kind,
            .count = kEndCounts[prng.Below(std::size(kEndCounts))],
            .victim = static_cast<std::uint32_t>(prng.Below(kEndRanks)),
            .operations = prng.Below(4),
            .turns = prng.Below(2) * prng.Below(1'000'000)},
           links);
}

TEST_P(Ends, AnAbortAtAnyMomentReachesEveryRank) {
  PlayAll(GetParam(), 1, 2);
}

TEST_P(Ends, DISABLED_ManyAbortsAtAnyMomentReachEveryRank) {
  PlayAll(GetParam(), 1000, 100);
}

}  // namespace
}  // namespace ringlet::comm
