#include "collective/exec/executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/value/prng.hpp"
#include "collective/algorithm/ring.hpp"
#include "collective/exec/fake_link_for_test.hpp"
#include "collective/reduce/reduce.hpp"
#include "testbed/narrow_float.hpp"

namespace ringlet::collective {
namespace {

using testbed::FormatOf;
using testbed::Narrow;
using testing::AnyOf;
using testing::HasSubstr;

// ---- Numbers, and the naive loop ----------------------------------------------------------------

/// Appends a number between -4 and 4 as `type`, or random bytes for integers. Omits NaN, because
/// payloads are unspecified.
void AppendRandom(Bytes& bytes, DataType type, Prng& prng) {
  const double value = static_cast<double>(prng.Below(8001)) / 1000 - 4;
  const auto append = [&bytes](auto number) {
    const auto raw = std::as_bytes(std::span(&number, 1));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  };
  switch (type) {
    case DataType::kInt8:
    case DataType::kUint8: return append(static_cast<std::uint8_t>(prng.Next()));
    case DataType::kBool: return append(static_cast<std::uint8_t>(prng.Next() & 1));
    case DataType::kInt16: return append(static_cast<std::uint16_t>(prng.Next()));
    case DataType::kInt32:
    case DataType::kUint32: return append(static_cast<std::uint32_t>(prng.Next()));
    case DataType::kInt64:
    case DataType::kUint64: return append(prng.Next());
    case DataType::kFloat32: return append(static_cast<float>(value));
    case DataType::kFloat64: return append(value);
    case DataType::kFloat16:
    case DataType::kBfloat16: return append(Narrow(FormatOf(type), value));
    case DataType::kFloat8e4m3:
    case DataType::kFloat8e5m2:
      return append(static_cast<std::uint8_t>(Narrow(FormatOf(type), value)));
  }
}

Bytes RandomElements(DataType type, std::size_t count, Prng& prng) {
  Bytes bytes;
  for (std::size_t i = 0; i < count; ++i) AppendRandom(bytes, type, prng);
  return bytes;
}

/// Adds up each chunk in the order of a ring, so that rounding is the same.
Bytes RingOracle(const std::vector<Bytes>& inputs, const std::vector<Rank>& order, Reduction what) {
  const std::size_t ranks = order.size();
  const std::size_t size = SizeOf(what.type);
  Bytes result;
  for (std::size_t chunk = 0; chunk < ranks; ++chunk) {
    const Range range = EvenChunk(inputs[0].size() / size, ranks, chunk);
    const auto piece = [&](std::size_t place) {
      const Bytes& input = inputs[Index(order[(chunk + place) % ranks])];
      return View(input).subspan(range.begin * size, range.count * size);
    };
    Bytes sum(piece(0).begin(), piece(0).end());
    for (std::size_t place = 1; place < ranks; ++place) {
      const bool last = place + 1 == ranks;
      what.divisor = last ? static_cast<std::uint32_t>(ranks) : 1;
      Reduce(what, piece(place), sum, sum);
    }
    if (ranks == 1) Divide(what.type, sum, 1);
    result.insert(result.end(), sum.begin(), sum.end());
  }
  return result;
}

std::vector<Rank> ShuffledOrder(std::size_t ranks, Prng& prng) {
  std::vector<Rank> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Rank{i});
  for (std::size_t i = ranks; i > 1; --i) std::swap(order[i - 1], order[prng.Below(i)]);
  return order;
}

// ---- A world of ranks in one thread -------------------------------------------------------------

/// Advances random ranks until all are done. Ends with the first error or a standstill.
Status RunInterleaved(const std::vector<Execution*>& executions, Prng& prng) {
  std::vector<bool> done(executions.size(), false);
  std::size_t idle_turns = 0;
  while (std::count(done.begin(), done.end(), true) < std::ssize(done)) {
    const std::size_t rank = prng.Below(executions.size());
    RINGLET_TRY_ASSIGN(const bool finished, executions[rank]->Advance());
    idle_turns = executions[rank]->moved() || finished != done[rank] ? 0 : idle_turns + 1;
    done[rank] = finished;
    // After this many turns in vain, every rank has almost certainly had a turn.
    if (idle_turns < 100 * executions.size()) continue;
    std::string message = "nothing moves:";
    for (const Execution* execution : executions) message += "\n  " + execution->WaitingFor();
    return Error{.code = Code::kTimeout, .message = message};
  }
  return Ok();
}

struct Case {
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::size_t ranks = 2;
  std::size_t count = 0;
  bool in_place = false;
  std::size_t capacity_bytes = 61;
  std::size_t slice_bytes = 32;
  std::uint64_t seed = 0;
};

void PrintTo(const Case& it, std::ostream* out) {
  *out << Name(it.type) << ' ' << Name(it.op) << ", " << it.ranks << " ranks, " << it.count
       << " elements, " << (it.in_place ? "in place" : "out of place") << ", seed " << it.seed;
}

/// The buffers and executions of all ranks in a test.
class ExecutorWorld {
 public:
  explicit ExecutorWorld(const Case& it)
      : case_(it),
        prng_(it.seed),
        order_(ShuffledOrder(it.ranks, prng_)),
        network_(it.capacity_bytes, prng_.Next()) {
    for (std::size_t i = 0; i < it.ranks; ++i) {
      inputs_.push_back(RandomElements(it.type, it.count, prng_));
    }
    outputs_ = inputs_;
    if (!it.in_place) {
      for (Bytes& output : outputs_) std::fill(output.begin(), output.end(), std::byte{0xee});
    }
  }

