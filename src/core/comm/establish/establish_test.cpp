#include "comm/establish/establish.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <latch>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/establish/split.hpp"
#include "comm/establish/timeline.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "rendezvous/invitation.hpp"

namespace ringlet::comm {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class EstablishOver : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Links, EstablishOver, testing::Values("inproc", "shm", "tcp", "auto"),
                         [](const auto& links) { return links.param; });

TEST_P(EstablishOver, FormsManySizesWithBothBootstraps) {
  for (const char* bootstrap : {"tree", "ring"})
    for (const std::uint32_t size : {1u, 2u, 3u, 8u}) {
      std::atomic<int> right = 0;
      RunRanks(size, {{"RINGLET_LINKS", GetParam()}, {"RINGLET_BOOTSTRAP", bootstrap}},
               [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
                 ASSERT_TRUE(communicator.ok()) << communicator.error().message;
                 EXPECT_EQ((*communicator)->identity().rank, Rank{rank});
                 EXPECT_EQ((*communicator)->identity().device, rank);
                 for (const std::size_t count : {0u, 1u, 7u, 1000u, 300'000u}) {
                   const Status status = SumOfRanks(**communicator, count);
                   EXPECT_TRUE(status.ok()) << status.error().message;
                 }
                 ++right;
               });
      EXPECT_EQ(right, static_cast<int>(size));
    }
}

/// Without a network: returns the error of a rank without peers, then of two ranks.
std::string FormWithoutNetwork() {
  if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
    return "this test needs a network namespace";
  const auto process = ProcessWith({{"RINGLET_INIT_TIMEOUT", "20"}});
  const auto form = [&](std::uint32_t size, bool next) -> Status {
    RINGLET_TRY_ASSIGN(const UniqueId id, next ? NextUniqueId(process) : CreateUniqueId(process));
    RINGLET_TRY_ASSIGN(const auto communicator,
                       Establish(process, {.id = id, .rank = 0, .size = size}, {}));
    return SumOfRanks(*communicator, 1000);
  };
  for (const bool next : {true, false})
    if (const Status alone = form(1, next); !alone.ok()) return alone.error().message;
  const Status together = form(2, false);
  if (together.ok() || together.error().code == Code::kTimeout) return "two ranks do not fail";
  return together.error().message.find("this host has lo (not running)") != std::string::npos
             ? ""
             : together.error().message;
}

TEST(Establish, ASingleRankNeedsNoNetwork) {
  int result[2];
  ASSERT_EQ(::pipe(result), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string error = FormWithoutNetwork();
    const bool told = ::write(result[1], error.data(), error.size()) >= 0;
    ::_exit(told ? 0 : 1);
  }
  ::close(result[1]);
  std::array<char, 1000> error{};
  EXPECT_EQ(::read(result[0], error.data(), error.size()), 0) << error.data();
  ::close(result[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Establish, CallsOnJoinedAfterAllRanksJoined) {
  const auto process = ProcessWith({});
  const UniqueId id = CreateUniqueId(process).value();
  std::atomic<int> told = 0, asked = 0;
  const auto form = [&](std::uint32_t rank) {
    const auto self = std::this_thread::get_id();
    const Config config{.id = id, .rank = rank, .size = 2};
    Preparation prepared;
    prepared.on_joined = [&told, &asked, self] {
      EXPECT_EQ(asked, 2) << "a rank has not even asked";
      EXPECT_EQ(std::this_thread::get_id(), self);
      ++told;
    };
    ++asked;
    const auto formed = Establish(process, config, {}, std::move(prepared));
    ASSERT_TRUE(formed.ok()) << formed.error().message;
  };
  std::thread other(form, 1);
  form(0);
  other.join();
  EXPECT_EQ(told, 2);
}

TEST(Establish, DoesNotCallOnJoinedIfARankIsMissing) {
  const auto process = ProcessWith({});
  Config config{.id = CreateUniqueId(process).value(), .rank = 0, .size = 2};
  config.init_timeout = std::chrono::milliseconds(20);
  bool told = false;
  Preparation prepared;
  prepared.on_joined = [&] { told = true; };
  EXPECT_FALSE(Establish(process, config, {}, std::move(prepared)).ok());
  EXPECT_FALSE(told);
}

TEST(Establish, RanksOfSeparateProcessesFormACommunicator) {
  // Two processes from Ringlet's view: each has its own service thread and exchange.
  RunRanks(
      4,
      [](std::uint32_t) {
        return ProcessWith({{"RINGLET_LINKS", "shm"}});
      },
      [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_TRUE(communicator.ok()) << communicator.error().message;
        EXPECT_EQ((*communicator)->links().Summary(), "2 shm");
        EXPECT_TRUE(SumOfRanks(**communicator, 5000).ok());
      });
}

TEST(Establish, RefusesInvalidRanksSizesAndIds) {
  const auto process = ProcessWith({});
  const UniqueId id = *CreateUniqueId(process);
  const auto try_with = [&](const Config& config) {
    return Establish(process, config, {}).error();
  };
  EXPECT_THAT(try_with({.id = id, .rank = 4, .size = 4}).message, HasSubstr("rank 4 is not below"));
  EXPECT_THAT(try_with({.id = id, .rank = 0, .size = 0}).message, HasSubstr("world size 0"));
  EXPECT_THAT(try_with({.id = {}, .rank = 0, .size = 1}).message, HasSubstr("all zero"));
  UniqueId garbage;
  garbage.bytes.fill(std::byte{0x5a});
  EXPECT_THAT(try_with({.id = garbage, .rank = 0, .size = 1}).message,
              HasSubstr("not made by Ringlet"));
  EXPECT_EQ(try_with({.id = garbage, .rank = 0, .size = 1}).code, Code::kInvalidArgument);
}

TEST(Establish, TheTimeoutNamesTheMissingRank) {
  const auto process = ProcessWith({{"RINGLET_INIT_TIMEOUT", "1"}});
  const UniqueId id = *CreateUniqueId(process);
  std::vector<std::thread> threads;
  for (const std::uint32_t rank : {0u, 1u, 3u})
    threads.emplace_back([&, rank] {
      const auto result = Establish(process, {.id = id, .rank = rank, .size = 4}, {});
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(result.error().code, Code::kTimeout);
      EXPECT_THAT(result.error().message,
                  HasSubstr("timed out waiting for rank 2: 3 of 4 ranks checked in"));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Establish, AbortEndsFormingEarly) {
  const auto process = ProcessWith({});
  const UniqueId id = *CreateUniqueId(process);
  std::stop_source stop;
  std::thread self([&] {
    const auto result = Establish(process, {.id = id, .rank = 0, .size = 3}, stop.get_token());
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, Code::kAborted);
    EXPECT_THAT(result.error().message, HasSubstr("rank 0 was aborted"));
  });
  stop.request_stop();
  self.join();
}

// All ranks are on one device. The first refused rank aborts the others, some of which have just
// joined.
TEST(Establish, AnAbortMayRaceWithTheEndOfAJoin) {
  constexpr std::uint32_t kRounds = 300, kSize = 8;
  const auto process = ProcessWith({});
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const UniqueId id = *CreateUniqueId(process);
    std::stop_source stop;
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < kSize; ++rank)
      threads.emplace_back([&, rank] {
        const Config config{.id = id, .rank = rank, .size = kSize, .names_device = true};
        EXPECT_FALSE(Establish(process, config, stop.get_token()).ok());
        stop.request_stop();
      });
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Establish, AnIdFormsASingleCommunicator) {
  const auto process = ProcessWith({{"RINGLET_INIT_TIMEOUT", "1"}});
  const UniqueId id = *CreateUniqueId(process);
  ASSERT_TRUE(Establish(process, {.id = id, .rank = 0, .size = 1}, {}).ok());
  const auto again = Establish(process, {.id = id, .rank = 0, .size = 1}, {});
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message,
              AnyOf(HasSubstr("connection refused"), HasSubstr("with this unique id already"),
                    HasSubstr("this unique id is stale")));
}

TEST(Establish, NamesSettingsThatDisagree) {
  RunRanks(
      3,
      [](std::uint32_t rank) {
        return ProcessWith(
            {{"RINGLET_PIPE_BYTES", rank == 2 ? "8192" : "65536"}, {"RINGLET_LINKS", "shm"}});
      },
      [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_FALSE(communicator.ok());
        const std::string common = "\\(host .+, pid [0-9]+\\)";
        const std::string other = "\"8192\" on rank 2 " + common;
        const auto usual = [&](std::uint32_t whose) {
          return "\"65536\" on rank " + std::to_string(whose) + " " + common;
        };
        EXPECT_THAT(communicator.error().message,
                    testing::ContainsRegex(
                        "RINGLET_PIPE_BYTES is " +
                        (rank == 2 ? other + " and " + usual(0) : usual(rank) + " and " + other)))
            << "rank " << rank;
      });
}

std::string RingFile(const std::string& gpus) {
  return "<graphs version=\"1\">\n<graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"1\" "
         "speedintra=\"5\" speedinter=\"5\" typeintra=\"SYS\" typeinter=\"SYS\">\n<channel>" +
         gpus + "</channel></graph></graphs>\n";
}

TEST(Establish, AGraphFileSetsTheChannelsAndADumpContainsThem) {
  os::TempTree tree;
  tree.Write("g.xml", RingFile("<gpu dev=\"2\"/><gpu dev=\"0\"/><gpu dev=\"1\"/>"));
  for (const char* dump_rank : {"1", "7"})
    RunRanks(3,
             {{"NCCL_GRAPH_FILE", tree.At("g.xml")},
              {"NCCL_GRAPH_DUMP_FILE", tree.At(std::string("dump") + dump_rank)},
              {"NCCL_GRAPH_DUMP_FILE_RANK", dump_rank}},
             [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
               ASSERT_TRUE(communicator.ok()) << communicator.error().message;
               EXPECT_EQ((*communicator)->plan().Ring(0),
                         (std::vector<Rank>{Rank{2}, Rank{0}, Rank{1}}));
               EXPECT_TRUE(SumOfRanks(**communicator, 5000).ok());
             });
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  EXPECT_FALSE(files.Exists("dump7")) << "there is no such rank";
  const std::string dump = files.Read("dump1").value();
  EXPECT_THAT(dump,
              HasSubstr("<gpu dev=\"0x2\" rank=\"2\"/>\n      <gpu dev=\"0x0\" rank=\"0\"/>"));
}

TEST(Establish, AnUnfittingGraphFileFailsOnEveryRankWithAReason) {
  os::TempTree tree;
  tree.Write("g.xml", RingFile("<gpu dev=\"1\"/><gpu dev=\"0\"/>"));
  RunRanks(3, {{"RINGLET_GRAPH_FILE", tree.At("g.xml")}},
           [&](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_FALSE(communicator.ok());
             EXPECT_THAT(communicator.error().message, HasSubstr(tree.At("g.xml") + ":3:2: this"));
             EXPECT_THAT(communicator.error().message, HasSubstr("has 2 GPUs; it must have 3"));
           });
  const auto none = Process::Start({{"RINGLET_GRAPH_FILE", tree.At("none.xml")}});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("RINGLET_GRAPH_FILE"));
  EXPECT_THAT(none.error().message, HasSubstr("none.xml"));
}

TEST(Establish, DifferentGraphFilesAreReported) {
  os::TempTree tree;
  const std::string there = RingFile("<gpu dev=\"1\"/><gpu dev=\"0\"/>");
  tree.Write("a/g.xml", there);
  tree.Write("b/g.xml", there + "\n");
  RunRanks(
      2,
      [&](std::uint32_t rank) {
        return ProcessWith({{"RINGLET_GRAPH_FILE", tree.At(rank == 0 ? "a/g.xml" : "b/g.xml")}});
      },
      [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_FALSE(communicator.ok());
        EXPECT_THAT(communicator.error().message, HasSubstr("RINGLET_GRAPH_FILE"));
        EXPECT_THAT(communicator.error().message, HasSubstr("content"));
      });
}

TEST(Establish, AnUnwritableDumpIsAWarningThatNamesTheFile) {
  os::TempTree tree;
  const auto process = ProcessWith({{"RINGLET_GRAPH_DUMP_FILE", "/no/such/folder/dump.xml"},
                                    {"RINGLET_DEBUG", "WARN"},
                                    {"RINGLET_DEBUG_FILE", tree.At("log")}});
  RunRanks(
      2, [&](std::uint32_t) { return process; },
      [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
        EXPECT_TRUE(communicator.ok()) << communicator.error().message;
      });
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  EXPECT_THAT(files.Read("log").value(), testing::AllOf(HasSubstr("the channels are not dumped"),
                                                        HasSubstr("/no/such/folder/dump.xml")));
}

/// Returns the phases of each row of a trace, by the row's name.
std::map<std::string, std::set<std::string>> PhasesIn(const std::string& path, const char* call) {
  const os::FileTree files = os::FileTree::Open(std::filesystem::path(path).parent_path()).value();
  const auto trace =
      nlohmann::json::parse(files.Read(std::filesystem::path(path).filename().string()).value());
  std::map<int, std::string> names;
  std::map<std::string, std::set<std::string>> phases;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "M") names[event["tid"]] = event["args"]["name"];
    if (event["ph"] == "X" && event["cat"] == call)
      phases[names[event["tid"]]].insert(event["name"]);
  }
  return phases;
}

