#include "topology_api/this_host.hpp"

#include <gmock/gmock.h>

#include "topology_api/fixture_for_test.hpp"

namespace ringlet::topology {
namespace {

TEST(ThisHostTest, HasProcessorsAndAnIdentity) {
  const Result<ThisHost> host = ReadThisHost({});
  ASSERT_TRUE(host.ok()) << host.error().message;
  EXPECT_TRUE(host->view.Check().ok());
  EXPECT_FALSE(host->view.numa_nodes.empty());
  EXPECT_NE(host->view.identity, 0u);
  EXPECT_EQ(host->file, "");
}

TEST(ThisHostTest, TakesTheDevicesOfTheSettingsFile) {
  Settings settings;
  settings.topo_file = FixturePath("topo-vectors/pcie4-1nic.xml");
  const Result<ThisHost> host = ReadThisHost(settings);
  ASSERT_TRUE(host.ok()) << host.error().message;
  EXPECT_EQ(host->view.gpus.size(), 4u);
  EXPECT_EQ(host->file, settings.topo_file);
}

TEST(ThisHostTest, AMissingSettingsFileIsAnError) {
  Settings settings;
  settings.topo_file = "/nonexistent/topology.xml";
  EXPECT_FALSE(ReadThisHost(settings).ok());
}

}  // namespace
}  // namespace ringlet::topology