  Task TaskOf(Rank rank) {
    Bytes& output = outputs_[Index(rank)];
    const Schedule schedule = RingAllReduce(order_, rank, case_.count);
    const Overlap overlap = case_.in_place ? Overlap(0) : Overlap();
    return {.flow = std::make_shared<const Flow>(Derive(schedule, overlap)),
            .input = case_.in_place ? output : inputs_[Index(rank)],
            .output = output,
            .fingerprint = {.sequence = sequence_,
                            .type = case_.type,
                            .op = case_.op,
                            .count = case_.count},
            .self = rank,
            .ranks = static_cast<std::uint32_t>(case_.ranks),
            .slice_bytes = case_.slice_bytes};
  }

  std::unique_ptr<Execution> Start(Rank rank) { return Start(TaskOf(rank)); }
  std::unique_ptr<Execution> Start(Task task) {
    const Rank self = task.self;
    return std::make_unique<Execution>(std::move(task), network_.LinksOf(self));
  }

  Status Run() {
    std::vector<std::unique_ptr<Execution>> executions;
    std::vector<Execution*> pointers;
    for (std::uint32_t i = 0; i < case_.ranks; ++i) {
      executions.push_back(Start(Rank{i}));
      pointers.push_back(executions.back().get());
    }
    ++sequence_;
    return RunInterleaved(pointers, prng_);
  }

  Bytes Expected() const { return RingOracle(inputs_, order_, {case_.type, case_.op}); }
  const Bytes& output(std::size_t rank) const { return outputs_[rank]; }
  const std::vector<Rank>& order() const { return order_; }
  FakeNetwork& network() { return network_; }
  Prng& prng() { return prng_; }

 private:
  Case case_;
  Prng prng_;
  std::vector<Rank> order_;
  FakeNetwork network_;
  std::vector<Bytes> inputs_;
  std::vector<Bytes> outputs_;
  std::uint64_t sequence_ = 5;
};

void ExpectRight(const Case& it) {
  SCOPED_TRACE(testing::PrintToString(it));
  ExecutorWorld world(it);
  const Bytes expected = world.Expected();
  const Status status = world.Run();
  ASSERT_TRUE(status.ok()) << status.error().message;
  for (std::size_t rank = 0; rank < it.ranks; ++rank) {
    ASSERT_EQ(world.output(rank), expected) << "on rank " << rank;
  }
  EXPECT_EQ(world.network().held_bytes(), 0u);
}

// ---- Right results ------------------------------------------------------------------------------

class EveryType : public testing::TestWithParam<DataType> {};

TEST_P(EveryType, EveryReductionOnOneToNineRanksMatchesTheNaiveLoop) {
  std::uint64_t seed = 0;
  for (std::size_t op = 0; op < kReduceOps; ++op) {
    if (!Reduces(static_cast<ReduceOp>(op), GetParam())) continue;
    for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
      for (const std::size_t count : {0u, 1u, 5u, 97u}) {
        for (const bool in_place : {false, true}) {
          ExpectRight({.type = GetParam(),
                       .op = static_cast<ReduceOp>(op),
                       .ranks = ranks,
                       .count = count,
                       .in_place = in_place,
                       .seed = ++seed});
        }
      }
    }
  }
}

