#include "comm/run/one_sided.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/run/group.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

struct WithMeasuredLinks {
  const char* name;
  EnvMap environment;
  bool registered;  // in memory that peers can map
};

class WindowsOver : public testing::TestWithParam<WithMeasuredLinks> {};
INSTANTIATE_TEST_SUITE_P(
    Ways, WindowsOver,
    testing::Values(WithMeasuredLinks{"mapped", {}, true},
                    WithMeasuredLinks{"by_messages", {}, false},
                    WithMeasuredLinks{"without_host_memory", {{"RINGLET_HOST_MEMORY", "0"}}, true},
                    WithMeasuredLinks{"encrypted", {{"RINGLET_ENCRYPT", "1"}}, false}),
    [](const auto& over) { return std::string(over.param.name); });

/// Memory of a rank, and a window of it.
class OwnWindow {
 public:
  OwnWindow(Communicator& communicator, std::size_t bytes, bool registered)
      : heap_(communicator.origin().process->heap()), local_(registered ? 0 : bytes) {
    if (registered) mapped_ = *heap_.Allocate(bytes);
    memory_ = registered ? std::span(mapped_, bytes) : std::span(local_);
    number_ = *communicator.one_sided().Open(memory_, 0);
  }
  std::uint32_t number() const { return number_; }
  std::span<std::byte> memory() const { return memory_; }
  /// \pre  the window is closed
  void Free() {
    if (!mapped_) return;
    EXPECT_TRUE(heap_.Free(std::exchange(mapped_, nullptr)).ok());
  }

 private:
  RegisteredHeap& heap_;
  Bytes local_;
  std::byte* mapped_ = nullptr;
  std::span<std::byte> memory_;
  std::uint32_t number_ = 0;
};

Bytes Pattern(std::size_t bytes, std::uint32_t seed) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
  return out;
}

Status WaitFor(Communicator& communicator, Rank peer, std::uint32_t times, Signal signal = {}) {
  return communicator.Run(Work(SignalWait{{{peer, signal, times}}}));
}

TEST_P(WindowsOver, EveryRankPutsToEveryOther) {
  constexpr std::uint32_t kMembers = 3;
  constexpr std::size_t kBytes = 700'001, kPart = kBytes + 100;
  // ThreadSanitizer sees no order in a barrier over memory that each rank maps at another address.
  std::atomic<std::uint32_t> barriers{0};
  RunRanks(kMembers, GetParam().environment, [&](std::uint32_t rank, auto formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Communicator& communicator = **formed;
    OwnWindow window(communicator, kMembers * kPart, GetParam().registered);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4'000}, kBytes}) {
      const Bytes data = Pattern(bytes, rank);
      for (std::uint32_t peer = 0; peer < kMembers; ++peer) {
        const Status put = communicator.Run(Work(Put{.peer = Rank{peer},
                                                     .from = data,
                                                     .window = window.number(),
                                                     .offset = rank * kPart + 3}));
        ASSERT_TRUE(put.ok()) << put.error().message;
      }
      for (std::uint32_t peer = 0; peer < kMembers; ++peer) {
        const Status come = WaitFor(communicator, Rank{peer}, 1);
        ASSERT_TRUE(come.ok()) << come.error().message;
        const auto part = window.memory().subspan(peer * kPart + 3, bytes);
        EXPECT_TRUE(std::ranges::equal(part, Pattern(bytes, peer))) << bytes << " from " << peer;
        EXPECT_EQ(window.memory()[peer * kPart], std::byte{}) << "before what was put";
      }
      barriers.fetch_add(1);
      ASSERT_TRUE(Barrier(communicator).ok());
      barriers.fetch_add(1);
    }
    ASSERT_TRUE(communicator.one_sided().Close(window.number()).ok());
    window.Free();
  });
}

