#include "comm/process/parts/process_states.hpp"

#include <gtest/gtest.h>

#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::comm {
namespace {

using Reach = watch::RankState::Reach;

TEST(ProcessStates, AreAddedForRanksOfThisHost) {
  os::TempTree tree;
  tree.Write("proc/7/stat", "7 (rank) T 1");
  const auto files = os::FileTree::Open(tree.root()).value();
  std::vector<watch::ProcessStatus> statuses = {
      {.communicators = {{.self = {.host = "here", .pid = 7},
                          .peers = {{.host = "here", .pid = 8},
                                    {.host = "there", .pid = 8},
                                    {.host = "here", .pid = 9, .reach = Reach::kLeft}}}}}};
  AddProcessStates(files, "here", statuses);
  const watch::CommunicatorStatus& one = statuses[0].communicators[0];
  EXPECT_EQ(one.self.process, "stopped");
  EXPECT_EQ(one.self.reach, Reach::kHere);
  EXPECT_EQ(one.peers[0].reach, Reach::kGone);
  EXPECT_EQ(one.peers[1].reach, Reach::kHere);
  EXPECT_EQ(one.peers[1].process, "");
  EXPECT_EQ(one.peers[2].reach, Reach::kLeft) << "it has left and ended in good order";
}

}  // namespace
}  // namespace ringlet::comm