std::vector<DataType> AllTypes() {
  std::vector<DataType> types;
  for (std::size_t i = 0; i < kDataTypes; ++i) types.push_back(static_cast<DataType>(i));
  return types;
}

INSTANTIATE_TEST_SUITE_P(Types, EveryType, testing::ValuesIn(AllTypes()),
                         [](const auto& test) { return std::string(Name(test.param)); });

TEST(Execution, BuffersOfManySlicesAreCorrect) {
  for (const bool in_place : {false, true}) {
    ExpectRight({.type = DataType::kFloat32,
                 .op = ReduceOp::kAvg,
                 .ranks = 3,
                 .count = 200'003,
                 .in_place = in_place,
                 .capacity_bytes = 100'001,
                 .slice_bytes = kSliceBytes,
                 .seed = 1});
  }
}

TEST(Execution, RunsOverLinksOfASingleByte) {
  ExpectRight({.type = DataType::kFloat64,
               .op = ReduceOp::kSum,
               .ranks = 4,
               .count = 23,
               .capacity_bytes = 1,
               .slice_bytes = 8,
               .seed = 2});
}

TEST(Execution, IsCorrectForManySeeds) {
  for (std::uint64_t seed = 100; seed < 300; ++seed) {
    ExpectRight({.type = DataType::kInt64,
                 .op = ReduceOp::kProd,
                 .ranks = 2 + seed % 4,
                 .count = seed % 50,
                 .in_place = seed % 2 == 0,
                 .capacity_bytes = 1 + seed % 70,
                 .slice_bytes = 8 + seed % 5 * 8,
                 .seed = seed});
  }
}

TEST(Execution, OutOfPlaceOperationsKeepTheInput) {
  ExecutorWorld world({.ranks = 3, .count = 10});
  Task task = world.TaskOf(Rank{1});
  const Bytes before(task.input.begin(), task.input.end());
  ASSERT_TRUE(world.Run().ok());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), task.input.begin()));
}

TEST(Execution, OperationsFollowEachOtherWithoutABarrier) {
  // Each rank starts the second operation as soon as its own part of the first is done.
  const std::size_t ranks = 4;
  ExecutorWorld world(
      {.type = DataType::kInt32, .ranks = ranks, .count = 29, .in_place = true, .seed = 3});
  const Bytes once = world.Expected();
  Bytes expected = once;  // the sum of four equal summands
  for (int i = 0; i < 3; ++i) Reduce({DataType::kInt32, ReduceOp::kSum}, expected, once, expected);

  std::vector<std::unique_ptr<Execution>> running;
  std::vector<int> finished(ranks, 0);
  for (std::uint32_t i = 0; i < ranks; ++i) running.push_back(world.Start(Rank{i}));
  for (int turn = 0; turn < 1'000'000 && finished != std::vector<int>(ranks, 2); ++turn) {
    const auto rank = static_cast<std::uint32_t>(world.prng().Below(ranks));
    if (finished[rank] == 2) continue;
    const Result<bool> done = running[rank]->Advance();
    ASSERT_TRUE(done.ok()) << done.error().message;
    if (!*done) continue;
    ++finished[rank];
    Task next = world.TaskOf(Rank{rank});
    ++next.fingerprint.sequence;
    running[rank] = world.Start(std::move(next));
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(finished[rank], 2);
    EXPECT_EQ(world.output(rank), expected) << rank;
  }
}

