#include "tool/peers/init_options.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMany = 20'000;  // descriptors

Result<InitWords> ParseInit(std::vector<std::string> arguments) {
  CLI::App command("init");
  InitWords words;
  AddInitOptions(command, words);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the arguments in reverse
  try {
    command.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return Error{Code::kInvalidArgument, error.what()};
  }
  return words;
}

InitWords WordsOf(std::vector<std::string> arguments) {
  return ParseInit(std::move(arguments)).value();
}

TEST(InitOptionsTest, HaveDocumentedDefaults) {
  const InitWords words = WordsOf({});
  const auto job = ParseInitJob(words, words.ranks.front(), true, kMany);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->head, (InitHead{.ranks = 8, .tree = true, .threads = true, .processes = 1}));
  EXPECT_EQ(job->iterations, 5u);
  EXPECT_TRUE(job->peers.empty());
}

TEST(InitOptionsTest, ParsesListsOfRanksAndPeers) {
  const InitWords words = WordsOf({"-n", "8,64", "--vs", "gloo,openmpi", "--iters", "3"});
  EXPECT_EQ(words.ranks, (std::vector<std::uint32_t>{8, 64}));
  EXPECT_EQ(words.peers, (std::vector<std::string>{"gloo", "openmpi"}));
  EXPECT_EQ(words.iterations, 3u);
}

TEST(InitOptionsTest, RefusesUnknownValues) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"-n", "0"}, {"-n", "8,x"}, {"--mode", "star"}, {"--as", "ants"}, {"--vs", "nccl"}})
    EXPECT_FALSE(ParseInit(arguments).ok()) << arguments[0] << " " << arguments[1];
}

TEST(InitOptionsTest, NamesExclusiveAndExcessiveOptions) {
  for (const auto& [arguments, said] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--each", "--leaders"}, "exclude each other"},
           {{"--roots", "9"}, "--roots 9 is more than 8 ranks"},
           {{"--processes", "9"}, "--processes 9 is more than 8 ranks"}}) {
    const auto job = ParseInitJob(WordsOf(arguments), 8, true, kMany);
    ASSERT_FALSE(job.ok());
    EXPECT_EQ(job.error().code, Code::kInvalidArgument);
    EXPECT_THAT(job.error().message, HasSubstr(said));
  }
}

TEST(InitOptionsTest, StartsEnoughProcessesForTheDescriptors) {
  const auto processes = [](std::vector<std::string> arguments, std::uint32_t ranks,
                            std::uint64_t descriptors) {
    return ParseInitJob(WordsOf(std::move(arguments)), ranks, true, descriptors)->head.processes;
  };
  EXPECT_EQ(processes({}, 1024, kMany), 1u);
  EXPECT_EQ(processes({}, 4096, kMany), 2u);
  EXPECT_EQ(processes({}, 1024, 4000), 2u);
  EXPECT_EQ(processes({"--processes", "3"}, 1024, kMany), 3u);
  EXPECT_EQ(processes({"--processes", "8"}, 8, kMany), 8u);
  EXPECT_EQ(processes({"--as", "processes"}, 12, kMany), 12u);
}

TEST(InitOptionsTest, ReportsTheNumberOfMissingDescriptors) {
  const auto job = ParseInitJob(WordsOf({"--processes", "1"}), 1024, true, 1024);
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().code, Code::kSystem);
  EXPECT_THAT(job.error().message, HasSubstr("1024 ranks in 1 process need 6272 descriptors"));
  EXPECT_THAT(job.error().message, HasSubstr("1024 are allowed"));
}

TEST(InitOptionsTest, AWorkerReceivesTheSameJob) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"-n", "12", "--as", "processes", "--vs", "openmpi"},
           {"-n", "13", "--processes", "3", "-i", "2", "--vs", "gloo,openmpi"}}) {
    const auto job = *ParseInitJob(WordsOf(arguments), 12, false, kMany);
    auto told = InitWorkerArguments(job);
    EXPECT_EQ(told[0], "bench");
    EXPECT_EQ(told[1], "init");
    told.erase(told.begin(), told.begin() + 2);
    const InitWords words = WordsOf(told);
    EXPECT_TRUE(words.worker);
    const auto again = ParseInitJob(words, words.ranks.front(), words.mode == "tree", kMany);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->head, job.head);
    EXPECT_EQ(again->iterations, job.iterations);
    EXPECT_EQ(again->peers, job.peers);
  }
}

TEST(BlockOfTest, CoversEveryRankOnce) {
  for (const std::uint32_t processes : {1u, 3u, 7u}) {
    const InitHead head{.ranks = 17, .processes = processes};
    std::uint32_t next = 0;
    for (std::uint32_t index = 0; index < processes; ++index) {
      const RankBlock block = BlockOf(index, head);
      EXPECT_EQ(block.first, next);
      EXPECT_THAT(block.count, testing::AnyOf(17 / processes, 17 / processes + 1));
      next += block.count;
    }
    EXPECT_EQ(next, 17u);
  }
}

TEST(InitEnvironmentTest, UsesLoopbackUnlessTheUserChooses) {
  const EnvMap chosen = InitEnvironment({{"NCCL_COMM_ID", "host:1"}}, WordsOf({"--mode", "ring"}));
  EXPECT_EQ(chosen, (EnvMap{{"RINGLET_SOCKET_IFNAME", "=lo"},
                            {"RINGLET_SOCKET_FAMILY", "AF_INET"},
                            {"RINGLET_BOOTSTRAP", "ring"},
                            {"RINGLET_NODE_LEADER", "0"}}));
  const EnvMap users{
      {"NCCL_SOCKET_IFNAME", "eth0"}, {"RINGLET_BOOTSTRAP", "ring"}, {"RINGLET_NODE_LEADER", "0"}};
  EXPECT_EQ(InitEnvironment(users, WordsOf({})), users);
}

}  // namespace
}  // namespace ringlet::cli
