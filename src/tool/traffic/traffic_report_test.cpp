#include "tool/traffic/traffic_report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "os/fs/temp_tree_for_test.hpp"
#include "tool/emulate/traffic_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Files = std::vector<std::pair<std::string, TrafficFile>>;

const LinkTraffic* LinkOf(const TrafficReport& report, std::uint32_t host, std::string_view from,
                          std::string_view to) {
  const auto found = std::ranges::find_if(report.links, [&](const LinkTraffic& link) {
    return link.host == host && link.from == from && link.to == to;
  });
  return found == report.links.end() ? nullptr : &*found;
}

TEST(TrafficReportTest, NumbersHostsByNameAndAssignsTheirLinks) {
  const auto report = MergeTraffic(TrafficForTest());
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->hosts.size(), 2u);
  EXPECT_EQ(report->hosts[0].name, "a");
  EXPECT_EQ(report->hosts[0].identity, "cafe");
  EXPECT_EQ(report->hosts[1].name, "b");
  EXPECT_EQ(report->links.size(), 6u) << "each link of two ranks once";
  const LinkTraffic* const in = LinkOf(*report, 1, "NET/0-0", "NIC/0-2000");
  ASSERT_NE(in, nullptr);
  EXPECT_EQ(in->measured_bytes, 4000u);
  EXPECT_EQ(in->kind, "NET");
  EXPECT_THAT(report->findings, IsEmpty());
}

TEST(TrafficReportTest, OrdersHostNamesByTheirNumbers) {
  Files files;
  std::uint32_t rank = 0;
  for (const char* const host : {"host-10", "host-9", "host-1", "", "host-2b", "host-2"}) {
    TrafficFile file{.communicator = "c",
                     .rank = rank,
                     .ranks = 6,
                     .host = host,
                     .host_identity = std::to_string(rank),
                     .gpu = "DEV/0-1000"};
    files.emplace_back(std::to_string(rank++), file);
  }
  // If all ranks of a host are killed, only files of other hosts mention it.
  files[0].second.links = {LinkForTest("gone", "NET/0-0", "NIC/0-1", "NET", 1, 1)};
  const auto report = MergeTraffic(files);
  ASSERT_TRUE(report.ok()) << report.error().message;
  std::vector<std::string> names;
  for (const TrafficHost& host : report->hosts) names.push_back(host.name);
  EXPECT_THAT(names, ElementsAre("", "host-1", "host-2", "host-2b", "host-9", "host-10", ""));
  EXPECT_EQ(report->hosts.back().identity, "gone");
}