TEST(Execution, BytesOfTheNextOperationStayOnTheLink) {
  ExecutorWorld world({.ranks = 2, .count = 6, .capacity_bytes = 4096});
  ASSERT_TRUE(world.Run().ok());
  const auto execution_0 = world.Start(Rank{0});
  const auto execution_1 = world.Start(Rank{1});
  ASSERT_TRUE(RunInterleaved({execution_0.get(), execution_1.get()}, world.prng()).ok());
  const Bytes stray(7, std::byte{1});
  world.network().Pipe(Rank{0}, Rank{1}).Write(stray);
  const std::size_t held = world.network().held_bytes();
  EXPECT_GT(held, 0u);
  EXPECT_TRUE(execution_1->Advance().value());
  EXPECT_EQ(world.network().held_bytes(), held);
}

TEST(Execution, AnAdvanceDoesABoundedPart) {
  constexpr std::size_t kSlice = 8, kPasses = 32;
  ExecutorWorld world(
      {.ranks = 2, .count = 10'000, .capacity_bytes = 100'000, .slice_bytes = kSlice});
  const auto execution = world.Start(Rank{0});
  ASSERT_FALSE(execution->Advance().value());
  EXPECT_TRUE(execution->moved());
  EXPECT_LE(world.network().held_bytes(), kHeaderBytes + 1024 + kPasses * kSlice);
}

// ---- Failures -----------------------------------------------------------------------------------

/// Rank 1 of three makes a different call. All ranks run until progress stops.
std::vector<std::string> ErrorsWhenRankOneDiffers(const std::function<void(Task&)>& change) {
  ExecutorWorld world({.ranks = 3, .count = 9, .capacity_bytes = 100});
  std::vector<std::unique_ptr<Execution>> executions;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Task task = world.TaskOf(Rank{i});
    if (i == 1) change(task);
    executions.push_back(world.Start(std::move(task)));
  }
  std::vector<std::string> errors(3);
  for (int turn = 0; turn < 100; ++turn) {
    for (std::size_t i = 0; i < 3; ++i) {
      const Result<bool> done = executions[i]->Advance();
      if (done.ok()) continue;
      EXPECT_EQ(done.error().code, Code::kProtocol);
      errors[i] = done.error().message;
    }
  }
  return errors;
}

TEST(Mismatch, IsReportedOnBothSidesAndNamesTheOtherRank) {
  const std::function<void(Task&)> changes[] = {
      [](Task& task) { ++task.fingerprint.sequence; },
      [](Task& task) { task.fingerprint.type = DataType::kInt32; },
      [](Task& task) { task.fingerprint.op = ReduceOp::kMax; },
      [](Task& task) {
        task.fingerprint.count = 8;
        const Rank order[] = {Rank{0}, Rank{1}, Rank{2}};
        task.flow = std::make_shared<const Flow>(Derive(RingAllReduce(order, Rank{1}, 8)));
        task.input = task.input.first(32);
        task.output = task.output.first(32);
      },
  };
  for (const auto& change : changes) {
    const std::vector<std::string> errors = ErrorsWhenRankOneDiffers(change);
    EXPECT_THAT(errors[1], HasSubstr(", rank 1 called"));
    EXPECT_THAT(errors, testing::Contains(HasSubstr("rank 1 called all_reduce")).Times(2));
  }
}

TEST(Failure, IsThatOfTheLinkAndPersists) {
  ExecutorWorld world({.ranks = 2, .count = 6, .capacity_bytes = 40});
  const auto execution = world.Start(Rank{0});
  ASSERT_FALSE(execution->Advance().value());
  world.network().Pipe(Rank{1}, Rank{0}).failure = "rank 1 on host b is gone";
  for (int i = 0; i < 2; ++i) {
    const Result<bool> done = execution->Advance();
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, Code::kPeerLost);
    EXPECT_EQ(done.error().message, "rank 1 on host b is gone");
  }
}

TEST(Failure, ADifferentCallExplainsABrokenLink) {
  // Tries many seeds, because the header may arrive in several pieces.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ExecutorWorld world({.ranks = 2, .count = 6, .capacity_bytes = 400, .seed = seed});
    Task other = world.TaskOf(Rank{1});
    other.fingerprint.op = ReduceOp::kMin;
    const auto execution_1 = world.Start(std::move(other));
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(execution_1->Advance().ok());
    const auto execution_0 = world.Start(Rank{0});
    world.network().Pipe(Rank{0}, Rank{1}).failure = "rank 1 is gone";
    for (int i = 0; i < 2; ++i) {
      const Result<bool> done = execution_0->Advance();
      ASSERT_FALSE(done.ok());
      EXPECT_THAT(done.error().message, HasSubstr("rank 1 called all_reduce of 6 float min"));
    }
  }
}

