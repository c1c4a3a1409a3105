#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(CheckExpectedTest, TheExpectedMachineGivesNoDefects) {
  EXPECT_THAT(Judged(GoodHgx(), &GoodHgx()), IsEmpty());
}

TEST(CheckExpectedTest, NamesMissingGpus) {
  const HostView half =
      ParseSynthetic("(numa: 4x(switch: gpu h100-sxm5 switch, nic 400g))").value();
  const std::vector<Defect> defects = DefectsOf(half, &GoodHgx());
  ASSERT_EQ(defects.size(), 2u);
  EXPECT_EQ(defects[1].rule->word, "nic-missing");
  EXPECT_EQ(defects[0].rule->word, "gpu-missing");
  EXPECT_THAT(defects[0].reason, HasSubstr("4 of the 8 GPUs of good are present; missing: 0000:"));
  const HostView none = ParseSynthetic("nic").value();
  EXPECT_THAT(Judged(none, &GoodHgx()),
              ElementsAre("error gpu-missing 0 GPUs", "error nic-missing 1 ports"));
}

TEST(CheckExpectedTest, ReportsAValueThatIsLowerOnAllParts) {
  const HostView view = DefectiveView(kHgxH100, [](HostView& v) {
    for (const Gpu& gpu : v.gpus) v.pci[gpu.pci].link_speed = PcieSpeed::Of(4);
    for (NetInterface& net : v.nets) net.speed_mbit_per_s = 200'000;
  });
  const std::vector<std::string> said = Judged(view, &GoodHgx());
  EXPECT_EQ(std::ranges::count_if(
                said, [](const auto& one) { return one.starts_with("error gpu-pcie"); }),
            8);
  EXPECT_EQ(std::ranges::count_if(
                said, [](const auto& one) { return one.starts_with("error nic-rate"); }),
            8);
}

TEST(CheckExpectedTest, ReportsMissingNvLinkBridges) {
  const HostView bridged = ParseSynthetic("4 gpu a100-pcie pairs").value();
  const HostView bare = ParseSynthetic("4 gpu a100-pcie").value();
  const std::vector<std::string> said = Judged(bare, &bridged);
  EXPECT_EQ(said.size(), 4u);
  EXPECT_THAT(said, Each(StartsWith("error nvlinks-none")));
}

TEST(CheckExpectedTest, ReportsAnotherModel) {
  const HostView other = DefectiveView(kHgxH100, [](HostView& v) {
    for (const Gpu& gpu : v.gpus) v.pci[gpu.pci].ids.device = 0x2335;
  });
  const std::vector<std::string> said = Judged(other, &GoodHgx());
  EXPECT_EQ(said.size(), 8u);
  EXPECT_THAT(said, Each(StartsWith("error gpu-other-model")));
}

TEST(CheckExpectedTest, ReportsADefectOnce) {
  const HostView view = DefectiveView(kHgxH100, [](HostView& v) {
    v.pci[v.gpus[3].pci].link_width = 4;
    v.gpus[3].links[0].count = 9;
    v.nets[0].speed_mbit_per_s = 100'000;
  });
  EXPECT_EQ(Judged(view, &GoodHgx()).size(), 3u);
}

TEST(CheckExpectedTest, IgnoresDefectsThatTheExpectedMachineShares) {
  const HostView tray = DefectiveView("(switch: gpu h100-sxm5, nic 400g)", [](HostView& v) {
    v.pci[0].link_speed = PcieSpeed::Of(4);
    v.pci[0].link_width = 1;
  });
  EXPECT_THAT(Judged(tray), testing::Contains(StartsWith("warning narrow-link")));
  EXPECT_THAT(Judged(tray, &tray), IsEmpty());
}

TEST(CheckExpectedTest, ReportsC2cAndGpudirectThatAllGpusLack) {
  const HostView good = DefectiveView("2 gpu h100-sxm5", [](HostView& v) {
    for (Gpu& gpu : v.gpus) {
      gpu.c2c = {{.mb_per_s = 40'000, .count = 10}};
      gpu.gdr = true;
    }
  });
  HostView view = good;
  for (Gpu& gpu : view.gpus) {
    gpu.c2c.front().count = 5;
    gpu.gdr = false;
  }
  const std::vector<std::string> said = Judged(view, &good);
  EXPECT_THAT(said, testing::Contains(StartsWith("error c2c-fewer")));
  EXPECT_THAT(said, testing::Contains(StartsWith("warning gpu-gdr")));
}

}  // namespace
}  // namespace ringlet::topology
