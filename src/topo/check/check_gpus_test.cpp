#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::uint32_t PciOfGpu(const HostView& view, std::uint32_t gpu) {
  return view.gpus[gpu].pci;
}

void SlowDown(HostView& view, std::uint32_t gpu) {
  PciDevice& device = view.pci[PciOfGpu(view, gpu)];
  device.link_speed = PcieSpeed::Of(3);
  device.link_width = 8;
}

TEST(CheckGpusTest, HealthyMachinesGiveNoDefects) {
  for (const std::string_view words :
       {kHgxH100, kCards, std::string_view("8 gpu a100-sxm4 switch"),
        std::string_view("4 gpu a100-sxm4 mesh"), std::string_view("8 gpu v100-sxm2 cube-mesh"),
        std::string_view("8 gpu mi300x mesh"), std::string_view("gpu")})
    EXPECT_THAT(JudgedAfter(words, [](HostView&) {}), IsEmpty()) << words;
}

TEST(CheckGpusTest, NamesTheGpuWithASlowLinkAmongPeers) {
  const HostView view = DefectiveView(kHgxH100, [](HostView& v) { SlowDown(v, 3); });
  const std::vector<Defect> defects = DefectsOf(view);
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].rule->word, "gpu-pcie");
  EXPECT_EQ(defects[0].rule->remedy, Remedy::kDrain);
  EXPECT_EQ(defects[0].name, "GPU3 (h100-sxm5)");
  EXPECT_EQ(defects[0].where, ToString(view.pci[PciOfGpu(view, 3)].bus));
  EXPECT_THAT(defects[0].reason, HasSubstr("PCIe 3.0 x8, 6 GB/s; 7 of its 7 peers have PCIe 5.0"));
  ASSERT_EQ(defects[0].repair.size(), 1u);
  EXPECT_EQ(std::get<PcieChange>(defects[0].repair[0]).speed, PcieSpeed::Of(5));
}

TEST(CheckGpusTest, AcceptsAMajorityOfSlowLinksOnABoard) {
  const auto slow = [](std::string_view words, std::uint32_t gpus) {
    return JudgedAfter(words,
                       [&](HostView& v) {
                         for (std::uint32_t i = 0; i < gpus; ++i) SlowDown(v, i);
                       })
        .size();
  };
  EXPECT_EQ(slow(kHgxH100, 4), 4u);
  EXPECT_EQ(slow(kHgxH100, 5), 0u);  // then the fast ones deviate, which is harmless
  EXPECT_EQ(slow(kCards, 1), 1u);
  EXPECT_EQ(slow(kCards, 2), 2u);
}

TEST(CheckGpusTest, AcceptsCardsInSlotsOfTwoKinds) {
  EXPECT_THAT(JudgedAfter("4 gpu a100-pcie",
                          [](HostView& v) {
                            SlowDown(v, 0);
                            SlowDown(v, 1);
                          }),
              IsEmpty());
  EXPECT_THAT(JudgedAfter("2 gpu a100-pcie", [](HostView& v) { SlowDown(v, 0); }),
              ElementsAre("warning card-pcie 0000:01:00.0 GPU0 (a100-pcie)"));
}

TEST(CheckGpusTest, SevenOfEightGpusAreADefectAndAPowerOfTwoIsNot) {
  const auto of = [](std::uint32_t gpus) {
    return JudgedAfter(std::to_string(gpus) + " gpu h100-sxm5 switch", [](HostView&) {});
  };
  EXPECT_THAT(of(7), ElementsAre("error gpu-missing 7 GPUs (h100-sxm5)"));
  EXPECT_THAT(of(3), ElementsAre("error gpu-missing 3 GPUs (h100-sxm5)"));
  for (const std::uint32_t gpus : {1u, 2u, 4u, 8u, 16u}) EXPECT_THAT(of(gpus), IsEmpty()) << gpus;
}

TEST(CheckGpusTest, PlacesAMissingGpuBesideItsNic) {
  HostView view = DefectiveView(kHgxH100, [](HostView& v) {
    // The last GPU and its function, so only the index of the NIC's function changes.
    const std::uint32_t gone = v.gpus.back().pci;
    v.gpus.pop_back();
    v.pci.erase(v.pci.begin() + gone);
    for (Nic& nic : v.nics)
      if (nic.parent.index > gone) --nic.parent.index;
  });
  const std::vector<Defect> defects = DefectsOf(view);
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].reason, "7 of 8 GPUs of the board are present");
  ASSERT_EQ(defects[0].repair.size(), 1u);
  const GpuAdded added = std::get<GpuAdded>(defects[0].repair[0]);
  EXPECT_EQ(added.parent, view.pci[view.nics.back().parent.index].parent);
}

TEST(CheckGpusTest, NamesAFunctionWithoutItsGpu) {
  EXPECT_THAT(JudgedAfter("2 gpu a100-pcie", [](HostView& v) { v.gpus.pop_back(); }),
              ElementsAre("error gpu-missing 0000:02:00.0 GPU"));
}

TEST(CheckGpusTest, ComparesGpudirectAndNumaNodesWithPeers) {
  EXPECT_THAT(JudgedAfter(kHgxH100, [](HostView& v) { v.gpus[2].gdr = false; }),
              ElementsAre(testing::StartsWith("warning gpu-gdr")));
  EXPECT_THAT(JudgedAfter("2x(numa: 4 gpu h100-sxm5 switch)",
                          [](HostView& v) {
                            v.numa_nodes.push_back({.id = kUnknownNuma, .cpus = {}});
                            v.pci[7].parent.index = 2;
                          }),
              ElementsAre("warning gpu-numa 0000:08:00.0 GPU7 (h100-sxm5)"));
}

TEST(CheckGpusTest, AnOldHostIsANote) {
  EXPECT_THAT(JudgedAfter("8 gpu h100-sxm5 switch",
                          [](HostView& v) {
                            for (PciDevice& device : v.pci) device.link_speed = PcieSpeed::Of(4);
                          }),
              ElementsAre("note gpu-below-model 8 GPUs (h100-sxm5)"));
}

TEST(CheckGpusTest, ReportsABoardSwitchAtTheWrongNode) {
  const std::vector<std::string> said =
      JudgedAfter(kHgxH100, [](HostView& v) { v.pci[0].parent.index = 1; });
  EXPECT_THAT(said, testing::Contains("warning gpu-numa 8 GPUs (h100-sxm5)"));
}

}  // namespace
}  // namespace ringlet::topology
