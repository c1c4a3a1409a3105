#include "tool/traffic/traffic_file.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/emulate/traffic_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string WithoutKey(const std::string& text, const std::string& pointer) {
  auto json = nlohmann::json::parse(text);
  const nlohmann::json::json_pointer at(pointer);
  json.at(at.parent_pointer()).erase(at.back());
  return json.dump();
}

std::string With(const std::string& text, const std::string& pointer, const nlohmann::json& value) {
  auto json = nlohmann::json::parse(text);
  json[nlohmann::json::json_pointer(pointer)] = value;
  return json.dump();
}

TEST(TrafficFileTest, ParsesEverythingThatARankWrites) {
  const TrafficFile given = TrafficForTest()[1].second;
  const auto read = ParseTrafficFile("t/c-1.json", TextForTest(given));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->communicator, "c");
  EXPECT_EQ(read->rank, 1u);
  EXPECT_EQ(read->ranks, 2u);
  EXPECT_EQ(read->host, "a");
  EXPECT_EQ(read->host_identity, "cafe");
  EXPECT_EQ(read->gpu, "DEV/0-1000");
  ASSERT_EQ(read->links.size(), 3u);
  EXPECT_EQ(read->links[1].from, "NIC/0-2000");
  EXPECT_EQ(read->links[1].to, "NET/0-0");
  EXPECT_EQ(read->links[1].kind, "NET");
  EXPECT_EQ(read->links[1].mb_per_s, 12'500u);
  EXPECT_EQ(read->links[2].host, "beef");
  EXPECT_EQ(read->links[2].measured_bytes, 4000u);
  ASSERT_EQ(read->calls.size(), 1u);
  EXPECT_EQ(read->calls[0].calls, 1u);
  EXPECT_EQ(read->calls[0].algorithm, (CallAlgorithm{"Ring", "LL128", 2, 8000}));
}

TEST(TrafficFileTest, MessagesLackAnAlgorithm) {
  TrafficFile given = TrafficForTest()[0].second;
  given.calls = {{.function = "send_receive", .count = 8, .bytes = 8, .calls = 2}};
  const auto read = ParseTrafficFile("x", TextForTest(given));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_FALSE(read->calls.at(0).algorithm);
}

TEST(TrafficFileTest, ParsesTheChoiceOfNcclAndSlowerCallsIfPresent) {
  TrafficFile given = TrafficForTest()[0].second;
  given.calls[0].algorithm->nccl_name = "NVLS";
  given.calls[0].algorithm->nccl_predicted_ns = 7000;
  given.calls[0].slower_calls = 3;
  given.calls[0].algorithm->slowed_ns = 9000;
  given.links[0].nominal_mb_per_s = 240'000;
  const auto read = ParseTrafficFile("x", TextForTest(given));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->calls[0].algorithm->nccl_name, "NVLS");
  EXPECT_EQ(read->calls[0].algorithm->nccl_predicted_ns, 7000u);
  EXPECT_EQ(read->calls[0].slower_calls, 3u);
  EXPECT_EQ(read->calls[0].algorithm->slowed_ns, 9000u);
  EXPECT_EQ(read->links[0].nominal_mb_per_s, 240'000u);
  EXPECT_FALSE(ParseTrafficFile("x", With(TextForTest(given), "/calls/0/slower_calls", -1)).ok());
}

TEST(TrafficFileTest, NamesEachMissingKey) {
  const std::string text = TextForTest(TrafficForTest()[0].second);
  for (const char* const pointer : {"/version",
                                    "/communicator",
                                    "/rank",
                                    "/ranks",
                                    "/host",
                                    "/host_identity",
                                    "/gpu",
                                    "/links",
                                    "/calls",
                                    "/links/0/host",
                                    "/links/1/from",
                                    "/links/2/to",
                                    "/links/0/kind",
                                    "/links/0/mb_per_s",
                                    "/links/0/measured_bytes",
                                    "/links/0/planned_bytes",
                                    "/calls/0/function",
                                    "/calls/0/count",
                                    "/calls/0/bytes",
                                    "/calls/0/calls",
                                    "/calls/0/protocol",
                                    "/calls/0/channels",
                                    "/calls/0/predicted_ns"}) {
    const auto read = ParseTrafficFile("t/x.json", WithoutKey(text, pointer));
    ASSERT_FALSE(read.ok()) << pointer;
    const std::string key = nlohmann::json::json_pointer(pointer).back();
    EXPECT_THAT(read.error().message, AllOf(HasSubstr("t/x.json"), HasSubstr(key + " is missing")));
  }
}

TEST(TrafficFileTest, RefusesValuesThatRanksNeverWrite) {
  const std::string text = TextForTest(TrafficForTest()[0].second);
  const std::pair<const char*, nlohmann::json> wrong[] = {
      {"/version", 2},
      {"/rank", 2},
      {"/rank", -1},
      {"/ranks", kTrafficFilesMax + 1},
      {"/ranks", 1.5},
      {"/host", 7},
      {"/gpu", std::string(5000, 'x')},
      {"/links", "none"},
      {"/links/0", 3},
      {"/links/0/mb_per_s", 0},
      {"/links/0/mb_per_s", std::uint64_t{1} << 32},
      {"/links/0/measured_bytes", "many"},
      {"/calls/0/function", "all_reverse"},
      {"/calls/0/algorithm", nullptr},
  };
  for (const auto& [pointer, value] : wrong) {
    const auto read = ParseTrafficFile("t/x.json", With(text, pointer, value));
    ASSERT_FALSE(read.ok()) << pointer << value;
    EXPECT_EQ(read.error().code, Code::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr("t/x.json"));
  }
}

TEST(TrafficFileTest, NamesOtherFiles) {
  const std::string text = TextForTest(TrafficForTest()[0].second);
  for (const std::string& other :
       {std::string(), std::string("no JSON"), std::string("[]"), std::string("{}"),
        text.substr(0, text.size() / 2), std::string(100'000, '[')}) {
    const auto read = ParseTrafficFile("folder/notes.txt", other);
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(
        read.error().message,
        HasSubstr("folder/notes.txt is not a file that a rank writes into RINGLET_TRAFFIC_DIR"));
  }
}

}  // namespace
}  // namespace ringlet::cli