/// Returns one of three ranks' executions of a call without an input.
std::unique_ptr<Execution> OneOfThree(const Schedule& schedule, const Fingerprint& call, Rank self,
                                      std::span<std::byte> output, FakeNetwork& network) {
  return std::make_unique<Execution>(
      Task{.flow = std::make_shared<const Flow>(Derive(schedule, std::nullopt)),
           .input = {},
           .output = output,
           .fingerprint = call,
           .self = self,
           .ranks = 3},
      network.LinksOf(self));
}

// A root reads no data from its peers. If a peer also sent as root of the same broadcast, the root
// detects that at its next use of the link, if enough bytes are visible to identify the operation.
TEST(Mismatch, IsDetectedByARootAtItsNextCall) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    FakeNetwork network{400, seed};
    Bytes output(16);
    Schedule schedule{.output_count = 4};
    schedule.Send(Rank{1}, Output(), 4);
    Fingerprint call{.sequence = 3, .operation = CallKind::kBroadcast, .count = 4};
    const auto first = OneOfThree(schedule, call, Rank{0}, output, network);
    while (!first->Advance().value()) {
    }
    Fingerprint other = call;
    other.root = Rank{1};
    const Header header = EncodeHeader(other, Rank{1});
    FakePipe& back = network.Pipe(Rank{1}, Rank{0});
    for (std::size_t sent = 0; sent < header.size();)
      sent += back.Write(View(header).subspan(sent));
    const bool shown = back.Peek().size() >= 16;
    ++call.sequence;
    const auto next = OneOfThree(schedule, call, Rank{0}, output, network)->Advance();
    ASSERT_EQ(!next.ok(), shown);
    if (!shown) continue;
    ++found;
    EXPECT_EQ(next.error().code, Code::kProtocol);
    EXPECT_THAT(next.error().message,
                HasSubstr("rank 1 called broadcast of 4 float at root 1 as operation 3, rank 0 "
                          "called broadcast of 4 float at root 0 as operation 4"));
  }
  EXPECT_GE(found, 5);
}

TEST(Mismatch, IgnoresHeadersOfLaterOperations) {
  FakeNetwork network{400, 7};
  Bytes output(16);
  Schedule schedule{.output_count = 4};
  schedule.Send(Rank{1}, Output(), 4);
  Fingerprint call{.sequence = 3, .operation = CallKind::kBroadcast, .count = 4};
  Fingerprint later = call;
  ++later.sequence;
  network.Pipe(Rank{1}, Rank{0}).Write(EncodeHeader(later, Rank{1}));
  EXPECT_TRUE(OneOfThree(schedule, call, Rank{0}, output, network)->Advance().value());
}

/// Rank 1, which forwards data from rank 0 to rank 2.
struct Relay {
  FakeNetwork network{400, 7};
  Bytes output = Bytes(16);
  Fingerprint call{.sequence = 3, .operation = CallKind::kBroadcast, .count = 4};
  std::unique_ptr<Execution> execution;

  Relay() {
    Schedule schedule{.output_count = 4};
    schedule.Receive(Rank{0}, Output(), 4);
    schedule.Send(Rank{2}, Output(), 4);
    execution = OneOfThree(schedule, call, Rank{1}, output, network);
  }
  std::size_t said() { return network.Pipe(Rank{1}, Rank{2}).held(); }
};

