#include "comm/process/parts/diagnostics.hpp"

#include <gmock/gmock.h>

#include <latch>

#include "comm/establish/ranks_for_test.hpp"
#include "os/fs/file_tree.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "os/fs/write_file.hpp"
#include "os/net/local_ask.hpp"
#include "watch/server.hpp"

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::chrono::seconds kLong(60);  // longer than a test may take

/// Returns the answer of one process to a question.
std::string Answer(const Process& process, const std::string& question) {
  const Address at =
      Address::Unix(watch::Server::NameOf(process.host().pid, process.facts().process_hash));
  auto answers =
      os::QueryProcesses({at}, {.text = question, .answer_bytes_max = 1 << 24, .timeout = kLong});
  return answers[0].ok() ? *answers[0] : "ERROR " + answers[0].error().message;
}

watch::ProcessStatus StatusOf(const Process& process, const std::string& question = "status") {
  auto status = watch::ParseProcessStatus(Answer(process, question));
  EXPECT_TRUE(status.ok()) << status.error().message;
  return status.ok() ? *std::move(status) : watch::ProcessStatus();
}

TEST(Diagnostics, AnswersWithoutACommunicator) {
  const auto process = ProcessWith({});
  const watch::ProcessStatus status = StatusOf(*process);
  EXPECT_EQ(status.pid, process->host().pid);
  EXPECT_THAT(status.communicators, IsEmpty());
  EXPECT_THAT(Answer(*process, "trace"), HasSubstr("closed the connection without an answer"));
  EXPECT_THAT(Answer(*process, "secret"), HasSubstr("unknown question"));
}

TEST(Diagnostics, DoesNotAnswerWithoutTheSetting) {
  EXPECT_THAT(Answer(*ProcessWith({{"RINGLET_STATUS", "0"}}), "status"), HasSubstr("ERROR"));
}

TEST(Diagnostics, TheSocketEndsWithTheProcess) {
  auto process = ProcessWith({});
  const Address at =
      Address::Unix(watch::Server::NameOf(process->host().pid, process->facts().process_hash));
  process.reset();
  const auto answers =
      os::QueryProcesses({at}, {.text = "status", .answer_bytes_max = 100, .timeout = kLong});
  EXPECT_EQ(answers[0].error().code, Code::kPeerLost);
}

TEST(Diagnostics, CreatesTheFolderOfTracesAndReportsIfItCannot) {
  os::TempTree tree;
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  (void)ProcessWith({{"RINGLET_DUMP_DIR", tree.At("new/traces")}});
  EXPECT_TRUE(os::WriteFile(tree.At("new/traces/file"), "x").ok());
  (void)ProcessWith({{"RINGLET_DUMP_DIR", tree.At("new/traces/file/below")},
                     {"RINGLET_DEBUG", "WARN"},
                     {"RINGLET_DEBUG_FILE", tree.At("log")}});
  EXPECT_THAT(files.Read("log").value(),
              AllOf(HasSubstr("RINGLET_DUMP_DIR: cannot write "), HasSubstr("file/below")));
}

TEST(Diagnostics, EachRankReportsItsLastOperationAndItsPeers) {
  const auto process = ProcessWith({});
  const auto process_of = [&](std::uint32_t) { return process; };
  std::latch called(2), looked(2);
  RunRanks(2, process_of, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    EXPECT_TRUE(formed.ok() && SumOfRanks(**formed, 2).ok() && Barrier(**formed).ok());
    called.arrive_and_wait();
    watch::ProcessStatus status;
    if (rank == 0) status = StatusOf(*process, "status peers");
    looked.arrive_and_wait();
    if (rank == 0) {
      ASSERT_THAT(status.communicators, SizeIs(2));
      for (const watch::CommunicatorStatus& one : status.communicators) {
        EXPECT_EQ(one.communicator, fmt::format("{:016x}", (*formed)->identity().magic));
        EXPECT_EQ(one.ranks, 2u);
        EXPECT_FALSE(one.self.forming);
        EXPECT_EQ(one.self.operations, 2u);
        ASSERT_TRUE(one.self.last.has_value());
        EXPECT_EQ(ToText(*one.self.last), "barrier as operation 1");
        ASSERT_THAT(one.peers, SizeIs(1));
        EXPECT_EQ(one.peers[0].rank, 1 - one.self.rank);
        EXPECT_EQ(one.peers[0].reach, watch::RankState::Reach::kHere);
        EXPECT_EQ(one.peers[0].operations, 2u);
        EXPECT_EQ(one.peers[0].pid, process->host().pid);
      }
    }
  });
  EXPECT_THAT(StatusOf(*process).communicators, IsEmpty()) << "they have left";
}

TEST(Diagnostics, MetricsCountOperations) {
  os::TempTree tree;
  const auto process = ProcessWith({{"RINGLET_METRICS_FILE", tree.At("metrics.%p")}});
  const auto process_of = [&](std::uint32_t) { return process; };
  RunRanks(2, process_of, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    ASSERT_TRUE(SumOfRanks(**formed, 2).ok());
    if (rank == 0) {
      EXPECT_THAT(Answer(*process, "metrics"),
                  AllOf(HasSubstr("ringlet_operation_size_bytes_sum"),
                        HasSubstr("call=\"all_reduce\"} 8\n"), HasSubstr("# EOF\n")));
    }
    ASSERT_TRUE(Barrier(**formed).ok());
  });
  const auto files = os::FileTree::Open(tree.root()).value();
  EXPECT_THAT(files.Read(fmt::format("metrics.{}", process->host().pid)).value(),
              HasSubstr("call=\"barrier\""))
      << "it is written when a communicator ends";
}

}  // namespace
}  // namespace ringlet::comm