TEST(Establish, ATraceContainsThePhasesOfAllRanks) {
  os::TempTree tree;
  const std::string path = tree.At("trace.json");
  RunRanks(
      3, {{"RINGLET_TRACE", path}},
      [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        if (rank == 0) {
          const auto rows = PhasesIn(path, "Establish");
          EXPECT_EQ(rows.size(), 3u);
          for (const auto& [row, phases] : rows) {
            EXPECT_THAT(row, testing::MatchesRegex("rank [012] \\(host .+, pid [0-9]+\\)"));
            for (const Phase phase : {Phase::kDiscoverLocal, Phase::kCheckIn, Phase::kRoster,
                                      Phase::kStanding, Phase::kPeerTable, Phase::kTopology,
                                      Phase::kPlan, Phase::kConnect, Phase::kBarrier})
              EXPECT_TRUE(phases.contains(std::string(Name(phase)))) << row << " " << Name(phase);
          }
        }
        ASSERT_TRUE((*formed)->control().Barrier().ok());
        const auto child = Split(**formed, 0, 0, {});
        ASSERT_TRUE(child.ok()) << child.error().message;
        if (rank != 0) return;
        const auto rows = PhasesIn(path, "EstablishChild");
        EXPECT_EQ(rows.size(), 3u);
        for (const auto& [row, phases] : rows)
          EXPECT_EQ(phases, (std::set<std::string>{"look around", "all connected", "peer table",
                                                   "topology", "plan", "links", "barrier"}));
      });
}