TEST(Header, IsSentTogetherWithItsData) {
  Relay relay;
  ASSERT_FALSE(relay.execution->Advance().value());
  EXPECT_EQ(relay.said(), 0u) << "a packet for nothing";
  const Header header = EncodeHeader(relay.call, Rank{0});
  Bytes all(header.begin(), header.end());
  all.resize(kHeaderBytes + 16);
  transport::Link& link = *relay.network.Link(Rank{0}, Rank{1});
  for (std::size_t sent = 0; sent < all.size();)
    sent += link.Write(View(all).subspan(sent)).value();
  bool done = false;
  for (int i = 0; i < 100 && !done; ++i) done = relay.execution->Advance().value();
  EXPECT_TRUE(done);
  EXPECT_EQ(relay.said(), kHeaderBytes + 16);
}

TEST(Header, IsSentAloneIfItsDataAreLate) {
  Relay relay;
  for (int i = 0; i < 50; ++i) ASSERT_FALSE(relay.execution->Advance().value());
  EXPECT_EQ(relay.said(), kHeaderBytes) << "rank 2 may have called something else";
}

// The first element from `earlier` has arrived, and the step of `later` precedes its second.
void ExpectWhoseStepComesFirst(Rank earlier, Rank later) {
  Schedule schedule{.output_count = 3};
  schedule.Receive(earlier, Output(0), 1);
  schedule.Receive(later, Output(1), 1);
  schedule.Receive(earlier, Output(2), 1);
  FakeNetwork network(400, 7);
  Bytes output(12);
  const Fingerprint call{.sequence = 3, .operation = CallKind::kBroadcast, .count = 3};
  const auto execution = OneOfThree(schedule, call, Rank{0}, output, network);
  ASSERT_FALSE(execution->Advance().value());
  EXPECT_EQ(execution->Awaits(), earlier);
  const Header header = EncodeHeader(call, earlier);
  Bytes all(header.begin(), header.end());
  all.resize(kHeaderBytes + 4);
  for (std::size_t sent = 0; sent < all.size();)
    sent += network.Link(earlier, Rank{0})->Write(View(all).subspan(sent)).value();
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(execution->Advance().value());
  EXPECT_EQ(execution->Awaits(), later);
}

TEST(Awaited, IsThePeerOfTheFirstUnfinishedStep) {
  ExpectWhoseStepComesFirst(Rank{1}, Rank{2});
  ExpectWhoseStepComesFirst(Rank{2}, Rank{1});
}

TEST(Failure, NamesAMissingLink) {
  ExecutorWorld world({.ranks = 2, .count = 6});
  Execution execution(world.TaskOf(Rank{0}), [](Rank) { return nullptr; });
  const Result<bool> done = execution.Advance();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, "rank 0 does not have a link to rank 1");
}

TEST(Waiting, NamesThePeer) {
  ExecutorWorld world({.ranks = 2, .count = 6, .capacity_bytes = 4096});
  const auto execution_0 = world.Start(Rank{0});
  ASSERT_FALSE(execution_0->Advance().value());
  EXPECT_THAT(execution_0->WaitingFor(),
              HasSubstr("rank 0 in all_reduce of 6 float sum as operation 5 waits for rank 1 to "
                        "begin"));
  const auto execution_1 = world.Start(Rank{1});
  ASSERT_FALSE(execution_1->Advance().value());
  // Rank 1 has forwarded its first chunk, and waits for the second one, now summed on rank 0.
  EXPECT_THAT(execution_1->WaitingFor(), HasSubstr("data from rank 0"));
  ASSERT_TRUE(RunInterleaved({execution_0.get(), execution_1.get()}, world.prng()).ok());
  EXPECT_THAT(execution_1->WaitingFor(), HasSubstr("waits for its outgoing data to drain"));
}

TEST(Waiting, LastsUntilTheOutgoingDataAreSettled) {
  ExecutorWorld world({.ranks = 2, .count = 6, .capacity_bytes = 4096});
  FakePipe& out = world.network().Pipe(Rank{0}, Rank{1});
  out.settled = false;
  const auto execution_0 = world.Start(Rank{0}), execution_1 = world.Start(Rank{1});
  bool done_1 = false;
  for (int i = 0; i < 200; ++i) {
    ASSERT_FALSE(execution_0->Advance().value());
    done_1 = execution_1->Advance().value();
  }
  EXPECT_TRUE(done_1);
  out.settled = true;
  EXPECT_TRUE(execution_0->Advance().value());
}

}  // namespace
}  // namespace ringlet::collective
