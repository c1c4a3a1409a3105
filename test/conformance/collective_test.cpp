// Compares every collective with a sum made one element at a time, for every number of ranks and
// every kind of link: type by type, reduction by reduction, few and many elements, in place and
// not.
//
// The whole table takes a quarter of an hour, so the normal tests run a part of it, spread evenly.
// The label `long` runs the DISABLED_ tests.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "base/value/prng.hpp"
#include "collective/algorithm/algorithm.hpp"
#include "comm/establish/ranks_for_test.hpp"
#include "link_names.hpp"
#include "testbed/narrow_float.hpp"
#include "transport/ofi/libfabric.hpp"

namespace ringlet::comm {
namespace {

constexpr CallKind kKinds[] = {CallKind::kAllReduce, CallKind::kReduce,        CallKind::kBroadcast,
                               CallKind::kAllGather, CallKind::kReduceScatter, CallKind::kAllToAll,
                               CallKind::kGather,    CallKind::kScatter};
constexpr std::size_t kCounts[] = {0, 1, 7, 4096, (1 << 20) + 3};
constexpr std::size_t kCountsNormally = 4;  // the last one is for the long test

bool IsFloat(DataType type) {
  return (type >= DataType::kFloat16 && type <= DataType::kFloat8e5m2);
}

/// Stores `value` in `type`, rounded once.
void Store(DataType type, double value, std::byte* to) {
  const auto put = [&](auto typed) { std::memcpy(to, &typed, sizeof typed); };
  switch (type) {
    case DataType::kFloat64: return put(value);
    case DataType::kFloat32: return put(static_cast<float>(value));
    case DataType::kFloat16:
    case DataType::kBfloat16: return put(testbed::Narrow(testbed::FormatOf(type), value));
    case DataType::kFloat8e4m3:
    case DataType::kFloat8e5m2:
      return put(static_cast<std::uint8_t>(testbed::Narrow(testbed::FormatOf(type), value)));
    default: break;
  }
  const auto whole = static_cast<std::int64_t>(value);
  std::memcpy(to, &whole, SizeOf(type));  // little-endian
}

/// One call, the same on all ranks.
struct Case {
  CallKind kind = CallKind::kAllReduce;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::size_t count = 0;
  bool in_place = false;
  Rank root{};
  std::uint32_t ranks = 1;

