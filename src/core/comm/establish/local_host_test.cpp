#include "comm/establish/local_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "comm/establish/ranks_for_test.hpp"
#include "discovery/placement.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(LocalHost, ARankFindsItsNode) {
  const auto process = ProcessWith({});
  const auto local_host = DiscoverLocal(*process, {.rank = 0, .size = 1});
  ASSERT_TRUE(local_host.ok()) << local_host.error().message;
  EXPECT_EQ(local_host->view.identity, process->facts().host_hash);
  EXPECT_TRUE(std::ranges::any_of(local_host->view.numa_nodes,
                                  [&](const auto& node) { return node.id == local_host->numa; }));
}

TEST(LocalHost, ARankThatExpectsASingleHostScansNoDevices) {
  const Config expects{.rank = 0, .size = 2, .expects_one_host = true};
  const auto brief = DiscoverLocal(*ProcessWith({}), expects);
  ASSERT_TRUE(brief.ok()) << brief.error().message;
  EXPECT_FALSE(brief->knows_devices);
  EXPECT_TRUE(brief->view.pci.empty());
  EXPECT_TRUE(brief->view.nets.empty());
  EXPECT_FALSE(brief->view.numa_nodes.empty());
  Config named = expects;
  named.names_device = true;
  EXPECT_TRUE(DiscoverLocal(*ProcessWith({}), named)->knows_devices);
}

TEST(LocalHost, DetectionCompletesATopologyFile) {
  os::TempTree tree;
  tree.Write("topo.xml",
             "<system version=\"1\">\n  <cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" "
             "familyid=\"25\" modelid=\"1\">\n    <pci busid=\"0000:e3:00.0\" class=\"0x030200\" "
             "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">\n      <gpu dev=\"6\" sm=\"80\" "
             "gdr=\"1\"/>\n    </pci>\n  </cpu>\n</system>\n");
  const auto process = ProcessWith({{"NCCL_TOPO_FILE", tree.At("topo.xml")},
                                    {"NCCL_TOPO_DUMP_FILE", tree.At("dump.xml")},
                                    {"NCCL_TOPO_DUMP_FILE_RANK", "1"}});
  const auto local_host = DiscoverLocal(*process, {.rank = 0, .size = 2});
  ASSERT_TRUE(local_host.ok()) << local_host.error().message;
  ASSERT_EQ(local_host->view.gpus.size(), 1u);
  EXPECT_EQ(local_host->view.gpus[0].dev, 6u);
  EXPECT_EQ(local_host->view.cpu.family, 25u);
  EXPECT_EQ(local_host->view.identity, process->facts().host_hash);
  EXPECT_FALSE(local_host->view.numa_nodes[0].cpus.empty());  // detected
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  EXPECT_FALSE(files.Exists("dump.xml"));
  ASSERT_TRUE(DiscoverLocal(*process, {.rank = 1, .size = 2}).ok());
  const std::string dump = files.Read("dump.xml").value();
  EXPECT_THAT(dump, testing::HasSubstr("busid=\"0000:e3:00.0\""));
  EXPECT_THAT(dump, testing::HasSubstr("affinity=\""));
}

TEST(LocalHost, AnUnreadableTopologyFileFailsAndNamesTheLine) {
  os::TempTree tree;
  tree.Write("bad.xml", "<system version=\"1\">\n  <cpu numaid=\"0\n");
  const auto bad = DiscoverLocal(*ProcessWith({{"RINGLET_TOPO_FILE", tree.At("bad.xml")}}),
                                 {.rank = 0, .size = 1});
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message, testing::HasSubstr(tree.At("bad.xml") + ":2:"));
  const auto none = DiscoverLocal(*ProcessWith({{"RINGLET_TOPO_FILE", tree.At("none.xml")}}),
                                  {.rank = 0, .size = 1});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, testing::HasSubstr("none.xml"));
}

TEST(LocalHost, AffinityCanBeIgnored) {
  const auto process = ProcessWith({{"NCCL_IGNORE_CPU_AFFINITY", "1"}});
  const auto local_host = DiscoverLocal(*process, {.rank = 0, .size = 1, .device = 0});
  ASSERT_TRUE(local_host.ok());
  EXPECT_EQ(local_host->numa, discovery::NumaOf(local_host->view, {}, 0));
}

}  // namespace
}  // namespace ringlet::comm
