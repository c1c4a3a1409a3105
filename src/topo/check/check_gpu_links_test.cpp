#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CheckGpuLinksTest, NamesTheGpuThatLacksTwoLinks) {
  const HostView view = DefectiveView(kHgxH100, [](HostView& v) { v.gpus[5].links[0].count -= 2; });
  const std::vector<Defect> defects = DefectsOf(view);
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].rule->word, "nvlinks-fewer");
  EXPECT_EQ(defects[0].name, "GPU5 (h100-sxm5)");
  EXPECT_THAT(defects[0].reason, HasSubstr("16 of 18 NVLinks; 7 of its 7 peers have all"));
  ASSERT_EQ(defects[0].repair.size(), 1u);
  EXPECT_EQ(std::get<LinksChange>(defects[0].repair[0]).links, view.gpus[0].links);
}

TEST(CheckGpuLinksTest, NamesTheLostSwitch) {
  const HostView view = DefectiveView(kHgxH100, [](HostView& v) {
    for (Gpu& gpu : v.gpus)
      gpu.links = {{.target = BusId{0x5000}, .count = 9, .target_class = PciClass{0x068000}},
                   {.target = BusId{0x6000}, .count = 9, .target_class = PciClass{0x068000}}};
    v.gpus[0].links.pop_back();
  });
  const std::vector<Defect> defects = DefectsOf(view);
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_THAT(defects[0].reason, HasSubstr("missing: 9 to NVSwitch 0000:06:00.0"));
}

TEST(CheckGpuLinksTest, AllGpusOfABoardNeedLinks) {
  EXPECT_EQ(JudgedAfter("8 gpu h100-sxm5 none", [](HostView&) {}).size(), 8u);
  EXPECT_THAT(JudgedAfter("gpu h100-sxm5", [](HostView&) {}), IsEmpty());
  EXPECT_THAT(JudgedAfter("2 gpu a100-pcie none", [](HostView&) {}), IsEmpty());
}

TEST(CheckGpuLinksTest, FewerLinksThanTheModelOnAllGpusAreADefect) {
  EXPECT_EQ(JudgedAfter("8 gpu h100-sxm5 switch",
                        [](HostView& v) {
                          for (Gpu& gpu : v.gpus) gpu.links[0].count = 13;
                        })
                .size(),
            8u);
}

TEST(CheckGpuLinksTest, RepairsAPairOfAMeshAtBothEnds) {
  const HostView view = DefectiveView("4 gpu a100-sxm4 mesh", [](HostView& v) {
    v.gpus[0].links[0].count = 2;  // to GPU 1
    v.gpus[1].links[0].count = 2;  // to GPU 0
  });
  const std::vector<Defect> defects = DefectsOf(view);
  ASSERT_EQ(defects.size(), 2u);
  const Result<HostView> well = Repaired(view, defects[0].repair);
  ASSERT_TRUE(well.ok());
  EXPECT_EQ(*well, ParseSynthetic("4 gpu a100-sxm4 mesh").value());
}

TEST(CheckGpuLinksTest, AcceptsPartOfABoardWithoutSwitches) {
  EXPECT_THAT(JudgedAfter("8 gpu v100-sxm2 cube-mesh",
                          [](HostView& v) {
                            v.gpus.resize(4);
                            v.pci.resize(4);
                            for (Gpu& gpu : v.gpus)
                              std::erase_if(gpu.links, [&](const GpuLink& link) {
                                return link.target > v.pci[3].bus;
                              });
                          }),
              IsEmpty());
}

TEST(CheckGpuLinksTest, ComparesAnUnknownModelWithItsPeers) {
  const auto with = [](std::size_t without) {
    return JudgedAfter("4 gpu h100-sxm5 switch", [&](HostView& v) {
      for (PciDevice& device : v.pci) device.ids.device = 0x31c2;
      for (std::size_t i = 0; i < without; ++i) v.gpus[i].links.clear();
    });
  };
  EXPECT_THAT(with(0), IsEmpty());
  EXPECT_THAT(with(1), ElementsAre("error nvlinks-none 0000:01:00.0 GPU0 (10de:31c2)"));
  EXPECT_THAT(with(2), IsEmpty());
}

}  // namespace
}  // namespace ringlet::topology
