#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::Contains;
using testing::Each;
using testing::StartsWith;

TEST(CheckExpectedPlacesTest, ReportsSwappedNumaNodes) {
  const HostView view = DefectiveView(
      kHgxH100, [](HostView& v) { std::swap(v.numa_nodes[0].id, v.numa_nodes[1].id); });
  const std::vector<std::string> said = Judged(view, &GoodHgx());
  EXPECT_EQ(said.size(), 16u);  // GPUs and NICs
  EXPECT_THAT(said,
              Each(testing::AnyOf(StartsWith("warning gpu-numa"), StartsWith("warning nic-numa"))));
}

TEST(CheckExpectedPlacesTest, ReportsSwappedBusIds) {
  const HostView gpus = DefectiveView(
      kHgxH100, [](HostView& v) { std::swap(v.pci[v.gpus[0].pci].bus, v.pci[v.gpus[1].pci].bus); });
  const std::vector<std::string> said = Judged(gpus, &GoodHgx());
  EXPECT_THAT(said, Contains(StartsWith("warning moved 0000:02:00.0 GPU1")));
  EXPECT_THAT(said, Each(StartsWith("warning moved")));
  const HostView other = DefectiveView(kHgxH100, [](HostView& v) {
    std::swap(v.pci[v.gpus[0].pci].bus, v.pci[v.nics[0].parent.index].bus);
  });
  EXPECT_THAT(Judged(other, &GoodHgx()), Contains(StartsWith("warning moved")));
}

TEST(CheckExpectedPlacesTest, CountsGpusPerNodeWhereAddressesDiffer) {
  const HostView view = DefectiveView(kCards, [](HostView& v) {
    for (PciDevice& device : v.pci)
      device.bus.value += 0x100000;  // each address differs from those of GoodHgx()
    v.pci[0].parent.index = 1;
  });
  const HostView good = ParseSynthetic(kCards).value();
  EXPECT_THAT(Judged(view, &good), Contains("warning gpu-numa 8 GPUs"));
}

}  // namespace
}  // namespace ringlet::topology
