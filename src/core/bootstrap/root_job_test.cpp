#include "bootstrap/root_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bootstrap/difference.hpp"
#include "bootstrap/fake_ranks_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

CheckIn OfRank(std::uint32_t rank, std::uint32_t size, RootShare root = {}) {
  return {rank, size, Shape::kTree, 8, 10'000, root, FakeRank(rank)};
}

RootJob JobOf(std::uint32_t size, RootShare root = {}) {
  return {OfRank(0, size, root), RecordOf(FakeRank(0))};
}

void Admit(RootJob& job, std::uint32_t rank) {
  job.Admit(rank, {kFirstAcceptedLine + rank, {RecordOf(FakeRank(rank)), rank}});
}

TEST(RootJob, BuildsTheRosterOnceAllRanksAreAdmitted) {
  RootJob job = JobOf(3);
  Admit(job, 2);
  Admit(job, 0);
  EXPECT_FALSE(job.IsComplete());
  Admit(job, 1);
  ASSERT_TRUE(job.IsComplete());
  EXPECT_EQ(AsText(job.BuildRoster().bytes().bytes), AsText(RosterOf(3).bytes().bytes));
}

TEST(RootJob, ExpectsItsOwnRanksUnlessItIsTheFirstRoot) {
  const RootJob first = JobOf(6, {0, 2}), second = JobOf(6, {1, 2});
  EXPECT_EQ(first.RanksOfThisRoot().count, 3u);
  EXPECT_EQ(first.Expected().count, 6u);
  EXPECT_EQ(second.Expected().first, 3u);
  EXPECT_EQ(second.Expected().count, 3u);
  EXPECT_TRUE(IsOfThisRoot(OfRank(4, 6, {1, 2})));
  EXPECT_FALSE(IsOfThisRoot(OfRank(4, 6, {0, 2})));
}

TEST(RootJob, RefusesACheckInThatDiffersFromTheFirst) {
  RootJob job = JobOf(4);
  Admit(job, 0);
  EXPECT_EQ(job.WhyUnlikeFirst(OfRank(1, 4)), std::nullopt);
  EXPECT_THAT(*job.WhyUnlikeFirst(OfRank(1, 5)), HasSubstr("world size 5"));
  EXPECT_THAT(*job.WhyUnlikeFirst(OfRank(1, 4, {0, 2})), HasSubstr("2 unique ids"));
  EXPECT_THAT(*job.WhyUnlikeFirst(OfRank(0, 4)), HasSubstr("two processes"));
  CheckIn ring = OfRank(1, 4);
  ring.shape = Shape::kRing;
  EXPECT_THAT(*job.WhyUnlikeFirst(ring), HasSubstr("RINGLET_BOOTSTRAP"));
}

TEST(RootJob, RefusesACheckInThatContradictsItself) {
  EXPECT_EQ(WhyUnfit(OfRank(3, 4)), std::nullopt);
  EXPECT_THAT(*WhyUnfit(OfRank(0, 0)), HasSubstr("not between 1"));
  EXPECT_THAT(*WhyUnfit(OfRank(4, 4)), HasSubstr("not below the world size"));
  EXPECT_THAT(*WhyUnfit(OfRank(0, 4, {2, 2})), HasSubstr("root 2 of 2"));
  CheckIn mute = OfRank(0, 4);
  mute.member_address.addresses.clear();
  EXPECT_THAT(*WhyUnfit(mute), HasSubstr("no address"));
}

TEST(RootJob, AdmitsASectionOfMissingRanksOnly) {
  RootJob job = JobOf(6, {0, 2});
  for (std::uint32_t rank = 0; rank < 3; ++rank) Admit(job, rank);
  EXPECT_FALSE(job.AdmitSection(7, RosterOf(3, false, 2)).ok()) << "rank 2 is here";
  EXPECT_FALSE(job.AdmitSection(7, RosterOf(3, false, 4)).ok()) << "there is no rank 6";
  EXPECT_TRUE(job.AdmitSection(7, RosterOf(3, false, 3)).ok());
  EXPECT_TRUE(job.IsComplete());
  EXPECT_EQ(job.members().at(5).line, 7u);
}

TEST(RootJob, NamesMissingRanksAndTheHostsOfTheOthers) {
  RootJob job = JobOf(6);
  const RejectionLog log("root", 1);
  EXPECT_EQ(job.MissingText(log), "ranks 0-5: 0 of 6 ranks checked in, from nowhere");
  for (const std::uint32_t rank : {0u, 1u, 2u, 4u, 5u}) Admit(job, rank);
  EXPECT_EQ(job.MissingText(log),
            "rank 3: 5 of 6 ranks checked in, from host0 (2), host1 (1), host2 (2)");
}

TEST(RootJob, NamesTheFirstStoppedMember) {
  RootJob job = JobOf(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) Admit(job, rank);
  EXPECT_EQ(job.StoppedMember([](std::string_view, std::uint32_t) { return false; }), "");
  const std::string stopped =
      job.StoppedMember([](std::string_view, std::uint32_t pid) { return pid == 1001; });
  EXPECT_THAT(stopped, HasSubstr("rank 1 "));
}

TEST(RootJob, DecodesALocalRankFromItsDifference) {
  const Bytes leader = RecordOf(FakeRank(0)), record = RecordOf(FakeRank(1));
  CheckIn check_in = OfRank(1, 4);
  const Bytes frame = ToFrame(LocalRankCheckIn{check_in, DifferenceOf(leader, record)});
  const View payload = View(frame).subspan(kFrameHeaderBytes);
  const auto read = ReadLocalRank(leader, payload);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->check_in.rank, 1u);
  EXPECT_EQ(read->check_in.member_address, FakeRank(1));
  EXPECT_EQ(read->record, record);
  EXPECT_FALSE(ReadLocalRank(leader, payload.first(payload.size() - 1)).ok());
}

TEST(RootJob, GivesUpBeforeTheMemberDoes) {
  const Instant now = milliseconds(50);
  EXPECT_EQ(RootDeadline(OfRank(0, 4), now), now + milliseconds(9'500));
  EXPECT_EQ(RootDeadline(OfRank(3, 4, {1, 2}), now), now + milliseconds(9'000));
}

}  // namespace
}  // namespace ringlet::bootstrap