TEST(Establish, AnUnwritableTraceIsAWarningThatNamesTheSetting) {
  os::TempTree tree;
  RunRanks(2,
           {{"RINGLET_TRACE", "/no/such/folder/trace.json"},
            {"RINGLET_DEBUG", "WARN"},
            {"RINGLET_DEBUG_FILE", tree.At("log")}},
           [](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
             EXPECT_TRUE(formed.ok()) << formed.error().message;
           });
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  EXPECT_THAT(files.Read("log").value(), HasSubstr("RINGLET_TRACE: "));
}

// The ranks did not receive devices, or two ranks of a host received the same one.
TEST(Establish, RanksWithoutADeviceAreNumberedOnTheirHost) {
  struct Rank {
    const char* host;
    std::uint32_t told, expected;
  };
  constexpr Rank kRanks[] = {{"a", 0, 0}, {"b", 5, 5}, {"a", 0, 1}, {"b", 4, 4}, {"a", 7, 2}};
  std::vector<std::shared_ptr<Process>> processes;
  for (const Rank& rank : kRanks)
    processes.push_back(ProcessWith({{"RINGLET_HOSTID", rank.host}, {"RINGLET_LINKS", "tcp"}}));
  const UniqueId id = *CreateUniqueId(processes[0]);
  std::latch done(std::size(kRanks));
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < std::size(kRanks); ++rank)
    threads.emplace_back([&, rank] {
      const auto formed = Establish(
          processes[rank],
          {.id = id, .rank = rank, .size = std::size(kRanks), .device = kRanks[rank].told}, {});
      done.arrive_and_wait();
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      EXPECT_EQ((*formed)->identity().device, kRanks[rank].expected) << rank;
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ringlet::comm
