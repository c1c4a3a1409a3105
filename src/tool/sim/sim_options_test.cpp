#include "tool/sim/sim_options.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using std::chrono::microseconds;
using testing::ElementsAre;
using testing::HasSubstr;

SimWords Parsed(std::vector<std::string> arguments) {
  CLI::App app;
  SimWords words;
  AddSimOptions(app, words);
  std::ranges::reverse(arguments);
  app.parse(arguments);
  return words;
}

TEST(SimOptionsTest, TheDefaultsAreThoseOfTheHelp) {
  const SimOptions options = ParseSimOptions(Parsed({})).value();
  EXPECT_THAT(options.sizes, ElementsAre(1024));
  EXPECT_EQ(options.latency, microseconds(20));
  EXPECT_EQ(options.local_latency, microseconds(5));
  EXPECT_EQ(options.mb_per_s, 1250u);
  EXPECT_EQ(options.cpu_per_event, Instant(0));
  EXPECT_EQ(options.shape, bootstrap::Shape::kTree);
  EXPECT_EQ(options.arity, 8);
  EXPECT_EQ(options.Limit(), std::chrono::seconds(600));
  EXPECT_EQ(options.HostsOf(1024), 128u);
  EXPECT_EQ(options.HostsOf(1025), 129u);
}

TEST(SimOptionsTest, ReadsEveryOption) {
  const SimOptions options =
      ParseSimOptions(
          Parsed({"-n",       "16,32", "--hosts",         "3",   "--latency",   "1ms",
                  "--jitter", "2us",   "--local-latency", "3us", "--bandwidth", "100Gb/s",
                  "--cpu",    "4us",   "--cpu-per-kib",   "5us", "--spread",    "6ms",
                  "--mode",   "ring",  "--arity",         "2",   "--faults",    "kill:3@10ms",
                  "--seed",   "7",     "--timeout",       "1s",  "--json",      "--trace",
                  "file"}))
          .value();
  EXPECT_THAT(options.sizes, ElementsAre(16, 32));
  EXPECT_EQ(options.HostsOf(16), 3u);
  EXPECT_EQ(options.RanksPerHost(16), 6u);
  EXPECT_EQ(options.latency, microseconds(1000));
  EXPECT_EQ(options.jitter, microseconds(2));
  EXPECT_EQ(options.local_latency, microseconds(3));
  EXPECT_EQ(options.mb_per_s, 12'500u);
  EXPECT_EQ(options.cpu_per_event, microseconds(4));
  EXPECT_EQ(options.cpu_per_kib, microseconds(5));
  EXPECT_EQ(options.spread, microseconds(6000));
  EXPECT_EQ(options.shape, bootstrap::Shape::kRing);
  EXPECT_EQ(options.arity, 2);
  EXPECT_EQ(options.faults.faults.size(), 1u);
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.Limit(), std::chrono::milliseconds(2016));
  EXPECT_TRUE(options.json);
  EXPECT_EQ(options.trace, "file");
  EXPECT_EQ(ParseSimOptions(Parsed({"--until", "1s"})).value().Limit(), std::chrono::seconds(1));
}

TEST(SimOptionsTest, NamesAnInvalidOption) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"-n", "0"}, "-n \"0\""},
      {{"-n", "8,"}, "-n \"8,\""},
      {{"-n", "4194305"}, "-n \"4194305\""},
      {{"-n", "many"}, "-n \"many\""},
      {{"-n", "8", "--hosts", "9"}, "--hosts 9 is more than 8 ranks"},
      {{"-n", "131072", "--hosts", "2"}, "more than 60000 on each"},
      {{"--latency", "20"}, "\"20\" is not a time"},
      {{"--bandwidth", "fast"}, "\"fast\" is not a bandwidth"},
      {{"--timeout", "0"}, "--timeout \"0\""},
      {{"--faults", "kill"}, "the fault \"kill\""},
      {{"-n", "8,4", "--faults", "kill:5@1ms"}, "names rank 5, but there are 4"},
      {{"-n", "8", "--faults", "kill:host1@1ms"}, "names host 1, but there is 1"},
  };
  for (const auto& [arguments, why] : cases) {
    const auto options = ParseSimOptions(Parsed(arguments));
    ASSERT_FALSE(options.ok()) << why;
    EXPECT_THAT(options.error().message, HasSubstr(why));
    EXPECT_EQ(options.error().code, Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace ringlet::cli
