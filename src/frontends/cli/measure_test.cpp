#include "frontends/cli/measure.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

struct Outcome {
  std::vector<Status> status;
  std::vector<WorkerMessage> messages;
};

// Measures with the given number of threads of this process as ranks.
Outcome MeasureWith(std::uint32_t ranks, const MeasureOptions& options) {
  Outcome outcome{std::vector<Status>(ranks, Ok()), {}};
  const auto process = comm::Process::Start({{"RINGLET_LINKS", "inproc"}}).value();
  const UniqueId id = comm::CreateUniqueId(process).value();
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const comm::Config config{.id = id, .rank = rank, .size = ranks, .device = rank};
      outcome.status[rank] = MeasureRank(
          process, config, options,
          [&](const WorkerMessage& message) { outcome.messages.push_back(message); }, {});
    });
  threads.clear();
  return outcome;
}

TEST(MeasureTest, RanksReportFormedAndThenEverySize) {
  const Outcome outcome =
      MeasureWith(3, {.counts = {1, 1000}, .check = true, .warmup = 1, .iterations = 2});
  for (const Status& status : outcome.status) EXPECT_TRUE(status.ok());
  ASSERT_EQ(outcome.messages.size(), 3u);
  EXPECT_THAT(std::get<Formed>(outcome.messages[0]).links, HasSubstr("inproc"));
  const Row& row = std::get<Row>(outcome.messages[2]);
  EXPECT_EQ(row.bytes, 4000u);
  EXPECT_EQ(row.count, 1000u);
  EXPECT_EQ(row.out_of_place.wrong, 0u);
  EXPECT_EQ(row.in_place.wrong, 0u);
  EXPECT_GT(row.out_of_place.time_us, 0);
}

TEST(MeasureTest, WithoutCheckNobodyCounts) {
  const Outcome outcome = MeasureWith(1, {.counts = {8}, .warmup = 0, .iterations = 1});
  EXPECT_EQ(std::get<Row>(outcome.messages.at(1)).in_place.wrong, std::nullopt);
}

TEST(MeasureTest, AFailureToFormIsTheResult) {
  const auto process = comm::Process::Start({}).value();
  const comm::Config config{.id = {}, .rank = 3, .size = 2};
  EXPECT_FALSE(MeasureRank(process, config, {.counts = {8}}, [](const auto&) {}, {}).ok());
}

}  // namespace
}  // namespace ringlet::cli
