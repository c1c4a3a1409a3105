#include <gmock/gmock.h>

#include "topo/lint/lint_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::string_view kTwoNodes = "2x(numa: 2x(switch: gpu, nic))";

TEST(LintBusOrderTest, BusesOfAWholeMachineAreInOrder) {
  EXPECT_THAT(FindingLinesAfter(kTwoNodes, [](HostView&) {}), IsEmpty());
}

TEST(LintBusOrderTest, ReportsSwappedAddressesOfTwoSwitches) {
  const std::vector<std::string> said = FindingLinesAfter(kTwoNodes, [](HostView& v) {
    std::swap(v.pci[v.gpus[0].pci].bus, v.pci[v.gpus[1].pci].bus);
  });
  EXPECT_THAT(said, Contains(StartsWith("warning bus-order")));
}

TEST(LintBusOrderTest, ReportsASwitchAtTheWrongNode) {
  const std::vector<std::string> said = FindingLinesAfter(kTwoNodes, [](HostView& v) {
    for (PciDevice& device : v.pci)
      if (device.parent == Part{PartKind::kNuma, 0}) {
        device.parent.index = 1;
        break;
      }
  });
  EXPECT_THAT(said, ElementsAre("warning numa-bus-order system/cpu[1]"));
}

TEST(LintBusOrderTest, FunctionsBelowASwitchNeedHigherBuses) {
  const std::vector<std::string> said = FindingLinesAfter(
      "(switch: gpu)", [](HostView& v) { std::swap(v.pci[0].bus, v.pci[1].bus); });
  EXPECT_THAT(said, ElementsAre(StartsWith("warning bus-order")));
}

TEST(LintBusOrderTest, SeparatesDomainsAndHosts) {
  EXPECT_THAT(FindingLinesAfter(kTwoNodes,
                                [](HostView& v) {
                                  for (std::uint32_t i = 0; i < v.pci.size(); ++i)
                                    v.pci[i].bus = BusId::Of(i, 0, 0, 0);
                                }),
              IsEmpty())
      << "as in a virtual machine";
}

}  // namespace
}  // namespace ringlet::topology
