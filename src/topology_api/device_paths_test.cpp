#include <gmock/gmock.h>

#include "ringlet/topology.hpp"
#include "topology_api/fixture_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

TEST(DevicePathsTest, AnswersByNamesAndAddresses) {
  const Topology topology =
      Topology::Load(FixturePath("topologies/nvidia/perlmutter_a100_nid001056.topo.xml")).value();
  const DevicePaths paths = DevicePaths::Find(topology).value();
  const DevicePath path = paths.Between("GPU0", "GPU2").value();
  EXPECT_EQ(path.type, "NVL");
  EXPECT_GT(path.gb_per_s, 0);
  const DevicePath same = paths.Between("gpu0", "0000:82:00.0").value();
  EXPECT_EQ(same.type, path.type);
  EXPECT_EQ(same.gb_per_s, path.gb_per_s);
  EXPECT_EQ(paths.Between("GPU1", "GPU1")->type, "LOC");
}

TEST(DevicePathsTest, TheLinksOfAPathAreAsManyAsItsHops) {
  const Topology topology = Topology::Load(FixturePath("topo-vectors/pcie4-1nic.xml")).value();
  const DevicePaths paths = DevicePaths::Find(topology).value();
  const std::vector<Device> devices = topology.Devices().value();
  for (const Device& from : devices)
    for (const Device& to : devices) {
      const DevicePath path = paths.Between(from.name, to.name).value();
      const std::vector<PathLink> links = paths.Links(from.name, to.name).value();
      EXPECT_EQ(links.size(), path.hops) << from.name << " to " << to.name;
      EXPECT_EQ(links.empty() ? from.name : links.back().to, to.name);
    }
}

TEST(DevicePathsTest, AnUnknownNameListsTheDevices) {
  const Topology topology = Topology::Load(FixturePath("topo-vectors/pcie4-1nic.xml")).value();
  const DevicePaths paths = DevicePaths::Find(topology).value();
  EXPECT_THAT(paths.Between("GPU0", "GPU9").error().message, HasSubstr("the parts are GPU0, GPU1"));
  EXPECT_EQ(paths.Links("GPU9", "GPU0").error().code, Code::kInvalidArgument);
}

TEST(DevicePathsTest, PathsOutliveTheTopology) {
  const DevicePaths paths = [] {
    return DevicePaths::Find(Topology::Describe("2 gpu").value()).value();
  }();
  const DevicePaths copy = paths;
  EXPECT_EQ(copy.Between("GPU0", "GPU1")->type, "PHB");
}

}  // namespace
}  // namespace ringlet::topology
