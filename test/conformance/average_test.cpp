// Compares averages with exact ones. The distance shows the number of roundings on the way.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/value/prng.hpp"
#include "comm/establish/ranks_for_test.hpp"
#include "testbed/narrow_float.hpp"

namespace ringlet::comm {
namespace {

constexpr DataType kNarrow[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat8e4m3,
                                DataType::kFloat8e5m2};
constexpr CallKind kReducing[] = {CallKind::kAllReduce, CallKind::kReduce,
                                  CallKind::kReduceScatter};
// One shot; stages or the memory itself, in more than one piece.
constexpr std::size_t kAverageCounts[] = {61, 17'011};

constexpr std::size_t kAveragePeriod = 997;  // period of Value in `i`

/// Positive, with as many digits as the type has: the sum is exact in double and in float.
double Value(DataType type, std::uint32_t rank, std::size_t i) {
  const std::uint64_t digits = std::uint64_t{1} << testbed::FormatOf(type).mantissa_bits;
  Prng prng(rank * 1'000'003 + i % kAveragePeriod);
  return static_cast<double>(digits + prng.Below(digits)) / static_cast<double>(digits);
}

std::uint16_t CodeAt(DataType type, View elements, std::size_t i) {
  std::uint16_t code = 0;
  std::memcpy(&code, elements.data() + i * SizeOf(type), SizeOf(type));
  return code;
}

/// Returns the number of representable values between the worst element and the average rounded
/// once. (Codes of positive numbers are in their order.)
std::string Worst(Communicator& communicator, const Call& call, int& worst) {
  const std::uint32_t ranks = communicator.identity().size;
  const std::uint32_t self = Index(communicator.identity().rank);
  const std::size_t first = call.kind == CallKind::kReduceScatter ? self * call.count : 0;
  const Status status = communicator.Run(call);
  if (!status.ok()) return status.error().message;
  std::vector<std::uint16_t> due;
  for (std::size_t i = 0; i < kAveragePeriod; ++i) {
    double sum = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) sum += Value(call.type, rank, i);
    due.push_back(testbed::Narrow(testbed::FormatOf(call.type), sum / ranks));
  }
  for (std::size_t i = 0; i < call.output.size() / SizeOf(call.type); ++i)
    worst = std::max(
        worst, std::abs(CodeAt(call.type, call.output, i) - due[(first + i) % kAveragePeriod]));
  return "";
}

std::string Worst(Communicator& communicator, CallKind kind, DataType type, std::size_t count,
                  int& worst) {
  Call call{.kind = kind, .count = count, .type = type, .op = ReduceOp::kAvg};
  const std::size_t size = SizeOf(type);
  Bytes input(InputBytes(call, communicator.place()));
  Bytes output(OutputBytes(call, communicator.place()));
  for (std::size_t i = 0; i < input.size() / size; ++i) {
    std::byte* const to = input.data() + i * size;
    if (i >= kAveragePeriod) {
      std::memcpy(to, to - kAveragePeriod * size, size);
      continue;
    }
    const std::uint16_t code = testbed::Narrow(testbed::FormatOf(type),
                                               Value(type, Index(communicator.identity().rank), i));
    std::memcpy(to, &code, size);
  }
  call.input = input;
  call.output = output;
  return Worst(communicator, call, worst);
}

/// \param bound the worst permitted error for this number of ranks
void RunAverages(std::uint32_t ranks, const std::function<EnvMap(std::uint32_t)>& environment,
                 bool one_process, int bound) {
  std::vector<std::shared_ptr<Process>> processes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    processes.push_back(one_process && rank > 0 ? processes.front()
                                                : ProcessWith(environment(rank)));
  const auto process_of = [&](std::uint32_t rank) { return processes[rank]; };
  RunRanks(ranks, process_of, [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    for (const CallKind kind : kReducing)
      for (const DataType type : kNarrow)
        for (const std::size_t count : kAverageCounts) {
          int worst = 0;
          ASSERT_EQ(Worst(**formed, kind, type, count, worst), "");
          EXPECT_LE(worst, bound) << Name(kind) << " of " << count << ' ' << Name(type) << " among "
                                  << ranks << " ranks";
        }
  });
}

EnvMap Plain(std::uint32_t) {
  return {{"RINGLET_NUMA_RANKS", "1"}};
}

// If one rank sees all inputs, as on one host, an average is the nearest number.
TEST(Averages, SharedMemoryRoundsOnce) {
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) RunAverages(ranks, Plain, false, 0);
}
TEST(Averages, ThreadsRoundOnce) {
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) RunAverages(ranks, Plain, true, 0);
}

// Partial sums travel in their type, so each is rounded. Two ranks have no partial sums.
TEST(Averages, LinksAreAsAccurateAsTheirPartialSums) {
  for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
    const int bound = ranks == 2 ? 0 : static_cast<int>(ranks) - 1;
    const auto shm = [](std::uint32_t) -> EnvMap { return {{"RINGLET_LINKS", "shm"}}; };
    const auto hosts = [&](std::uint32_t rank) -> EnvMap {
      return {{"RINGLET_HOSTID", rank * 2 < ranks ? "a" : "b"}};
    };
    RunAverages(ranks, shm, false, bound);
    RunAverages(ranks, hosts, false, bound);
  }
}
TEST(Averages, SeveralNodesAreAsAccurateAsTheirPartialSums) {
  for (const std::uint32_t ranks : {4u, 5u, 8u, 9u}) {
    const auto nodes = [](std::uint32_t) -> EnvMap { return {{"RINGLET_NUMA_RANKS", "2"}}; };
    RunAverages(ranks, nodes, false, static_cast<int>(ranks) - 1);
  }
}

}  // namespace
}  // namespace ringlet::comm