TEST(TrafficReportTest, AddsBytesOfAllRanksAndCommunicators) {
  Files files = TrafficForTest();
  for (auto& [path, file] : TrafficForTest()) {
    file.communicator = "d";
    files.emplace_back(path + "d", file);
  }
  files[0].second.links.push_back(
      LinkForTest("beef", "NIC/0-2000", "DEV/0-1000", "PCI", 24'000, 70));
  const auto report = MergeTraffic(files);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(LinkOf(*report, 0, "DEV/0-1000", "NIC/0-2000")->measured_bytes, 8000u);
  EXPECT_EQ(LinkOf(*report, 0, "DEV/0-1000", "NIC/0-2000")->planned_bytes, 8000u);
  EXPECT_EQ(LinkOf(*report, 1, "NIC/0-2000", "DEV/0-1000")->measured_bytes, 70u);
  ASSERT_EQ(report->communicators.size(), 2u);
  EXPECT_EQ(report->communicators[0].by_rank[0].sent_bytes, 4000u) << "over its first links alone";
  EXPECT_EQ(report->communicators[0].by_rank[0].host, 1u);
  ASSERT_EQ(report->calls.size(), 1u);
  EXPECT_EQ(report->calls[0].calls, 2u) << "one of each communicator";
}

TEST(TrafficReportTest, TheBusiestLinkIsFirstAndTheReferenceForLoad) {
  const auto report = MergeTraffic(TrafficForTest());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->links.front().kind, "NET");
  EXPECT_DOUBLE_EQ(report->busiest_us(), 4000 / 12'500.0);
  EXPECT_DOUBLE_EQ(report->Load(report->links.front()), 1);
  EXPECT_DOUBLE_EQ(report->Load(report->links.back()), 12.5 / 24);
}

TEST(TrafficReportTest, NamesEachLinkThatDeviatesFromThePlan) {
  Files files = TrafficForTest();
  // Two errors that cancel out on one link are found.
  files[0].second.links[2].measured_bytes += 1;
  files.push_back(files[0]);
  files[2].second.communicator = "d";
  files[2].second.ranks = 1;
  files[2].second.links[2].measured_bytes -= 2;
  const auto report = MergeTraffic(files);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_THAT(report->findings,
              ElementsAre(HasSubstr("host 0, NET/0-0 to NIC/0-2000: measured 4001 bytes, planned "
                                    "4000 (communicator c, rank 0)"),
                          AllOf(HasSubstr("measured 3999 bytes"), HasSubstr("communicator d"))));
}

TEST(TrafficReportTest, NamesRanksWithoutAFile) {
  Files files = TrafficForTest();
  for (auto& [path, file] : files) file.ranks = 9;
  files[1].second.rank = 5;
  const auto report = MergeTraffic(files);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->communicators.at(0).missing, ElementsAre(1, 2, 3, 4, 6, 7, 8));
  EXPECT_THAT(
      report->findings,
      ElementsAre(HasSubstr(
          "communicator c: the files of 7 of 9 ranks are missing, as after a kill: 1-4, 6-8")));
}

TEST(TrafficReportTest, ReportsCollectivesThatRanksCalledDifferently) {
  Files files = TrafficForTest();
  files[1].second.calls = {AllReduceForTest(3)};
  auto report = MergeTraffic(files);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->findings,
              ElementsAre(HasSubstr("all_reduce of 1000 elements in 4000 bytes by Ring and LL128 "
                                    "was called 1 times by rank 0, 3 times by rank 1")));
  EXPECT_EQ(report->calls.at(0).calls, 1u) << "as rank 0 has it";
  files[1].second.calls = {};
  report = MergeTraffic(files);
  EXPECT_THAT(report->findings, ElementsAre(HasSubstr("0 times by rank 1")));
}

TEST(TrafficReportTest, TakesSlowerCallsFromTheRankWithTheMost) {
  Files files = TrafficForTest();
  files[0].second.calls[0].slower_calls = 1;
  files[1].second.calls[0].slower_calls = 4;
  for (auto& [path, file] : Files(files)) {
    file.communicator = "d";
    files.emplace_back(path + "d", file);
  }
  EXPECT_EQ(MergeTraffic(files).value().calls.at(0).slower_calls, 8u) << "of two communicators";
}

TEST(TrafficReportTest, AddsMessagesOfAllRanks) {
  Files files = TrafficForTest();
  for (auto& [path, file] : files)
    file.calls = {{.function = "send_receive", .count = 8, .bytes = 8, .calls = 2 + file.rank}};
  const auto report = MergeTraffic(files);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->findings, IsEmpty());
  ASSERT_EQ(report->calls.size(), 1u);
  EXPECT_EQ(report->calls[0].calls, 5u);
}