  std::string Text() const {
    return fmt::format("{} of {} {} {} among {} ranks, root {}{}", Name(kind), count, Name(type),
                       Name(op), ranks, Index(root), in_place ? ", in place" : "");
  }
};

/// Element `i` of the input of `rank`. It is so small that every order of adding and multiplying is
/// exact in every type.
std::int64_t Value(const Case& its, std::uint32_t rank, std::size_t i) {
  if (its.type == DataType::kBool) return (i + rank) % 3 != 0;
  if (!Reduces(its.kind)) return static_cast<std::int64_t>((i * 5 + rank * 3) % 16);
  switch (its.op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
    case ReduceOp::kPreMulSum: return rank < 4 && (i + rank) % 3 == 0;
    case ReduceOp::kProd: return rank < 2 ? 1 + static_cast<std::int64_t>(i % 2) : 1;
    default: return static_cast<std::int64_t>((i * 5 + rank * 3) % 8);
  }
}
constexpr std::int64_t kScalar = 2;
constexpr std::size_t kPeriod = 48;  // period of Value in `i`: of 2, 3, 8 and 16

/// Returns the reduction of all ranks' elements `i`.
double Reduced(const Case& its, std::size_t i) {
  std::int64_t result = Value(its, 0, i);
  const bool truth = its.type == DataType::kBool;
  for (std::uint32_t rank = 1; rank < its.ranks; ++rank) {
    const std::int64_t next = Value(its, rank, i);
    switch (its.op) {
      case ReduceOp::kProd: result *= next; break;
      case ReduceOp::kMax: result = std::max(result, next); break;
      case ReduceOp::kMin: result = std::min(result, next); break;
      case ReduceOp::kBand: result &= next; break;
      case ReduceOp::kBor: result |= next; break;
      case ReduceOp::kBxor: result ^= next; break;
      default: result = truth ? (result | next) : result + next; break;
    }
  }
  if (its.op == ReduceOp::kPreMulSum) result *= truth ? 1 : kScalar;
  if (its.op != ReduceOp::kAvg || truth) return static_cast<double>(result);
  if (!IsFloat(its.type)) return static_cast<double>(result / its.ranks);
  if (its.type == DataType::kFloat64) return static_cast<double>(result) / its.ranks;
  return static_cast<float>(result) / static_cast<float>(its.ranks);
}

/// Returns the expected element `i` of the output of `self`.
double Due(const Case& its, std::uint32_t self, std::size_t i) {
  const auto value = [&](std::uint32_t rank, std::size_t at) {
    return static_cast<double>(Value(its, rank, at));
  };
  const auto from = static_cast<std::uint32_t>(its.count == 0 ? 0 : i / its.count);
  switch (its.kind) {
    case CallKind::kBroadcast: return value(Index(its.root), i);
    case CallKind::kAllGather:
    case CallKind::kGather: return value(from, i % its.count);
    case CallKind::kAllToAll: return value(from, self * its.count + i % its.count);
    case CallKind::kScatter: return value(Index(its.root), self * its.count + i);
    case CallKind::kReduceScatter: return Reduced(its, self * its.count + i);
    default: return Reduced(its, i);
  }
}

/// Writes elements 0, 1, ... of a sequence with period kPeriod.
template <typename ValueOf>
void Fill(DataType type, std::span<std::byte> elements, const ValueOf& value_of) {
  const std::size_t size = SizeOf(type), once = std::min(elements.size(), kPeriod * size);
  for (std::size_t i = 0; i * size < once; ++i)
    Store(type, value_of(i), elements.data() + i * size);
  for (std::size_t done = once; done < elements.size();) {
    const std::size_t more = std::min(done, elements.size() - done);
    std::memcpy(elements.data() + done, elements.data(), more);
    done += more;
  }
}

Bytes AllDue(const Case& its, std::uint32_t self, std::size_t elements) {
  const std::size_t size = SizeOf(its.type);
  Bytes due(elements * size);
  for (std::size_t first = 0; first < elements; first += its.count)
    Fill(its.type, std::span(due).subspan(first * size, its.count * size),
         [&](std::size_t i) { return Due(its, self, first + i); });
  return due;
}

/// Runs it. Returns the first complaint, or "".
std::string Complaint(const Case& its, Communicator& communicator) {
  const std::uint32_t self = Index(communicator.identity().rank);
  const std::size_t size = SizeOf(its.type);
  Call call{.kind = its.kind, .count = its.count, .type = its.type, .op = its.op, .root = its.root};
  const std::size_t in_count = InputCount(call, communicator.place());
  const std::size_t out_count = OutputCount(call, communicator.place());
  Bytes input(in_count * size), output(out_count * size), both;
  std::span<std::byte> in(input), out(output);
  if (its.in_place) {
    const std::ptrdiff_t offset =
        collective::InPlaceOffset(call, Rank{self}) * std::ptrdiff_t(size);
    const std::ptrdiff_t first = std::min<std::ptrdiff_t>(0, offset);
    const auto in_at = std::size_t(-first), out_at = std::size_t(offset - first);
    both.resize(std::max(in_at + in.size(), out_at + out.size()));
    in = std::span(both).subspan(in_at, in.size());
    out = std::span(both).subspan(out_at, out.size());
  }
  Fill(its.type, in, [&](std::size_t i) { return static_cast<double>(Value(its, self, i)); });
  call.input = in;
  call.output = out;
  std::array<std::byte, 8> scalar = {};
  Store(its.type, its.type == DataType::kBool ? 1 : kScalar, scalar.data());
  call.scalar = collective::Scalar(View(scalar).first(size));
  const Status status = communicator.Run(call);
  if (!status.ok()) return its.Text() + ": " + status.error().message;
  const Bytes due = AllDue(its, self, out_count);
  if (out_count == 0 || std::memcmp(out.data(), due.data(), due.size()) == 0) return "";
  const auto [wrong, _] = std::ranges::mismatch(out, due);
  return fmt::format("{}: element {} on rank {} is wrong", its.Text(),
                     std::size_t(wrong - out.begin()) / size, self);
}

/// Returns the table for this number of ranks: kinds, types, reductions, counts, placements; every
/// root in turn.
std::vector<Case> Table(std::uint32_t ranks, std::size_t counts) {
  std::vector<Case> table;
  for (const CallKind kind : kKinds)
    for (std::size_t type = 0; type < kDataTypes; ++type)
      for (std::size_t op = 0; op < (Reduces(kind) ? kReduceOps : 1); ++op)
        for (std::size_t count = 0; count < counts; ++count)
          for (const bool in_place : {false, true}) {
            if (!Reduces(ReduceOp(op), DataType(type))) continue;
            table.push_back({.kind = kind,
                             .type = DataType(type),
                             .op = ReduceOp(op),
                             .count = kCounts[count],
                             .in_place = in_place,
                             .root = Rank{static_cast<std::uint32_t>(table.size() % ranks)},
                             .ranks = ranks});
          }
  return table;
}

/// Returns the process of each rank, linked by `kind`: a value of RINGLET_LINKS, in one process; or
///   hosts   two of them with several connections a link
///   slices  through the memory of the host, a process for each rank
///   numa    so, with two ranks at each NUMA node
std::vector<std::shared_ptr<Process>> ProcessesOf(std::string_view kind, std::uint32_t ranks) {
  std::vector<std::shared_ptr<Process>> processes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (kind == "hosts")
      processes.push_back(ProcessWith(
          {{"RINGLET_HOSTID", rank * 2 < ranks ? "a" : "b"}, {"RINGLET_SOCKETS_PER_LINK", "2"}}));
    else if (kind == "slices" || kind == "numa")
      processes.push_back(ProcessWith({{"RINGLET_NUMA_RANKS", kind == "numa" ? "2" : "1"}}));
    else
      return {ranks, ProcessWith({{"RINGLET_LINKS", std::string(kind)}})};
  }
  return processes;
}

/// Runs every `stride`-th case of the table on ranks linked by `kind`.
void RunTable(std::uint32_t ranks, std::string_view kind, std::size_t counts, std::size_t stride) {
  const std::vector<Case> table = Table(ranks, counts);
  const auto processes = ProcessesOf(kind, ranks);
  const auto process_of = [&](std::uint32_t rank) { return processes[rank]; };
  RunRanks(ranks, process_of, [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    for (std::size_t i = ranks % stride; i < table.size(); i += stride)
      ASSERT_EQ(Complaint(table[i], **formed), "");
  });
}

class OverLinks : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) != "ofi") return;
    const auto fabric = transport::ofi::OpenLibfabric({});
    if (!fabric.ok()) GTEST_SKIP() << fabric.error().message;
  }
};
INSTANTIATE_TEST_SUITE_P(Links, OverLinks,
                         testing::ValuesIn(transport::LinkNames(transport::Libfabric::kWith,
                                                                {"hosts", "slices", "numa"})),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(OverLinks, APartOfTheTableIsRight) {
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks)
    RunTable(ranks, GetParam(), kCountsNormally, 61);
}

