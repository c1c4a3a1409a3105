#include "tool/doctor/rank_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/clock.hpp"
#include "os/net/listener.hpp"
#include "os/process/thread.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

std::string PlaceOf(const EnvMap& environment) {
  const auto place = JobRankOf(environment);
  if (!place.ok()) return place.error().message;
  if (!*place) return "none";
  return std::to_string((*place)->rank) + " of " + std::to_string((*place)->ranks) + " at " +
         (*place)->meet;
}

TEST(JobRank, RecognizesEachLauncher) {
  EXPECT_EQ(PlaceOf({}), "none");
  EXPECT_EQ(PlaceOf({{"RANK", "0"}, {"WORLD_SIZE", "1"}}), "none");
  EXPECT_EQ(
      PlaceOf(
          {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "fd00::1"}, {"MASTER_PORT", "7"}}),
      "1 of 2 at [fd00::1]:7");
  EXPECT_EQ(PlaceOf({{"OMPI_COMM_WORLD_RANK", "0"},
                     {"OMPI_COMM_WORLD_SIZE", "2"},
                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
            "0 of 2 at 127.0.0.1:29500");
  EXPECT_EQ(PlaceOf({{"PMI_RANK", "0"},
                     {"PMI_SIZE", "2"},
                     {"MPI_LOCALNRANKS", "1"},
                     {"NCCL_COMM_ID", "a:5"}}),
            "0 of 2 at a:5");
  EXPECT_EQ(PlaceOf({{"SLURM_PROCID", "3"},
                     {"SLURM_STEP_NUM_TASKS", "4"},
                     {"SLURM_STEP_NODELIST", "n[08-11]"},
                     {"SLURM_JOB_ID", "20001"}}),
            "3 of 4 at n08:29501");
  EXPECT_EQ(
      PlaceOf({{"JOB_COMPLETION_INDEX", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "job-0.job"}}),
      "1 of 2 at job-0.job:29500");
  EXPECT_EQ(PlaceOf({{"PET_NODE_RANK", "1"},
                     {"PET_NNODES", "2"},
                     {"PET_MASTER_ADDR", "run-node-0-0.run"},
                     {"PET_MASTER_PORT", "29400"},
                     {"JOB_COMPLETION_INDEX", "1"}}),
            "1 of 2 at run-node-0-0.run:29400");
}

TEST(JobRank, NamesInvalidVariables) {
  EXPECT_THAT(PlaceOf({{"RANK", "x"}, {"WORLD_SIZE", "2"}}), HasSubstr("RANK is \"x\""));
  EXPECT_THAT(PlaceOf({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), HasSubstr("impossible rank: 2 of 2"));
  EXPECT_THAT(PlaceOf({{"RANK", "2"}, {"WORLD_SIZE", "99999"}}), HasSubstr("WORLD_SIZE"));
  EXPECT_THAT(PlaceOf({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "1"}}),
              HasSubstr("set MASTER_ADDR"));
  EXPECT_THAT(PlaceOf({{"JOB_COMPLETION_INDEX", "0"}, {"WORLD_SIZE", "2"}}),
              HasSubstr("set MASTER_ADDR"));
}

JobRank At(std::uint32_t rank, std::uint16_t port, std::uint8_t secret) {
  JobRank place{.rank = rank, .ranks = 3, .meet = "127.0.0.1:" + std::to_string(port)};
  place.credentials.secret[0] = std::byte{secret};
  return place;
}

std::uint16_t FreePort() {
  const auto listener = os::Listen(Address::Ipv4(127, 0, 0, 1, 0));
  return listener.ok() ? listener->address.port : 0;
}

TEST(ConnectRanks, RejectsStrangersAndReportsThemMissing) {
  const std::uint16_t port = FreePort();
  const Instant until = os::Now() + std::chrono::seconds(3);
  std::optional<Result<os::Fd>> friendly, stranger;
  {
    auto first = os::StartThread(
        "to test", [&](const std::stop_token&) { friendly = CallRankZero(At(1, port, 7), until); });
    auto second = os::StartThread(
        "to test", [&](const std::stop_token&) { stranger = CallRankZero(At(2, port, 8), until); });
    ASSERT_TRUE(first.ok() && second.ok());
    const auto met = ConnectRanks(At(0, port, 7), until);
    ASSERT_TRUE(met.ok()) << met.error().message;
    ASSERT_EQ(met->lines.size(), 1u);
    EXPECT_EQ(met->lines[0].host(), "rank 1");
    EXPECT_THAT(met->missing, testing::ElementsAre(2u));
  }
  EXPECT_TRUE(friendly->ok());
  EXPECT_FALSE(stranger->ok());
}

TEST(CallRankZero, NamesTheLastConnectionError) {
  const auto fd = CallRankZero(At(1, FreePort(), 7), os::Now() + std::chrono::milliseconds(1));
  ASSERT_FALSE(fd.ok());
  EXPECT_THAT(fd.error().message, HasSubstr("rank 1 cannot connect to rank 0 at 127.0.0.1"));
  EXPECT_THAT(fd.error().message, HasSubstr("refused"));
}

}  // namespace
}  // namespace ringlet::cli