TEST_P(WindowsOver, EachSignalHasItsOwnCount) {
  RunRanks(2, GetParam().environment, [](std::uint32_t rank, auto formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Communicator& communicator = **formed;
    const Rank other{1 - rank};
    const auto raise = [&](Signal signal) {
      ASSERT_TRUE(communicator.Run(Work(Put{.peer = other, .signal = signal})).ok());
    };
    for (int i = 0; i < 3; ++i) raise({0, 0});
    raise({0, 5});
    raise({2, 0});
    const Status several = communicator.Run(
        Work(SignalWait{{{other, {2, 0}, 1}, {other, {0, 0}, 1}, {other, {0, 0}, 1}}}));
    EXPECT_TRUE(several.ok()) << several.error().message;
    EXPECT_TRUE(WaitFor(communicator, other, 1, {0, 5}).ok());
    EXPECT_TRUE(WaitFor(communicator, other, 1).ok()) << "the third of the first";
    EXPECT_TRUE(communicator.Run(Work(Put{.peer = Rank{rank}})).ok());
    EXPECT_TRUE(WaitFor(communicator, Rank{rank}, 1).ok()) << "of itself";
  });
}

TEST(Windows, AnEarlyPutWaitsUntilThePeerHasOpenedItsWindow) {
  std::latch begun(1);
  RunRanks(2, EnvMap{}, [&](std::uint32_t rank, auto formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Communicator& communicator = **formed;
    if (rank == 0) {
      OwnWindow window(communicator, 100, false);
      const Bytes data = Pattern(100, 1);
      begun.count_down();
      EXPECT_TRUE(
          communicator.Run(Work(Put{.peer = Rank{1}, .from = data, .window = window.number()}))
              .ok());
      EXPECT_TRUE(WaitFor(communicator, Rank{1}, 1).ok());
      return;
    }
    begun.wait();
    OwnWindow window(communicator, 100, false);
    EXPECT_TRUE(WaitFor(communicator, Rank{0}, 1).ok());
    EXPECT_TRUE(std::ranges::equal(window.memory(), Pattern(100, 1)));
    EXPECT_TRUE(communicator.Run(Work(Put{.peer = Rank{0}})).ok());
  });
}

TEST(Windows, APutBeyondAWindowFailsTheCommunicator) {
  RunRanks(2, EnvMap{}, [](std::uint32_t rank, auto formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Communicator& communicator = **formed;
    OwnWindow window(communicator, rank == 0 ? 200 : 100, false);
    const Bytes data(101);
    const Status status =
        rank == 0
            ? communicator.Run(Work(Put{.peer = Rank{1}, .from = data, .window = window.number()}))
            : WaitFor(communicator, Rank{0}, 1);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("101 bytes at 0 lie beyond rank 1's part"));
  });
}

TEST(Windows, ReportsAClosedWindow) {
  RunRanks(2, EnvMap{}, [](std::uint32_t rank, auto formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Communicator& communicator = **formed;
    OwnWindow window(communicator, 100, false);
    if (rank == 1) {
      EXPECT_TRUE(communicator.one_sided().Close(window.number()).ok());
      EXPECT_THAT(communicator.one_sided().Close(window.number()).error().message,
                  HasSubstr("is deregistered"));
      EXPECT_THAT(communicator.one_sided().Close(7).error().message,
                  HasSubstr("does not exist yet"));
      EXPECT_TRUE(communicator.Run(Work(Put{.peer = Rank{0}})).ok());
      EXPECT_FALSE(WaitFor(communicator, Rank{0}, 1).ok());
      return;
    }
    EXPECT_TRUE(WaitFor(communicator, Rank{1}, 1).ok());
    const Bytes data(10);
    const Status status =
        communicator.Run(Work(Put{.peer = Rank{1}, .from = data, .window = window.number()}));
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("window 1 is deregistered"));
  });
}