TEST_P(OverLinks, DISABLED_TheWholeTableIsRight) {
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks)
    RunTable(ranks, GetParam(), std::size(kCounts), 1);
}

// Tests each algorithm between two hosts, independent of the model's choice, for each kind of call
// that its row has.
TEST(Algorithms, EachAlgorithmIsRightOverLinks) {
  for (std::size_t i = 0; i < collective::kAlgorithms; ++i)
    for (const std::uint32_t ranks : {4u, 7u}) {
      const collective::Algorithm algorithm = collective::Algorithm(i);
      const std::string name(Name(algorithm));
      const auto process_of = [&](std::uint32_t rank) {
        return ProcessWith(
            {{"RINGLET_HOST_ALGO", name}, {"RINGLET_HOSTID", rank * 2 < ranks ? "a" : "b"}});
      };
      std::vector<Case> table = Table(ranks, kCountsNormally);
      std::erase_if(table, [&](const Case& one) {
        return std::ranges::none_of(RowOf(algorithm).cases,
                                    [&](const auto& of_row) { return of_row.kind == one.kind; });
      });
      RunRanks(ranks, process_of, [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        for (std::size_t at = i % 11; at < table.size(); at += 11)
          ASSERT_EQ(Complaint(table[at], **formed), "") << name;
      });
    }
}

