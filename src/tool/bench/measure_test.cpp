#include "tool/bench/measure.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "os/clock.hpp"
#include "tool/bench/check_data.hpp"

namespace ringlet::cli {
namespace {

struct Outcome {
  std::vector<Status> status;
  std::vector<WorkerMessage> messages;
};

// Measures with one thread of this process per entry of `options_of`.
Outcome MeasureWith(const std::vector<MeasureOptions>& options_of) {
  const auto ranks = static_cast<std::uint32_t>(options_of.size());
  Outcome outcome{std::vector<Status>(ranks, Ok()), {}};
  const auto process = comm::Process::Start({{"RINGLET_LINKS", "inproc"}}).value();
  const UniqueId id = comm::CreateUniqueId(process).value();
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const comm::Config config{.id = id, .rank = rank, .size = ranks, .device = rank};
      outcome.status[rank] = MeasureRank(
          process, config, options_of[rank],
          [&](const WorkerMessage& message) { outcome.messages.push_back(message); }, {});
    });
  threads.clear();
  return outcome;
}

Outcome MeasureWith(std::uint32_t ranks, const MeasureOptions& options) {
  return MeasureWith(std::vector<MeasureOptions>(ranks, options));
}

TEST(MeasureTest, RanksReportFormationAndThenEverySize) {
  const Outcome outcome =
      MeasureWith(3, {.counts = {1, 1000}, .check = true, .warmup = 1, .iterations = 2});
  for (const Status& status : outcome.status) EXPECT_TRUE(status.ok());
  ASSERT_EQ(outcome.messages.size(), 3u);
  EXPECT_EQ(std::get<Formed>(outcome.messages[0]).links, "2 inproc") << "of each, said once";
  const Row& row = std::get<Row>(outcome.messages[2]);
  EXPECT_EQ(row.bytes, 4000u);
  EXPECT_EQ(row.count, 1000u);
  EXPECT_EQ(row.out_of_place->wrong, 0u);
  EXPECT_EQ(row.in_place->wrong, 0u);
  EXPECT_GT(row.out_of_place->time_us, 0);
}

TEST(MeasureTest, TimesLieWithinTheRunAndCpuTimeSumsTheRanks) {
  const Instant start = os::Now();
  const Outcome outcome = MeasureWith(
      3, {.placement = Placement::kOutOfPlace, .counts = {50'000}, .warmup = 1, .iterations = 3});
  const std::chrono::duration<double, std::micro> all = os::Now() - start;
  const Measurement& measured = *std::get<Row>(outcome.messages.back()).out_of_place;
  EXPECT_GT(measured.time_us, 0);
  EXPECT_LE(measured.time_us, all.count());
  EXPECT_LE(measured.p99_us, all.count());
  EXPECT_GT(measured.cpu_us, 0) << "also where each rank counts for itself";
}

TEST(MeasureTest, EveryOperationGivesRightResults) {
  for (const BenchOperation& operation : BenchOperations()) {
    const bool barrier = operation.kind == CallKind::kBarrier;
    const Outcome outcome = MeasureWith(
        3, {.kind = operation.kind,
            .root = Rank{1},
            .threads = true,
            .counts = barrier ? std::vector<std::size_t>{0} : std::vector<std::size_t>{1, 5000},
            .changing = true,
            .check = true,
            .warmup = 1,
            .iterations = 2});
    for (const Status& status : outcome.status)
      EXPECT_TRUE(status.ok()) << operation.name << ": " << status.error().message;
    ASSERT_EQ(outcome.messages.size(), barrier ? 2u : 3u) << operation.name;
    const Row& row = std::get<Row>(outcome.messages.back());
    EXPECT_EQ(row.bytes, barrier ? 0u : operation.divided ? 60'000u : 20'000u) << operation.name;
    ASSERT_TRUE(row.out_of_place.has_value()) << operation.name;
    EXPECT_EQ(row.out_of_place->wrong, 0u) << operation.name;
    EXPECT_EQ(row.in_place.has_value(), operation.in_place) << operation.name;
    if (row.in_place) {
      EXPECT_EQ(row.in_place->wrong, 0u) << operation.name;
    }
    EXPECT_GT(row.out_of_place->cpu_us, 0) << operation.name;
  }
}

TEST(MeasureTest, MeasuresRegisteredBuffersAlike) {
  const Outcome outcome = MeasureWith(3, {.threads = true,
                                          .counts = {1, 5000},
                                          .registered = true,
                                          .check = true,
                                          .warmup = 1,
                                          .iterations = 1});
  for (const Status& status : outcome.status) ASSERT_TRUE(status.ok()) << status.error().message;
  const Row& row = std::get<Row>(outcome.messages.at(2));
  EXPECT_EQ(row.out_of_place->wrong, 0u);
  EXPECT_EQ(row.in_place->wrong, 0u);
}

TEST(MeasureTest, MeasuresOnlyTheRequestedPlacement) {
  const auto row = [](Placement placement) {
    const Outcome outcome = MeasureWith(
        2, {.placement = placement, .threads = true, .counts = {8}, .warmup = 0, .iterations = 1});
    return std::get<Row>(outcome.messages.at(1));
  };
  EXPECT_FALSE(row(Placement::kInPlace).out_of_place.has_value());
  EXPECT_TRUE(row(Placement::kInPlace).in_place.has_value());
  EXPECT_FALSE(row(Placement::kOutOfPlace).in_place.has_value());
}

// One rank uses other data than the rest. Its data is wrong for the others and theirs is wrong for
// it, except where numbers are equal by chance.
TEST(MeasureTest, CountsWrongElementsOfAllRanks) {
  constexpr std::size_t kCount = 100;
  std::vector<MeasureOptions> options_of(3, {.kind = CallKind::kAllGather,
                                             .threads = true,
                                             .counts = {kCount},
                                             .check = true,
                                             .warmup = 1,
                                             .iterations = 1});
  options_of[1].op = ReduceOp::kProd;
  const auto value = [&](std::uint32_t seen_by, std::uint32_t of, std::size_t index) {
    return InputValue({DataType::kFloat32, options_of[seen_by].op, 3}, Rank{of}, index);
  };
  std::uint64_t expected = 0;
  for (std::uint32_t to = 0; to < 3; ++to)
    for (std::uint32_t from = 0; from < 3; ++from)
      for (std::size_t i = 0; i < kCount; ++i)
        expected += value(to, from, i) != value(from, from, i);
  const Outcome outcome = MeasureWith(options_of);
  for (const Status& status : outcome.status) ASSERT_TRUE(status.ok()) << status.error().message;
  const Row& row = std::get<Row>(outcome.messages.at(1));
  EXPECT_GT(expected, kCount);
  EXPECT_EQ(row.out_of_place->wrong, expected);
  EXPECT_EQ(row.in_place->wrong, expected);
}

TEST(MeasureTest, WithoutCheckTheRowOmitsWrongElements) {
  const Outcome outcome = MeasureWith(1, {.counts = {8}, .warmup = 0, .iterations = 1});
  EXPECT_EQ(std::get<Row>(outcome.messages.at(1)).in_place->wrong, std::nullopt);
}

TEST(MeasureTest, AFailedFormationIsTheResult) {
  const auto process = comm::Process::Start({}).value();
  const comm::Config config{.id = {}, .rank = 3, .size = 2};
  EXPECT_FALSE(MeasureRank(process, config, {.counts = {8}}, [](const auto&) {}, {}).ok());
}

}  // namespace
}  // namespace ringlet::cli