TEST(TrafficReportTest, PredictedBandwidthsMatchTheBench) {
  CallTraffic call{.function = "all_reduce",
                   .ranks = 4,
                   .count = 1000,
                   .bytes = 4000,
                   .algorithm = CallAlgorithm{"Ring", "LL", 1, 2000}};
  EXPECT_EQ(call.size(), 4000u);
  EXPECT_DOUBLE_EQ(call.algbw(), 2);
  EXPECT_DOUBLE_EQ(call.busbw(), 3);
  call.function = "all_gather";
  EXPECT_EQ(call.size(), 16'000u);
  EXPECT_DOUBLE_EQ(call.busbw(), 6);
  call.function = "broadcast";
  EXPECT_DOUBLE_EQ(call.busbw(), 2);
  call.function = "all_to_all_v";
  EXPECT_EQ(call.size(), 4000u) << "of one pair";
}

TEST(TrafficReportTest, RefusesFilesThatContradictEachOther) {
  const auto refused = [](const auto& change) {
    Files files = TrafficForTest();
    change(files[1].second);
    const auto report = MergeTraffic(files);
    return report.ok() ? "" : report.error().message;
  };
  EXPECT_THAT(refused([](TrafficFile& file) { file.ranks = 3; }),
              AllOf(HasSubstr("t/c-1.json"), HasSubstr("3 ranks, but 2 in another file")));
  EXPECT_THAT(refused([](TrafficFile& file) { file.rank = 0; }),
              HasSubstr("rank 0 has another file"));
  EXPECT_THAT(
      refused([](TrafficFile& file) {
        file.links.push_back(LinkForTest("cafe", "NET/0-0", "NIC/0-2000", "NET", 25'000, 1));
      }),
      HasSubstr("NET/0-0 to NIC/0-2000 is NET of 25000 MB/s, but NET of 12500 in another file"));
}

TEST(TrafficReportTest, LargeNumbersDoNotOverflow) {
  Files files = TrafficForTest();
  for (auto& [path, file] : files)
    for (TrafficFileLink& link : file.links)
      link.measured_bytes = link.planned_bytes = std::numeric_limits<std::uint64_t>::max() - 1;
  const auto report = MergeTraffic(files);
  ASSERT_TRUE(report.ok());
  for (const LinkTraffic& link : report->links) EXPECT_GT(link.time_us(), 1e12);
}

TEST(TrafficReportTest, LimitsTheNumberOfFindings) {
  Files files = TrafficForTest();
  for (int i = 0; i < 200; ++i) {
    files[0].second.links.push_back(
        LinkForTest("cafe", fmt::format("DEV/0-{}", i), "NVS/0-0", "NVL", 1, 1));
    files[0].second.links.back().measured_bytes = 2;
  }
  const auto report = MergeTraffic(files);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->findings.size(), kTrafficFindingsMax);
  EXPECT_EQ(report->findings_left_out, 200 - kTrafficFindingsMax);
}

class ReadTrafficTest : public testing::Test {
 protected:
  os::TempTree files_;
};

TEST_F(ReadTrafficTest, ReadsAllFilesOfAFolder) {
  for (const auto& [path, file] : TrafficForTest()) files_.Write(path, TextForTest(file));
  const auto report = ReadTraffic(files_.root() + "/t");
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->communicators.at(0).by_rank.size(), 2u);
}

TEST_F(ReadTrafficTest, NamesOtherFilesAndEmptyOrMissingFolders) {
  const std::string folder = files_.root() + "/t";
  EXPECT_THAT(ReadTraffic(folder).error().message, HasSubstr(folder));
  files_.Write("report.json", "{}");
  EXPECT_THAT(ReadTraffic(files_.root() + "/report.json").error().message,
              HasSubstr("report.json is a file: give the folder of RINGLET_TRAFFIC_DIR"));
  files_.Directory("t");
  EXPECT_THAT(ReadTraffic(folder).error().message, HasSubstr("is empty"));
  files_.Write("t/a.json", TextForTest(TrafficForTest()[0].second));
  files_.Write("t/notes.txt", "to do");
  EXPECT_THAT(ReadTraffic(folder).error().message, HasSubstr(folder + "/notes.txt"));
  files_.Write("t/notes.txt", std::string(kTrafficFileBytesMax + 1, ' '));
  const auto large = ReadTraffic(folder);
  EXPECT_EQ(large.error().code, Code::kUnsupported);
  EXPECT_THAT(large.error().message, HasSubstr("notes.txt"));
}

}  // namespace
}  // namespace ringlet::cli