// ---- Anything after anything --------------------------------------------------------------------

Case AnyCase(std::uint32_t ranks, Prng& prng) {
  Case its{.kind = kKinds[prng.Below(std::size(kKinds))],
           .type = DataType(prng.Below(kDataTypes)),
           .op = ReduceOp(prng.Below(kReduceOps)),
           .count = prng.Below(prng.Chance(0.1) ? 3000 : 40),
           .in_place = prng.Chance(0.5),
           .root = Rank{static_cast<std::uint32_t>(prng.Below(ranks))},
           .ranks = ranks};
  if (!Reduces(its.op, its.type)) its.op = ReduceOp::kSum;
  return its;
}

/// Sends a message from one rank to another, or does nothing.
std::string MessageComplaint(Communicator& communicator, Prng& prng) {
  const std::uint32_t ranks = communicator.identity().size;
  const Rank self = communicator.identity().rank;
  const Rank from{static_cast<std::uint32_t>(prng.Below(ranks))};
  const Rank to{static_cast<std::uint32_t>((Index(from) + 1 + prng.Below(ranks - 1)) % ranks)};
  const std::size_t count = prng.Below(500);
  const std::byte fill{static_cast<unsigned char>(prng.Below(256))};
  Bytes data(count, self == from ? fill : std::byte{0});
  if (self == from) {
    const Status sent = Send(communicator, to, data, count, DataType::kUint8);
    return sent.ok() ? "" : sent.error().message;
  }
  if (self != to) return "";
  const Status received = Receive(communicator, from, data, count, DataType::kUint8);
  if (!received.ok()) return received.error().message;
  return data == Bytes(count, fill) ? "" : "a message is wrong";
}

void RunAnything(std::string_view kind, std::uint64_t seed, std::size_t operations) {
  constexpr std::uint32_t kRanks = 4, kCommunicators = 3;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const auto processes = ProcessesOf(kind, kRanks);
  std::vector<std::thread> threads;
  for (std::uint32_t which = 0; which < kCommunicators; ++which)
    threads.emplace_back([&, which] {
      RunRanks(
          kRanks, [&](std::uint32_t rank) { return processes[rank]; },
          [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
            ASSERT_TRUE(formed.ok()) << formed.error().message;
            Prng prng(seed + which);  // the same on all ranks
            for (std::size_t i = 0; i < operations / kCommunicators; ++i) {
              if (prng.Chance(0.05)) {
                ASSERT_TRUE(Barrier(**formed).ok());
              } else if (prng.Chance(0.2)) {
                ASSERT_EQ(MessageComplaint(**formed, prng), "") << "operation " << i;
              } else {
                ASSERT_EQ(Complaint(AnyCase(kRanks, prng), **formed), "") << "operation " << i;
              }
            }
          });
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(OverLinks, AnySequenceOnSeveralCommunicatorsIsRight) {
  RunAnything(GetParam(), 1, 2'000);
}

TEST_P(OverLinks, DISABLED_ALongSequenceOnSeveralCommunicatorsIsRight) {
  RunAnything(GetParam(), 1000, 100'000);
}

}  // namespace
}  // namespace ringlet::comm