TEST(Windows, AWaitingRankReportsTheEndOfItsPeer) {
  for (const bool aborts : {false, true}) {
    SCOPED_TRACE(aborts);
    RunRanks(2, EnvMap{}, [aborts](std::uint32_t rank, auto formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      if (rank == 1) {
        if (aborts) (*formed)->Abort("the test wants it");
        return;
      }
      const Status status = WaitFor(**formed, Rank{1}, 1);
      ASSERT_FALSE(status.ok());
      EXPECT_THAT(status.error().message, HasSubstr("rank 1"));
      EXPECT_EQ(status.error().code, aborts ? Code::kAborted : Code::kPeerLost);
    });
  }
}

TEST(Windows, TheDeadlineNamesTheMissingSignal) {
  RunRanks(2, {{"RINGLET_TIMEOUT", "0.5"}}, [](std::uint32_t rank, auto formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const Rank other{1 - rank};
    ASSERT_TRUE((*formed)->Run(Work(Put{.peer = other})).ok());
    const Status status = WaitFor(**formed, other, 2);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("signal 0 of context 0"));
    EXPECT_THAT(status.error().message, HasSubstr("1 of 2 have arrived"));
  });
}

TEST(Windows, AWaitConsumesItsSignals) {
  RunRanks(2, {{"RINGLET_TIMEOUT", "0.5"}}, [](std::uint32_t rank, auto formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const Rank other{1 - rank};
    for (int i = 0; i < 2; ++i) ASSERT_TRUE((*formed)->Run(Work(Put{.peer = other})).ok());
    ASSERT_TRUE(WaitFor(**formed, other, 1).ok());
    ASSERT_TRUE(WaitFor(**formed, other, 1).ok());
    const Status status = WaitFor(**formed, other, 1);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("0 of 1 have arrived"));
  });
}

TEST(Windows, AGroupRunsPutsBeforeMessagesAndWaitsAfter) {
  RunRanks(2, EnvMap{}, [](std::uint32_t rank, auto formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const std::shared_ptr<Communicator> communicator = std::move(*formed);
    const Rank other{1 - rank};
    OwnWindow window(*communicator, 1'000, true);
    const Bytes data = Pattern(1'000, rank);
    Bytes sent(64, std::byte{7}), received(64), sum(8);
    const Status status = RunGroup(
        {{communicator, SignalWait{{{other, {}, 1}}}},
         {communicator,
          Transfer{.peer = other, .to = received, .count = 64, .type = DataType::kUint8}},
         {communicator, Put{.peer = other, .from = data, .window = window.number()}},
         {communicator,
          Transfer{
              .peer = other, .sends = true, .from = sent, .count = 64, .type = DataType::kUint8}},
         {communicator, Call{.kind = CallKind::kAllReduce,
                             .input = View(sent).first(8),
                             .output = sum,
                             .count = 8,
                             .type = DataType::kUint8}}});
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_TRUE(std::ranges::equal(window.memory(), Pattern(1'000, 1 - rank)));
    EXPECT_EQ(received, sent);
    EXPECT_EQ(sum, Bytes(8, std::byte{14}));
    ASSERT_TRUE(Barrier(*communicator).ok());
    EXPECT_TRUE(communicator->one_sided().Close(window.number()).ok());
    window.Free();
  });
}

TEST(Windows, RefusesInvalidWorkBeforeItRuns) {
  RunRanks(1, EnvMap{}, [](std::uint32_t, auto formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Communicator& communicator = **formed;
    const auto why_not = [&](const Work& work) {
      const Status status = communicator.Run(work);
      return status.ok() ? "" : status.error().message;
    };
    EXPECT_THAT(why_not(Put{.peer = Rank{1}}), HasSubstr("a signal of rank 1"));
    EXPECT_THAT(why_not(Put{.signal = {Signal::kContextsMax, 0}}), HasSubstr("context 1024"));
    EXPECT_THAT(why_not(SignalWait{{{Rank{0}, {0, Signal::kNumbersMax}, 1}}}),
                HasSubstr("signal 65536"));
    EXPECT_EQ(why_not(Put{}), "");
    const Bytes data(8);
    EXPECT_THAT(why_not(Put{.from = data, .window = 1}), HasSubstr("does not exist yet"));
  });
}

}  // namespace
}  // namespace ringlet::comm
