#include "comm/stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/ranks_for_test.hpp"
#include "discovery/placement.hpp"
#include "os/temp_tree_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(Stages, ArgumentsAreCheckedFirst) {
  EXPECT_TRUE(CheckArguments({.rank = 0, .size = 1}).ok());
  EXPECT_EQ(CheckArguments({.rank = 1, .size = 1}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(CheckArguments({.rank = 0, .size = 0}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(CheckArguments({.rank = 0, .size = 0xffffffff}).error().code, Code::kInvalidArgument);
}

TEST(Stages, ARankFindsItsNodeAndItsDoors) {
  const auto process = ProcessWith({});
  const auto here = LookAround(*process, {.rank = 0, .size = 1});
  ASSERT_TRUE(here.ok()) << here.error().message;
  EXPECT_EQ(here->view.identity, process->host_hash());
  EXPECT_TRUE(std::ranges::any_of(here->view.numa_nodes,
                                  [&](const auto& node) { return node.id == here->numa; }));
  Invitation invitation;
  invitation.credentials.secret[0] = static_cast<std::byte>(process->process_hash());
  const auto doors = OpenDoors(*process, invitation, {.rank = 0, .size = 2}, {});
  ASSERT_TRUE(doors.ok()) << doors.error().message;
  EXPECT_FALSE(doors->control.tcp.empty());
  EXPECT_FALSE(doors->data.tcp.empty());
  EXPECT_EQ(doors->data.unix_socket.kind, Address::Kind::kUnix);
  EXPECT_EQ(doors->control.unix_socket.kind, Address::Kind::kNone);
  EXPECT_TRUE(doors->speaks) << "the first of its host";
  const auto second = OpenDoors(*process, invitation, {.rank = 1, .size = 2}, {});
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->speaks);
  EXPECT_EQ(second->speaker, doors->speaker);
  EXPECT_FALSE(OpenDoors(*process, invitation, {.rank = 0, .size = 1}, {})->speaker) << "alone";
  const auto each = ProcessWith({{"RINGLET_HOST_SPEAKER", "0"}});
  EXPECT_FALSE(OpenDoors(*each, invitation, {.rank = 0, .size = 2}, {})->speaker);
}

TEST(Stages, ATopologyFileComesFirstAndDetectionFillsIt) {
  os::TempTree tree;
  tree.Write("topo.xml",
             "<system version=\"1\">\n  <cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" "
             "familyid=\"25\" modelid=\"1\">\n    <pci busid=\"0000:e3:00.0\" class=\"0x030200\" "
             "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">\n      <gpu dev=\"6\" sm=\"80\" "
             "gdr=\"1\"/>\n    </pci>\n  </cpu>\n</system>\n");
  const auto process = ProcessWith({{"NCCL_TOPO_FILE", tree.At("topo.xml")},
                                    {"NCCL_TOPO_DUMP_FILE", tree.At("dump.xml")},
                                    {"NCCL_TOPO_DUMP_FILE_RANK", "1"}});
  const auto here = LookAround(*process, {.rank = 0, .size = 2});
  ASSERT_TRUE(here.ok()) << here.error().message;
  ASSERT_EQ(here->view.gpus.size(), 1u);
  EXPECT_EQ(here->view.gpus[0].dev, 6u);
  EXPECT_EQ(here->view.cpu.family, 25u);
  EXPECT_EQ(here->view.identity, process->host_hash());
  EXPECT_FALSE(here->view.numa_nodes[0].cpus.empty());  // detected
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  EXPECT_FALSE(files.Exists("dump.xml"));
  ASSERT_TRUE(LookAround(*process, {.rank = 1, .size = 2}).ok());
  const std::string dump = files.Read("dump.xml").value();
  EXPECT_THAT(dump, testing::HasSubstr("busid=\"0000:e3:00.0\""));
  EXPECT_THAT(dump, testing::HasSubstr("affinity=\""));
}

TEST(Stages, ATopologyFileThatCannotBeReadStopsAndNamesTheLine) {
  os::TempTree tree;
  tree.Write("bad.xml", "<system version=\"1\">\n  <cpu numaid=\"0\n");
  const auto bad =
      LookAround(*ProcessWith({{"RINGLET_TOPO_FILE", tree.At("bad.xml")}}), {.rank = 0, .size = 1});
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message, testing::HasSubstr(tree.At("bad.xml") + ":2:"));
  const auto none = LookAround(*ProcessWith({{"RINGLET_TOPO_FILE", tree.At("none.xml")}}),
                               {.rank = 0, .size = 1});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, testing::HasSubstr("none.xml"));
}

TEST(Stages, ADumpThatCannotBeWrittenIsNoReasonToFail) {
  const auto process = ProcessWith({{"RINGLET_TOPO_DUMP_FILE", "/no/such/folder/dump.xml"}});
  EXPECT_TRUE(LookAround(*process, {.rank = 0, .size = 1}).ok());
}

TEST(Stages, AffinityCanBeIgnored) {
  const auto process = ProcessWith({{"NCCL_IGNORE_CPU_AFFINITY", "1"}});
  const auto here = LookAround(*process, {.rank = 0, .size = 1, .device = 0});
  ASSERT_TRUE(here.ok());
  EXPECT_EQ(here->numa, discovery::NumaOf(here->view, {}, 0));
}

}  // namespace
}  // namespace ringlet::comm
