#include <gmock/gmock.h>

#include "ringlet/topology.hpp"
#include "topology_api/fixture_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

TEST(HostDefectsTest, AHealthyMachineHasNone) {
  EXPECT_TRUE(Check(Topology::Describe("2x(numa: 2x(switch: 2 gpu, 1 nic))").value()).empty());
}

TEST(HostDefectsTest, AMissingGpuIsADefectBesideTheExpectedMachine) {
  const Topology whole = Topology::Describe("2x(numa: 4 gpu h100-sxm5 switch)").value();
  const Topology part = Topology::Describe(
                            "(numa: 4 gpu h100-sxm5 switch), (numa: 3 gpu h100-sxm5 "
                            "switch)")
                            .value();
  const std::vector<HostDefect> defects = Check(part, &whole);
  const auto missing = std::find_if(defects.begin(), defects.end(), [](const HostDefect& defect) {
    return defect.rule == "gpu-missing";
  });
  ASSERT_NE(missing, defects.end());
  EXPECT_EQ(missing->severity, Severity::kError);
  EXPECT_EQ(missing->remedy, Remedy::kDrain);
  EXPECT_THAT(missing->reason, HasSubstr("7 of 8 GPUs"));
}

TEST(HostDefectsTest, MistakesOfAFileAreDefectsWithAPlace) {
  const Topology file = Topology::Load(FixturePath("topologies/nvidia/ndv4.topo.xml")).value();
  for (const HostDefect& defect : Check(file)) {
    EXPECT_TRUE(defect.rule == "file" || defect.rule == "skeleton") << defect.rule;
    EXPECT_GT(defect.at.line, 0u);
  }
}

}  // namespace
}  // namespace ringlet::topology
