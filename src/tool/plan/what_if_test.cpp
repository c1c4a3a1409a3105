#include "tool/plan/what_if.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "topo/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using topology::HostView;

HostView MachineView(std::string_view words = "2x(numa: (switch: 2 gpu, 1 nic 100g))") {
  return topology::ParseSynthetic(words).value();
}

std::string ErrorOf(std::string_view change) {
  const auto changed = ChangedView(MachineView(), change);
  return changed.ok() ? "" : changed.error().message;
}

TEST(WhatIfTest, ChangesThePcieLinkOfASingleGpu) {
  const HostView before = MachineView();
  const HostView after = ChangedView(before, "GPU3 pcie=gen5x8").value();
  for (std::size_t i = 0; i < before.gpus.size(); ++i) {
    const topology::PciDevice& function = after.pci[after.gpus[i].pci];
    if (i == 3)
      EXPECT_TRUE(function.link_speed == topology::PcieSpeed::Of(5) && function.link_width == 8);
    else
      EXPECT_EQ(function, before.pci[before.gpus[i].pci]);
  }
  const std::string bus = ToString(before.pci[before.gpus[3].pci].bus);
  EXPECT_EQ(ChangedView(before, bus + " pcie=gen5x8").value(), after) << "by its address";
  EXPECT_EQ(ChangedView(before, "gpu3  pcie=gen5x8 ").value(), after) << "blanks and case";
}

TEST(WhatIfTest, ChangesAllPartsOfAKindTogether) {
  const HostView before = MachineView();
  const HostView rate = ChangedView(before, "NICs rate=400Gb/s gdr=off").value();
  for (const topology::NetInterface& net : rate.nets) {
    EXPECT_EQ(net.speed_mbit_per_s, 400'000u);
    EXPECT_EQ(net.gdr, false);
  }
  const HostView switches = ChangedView(before, "switches pcie=gen6x16").value();
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.pci.size(); ++i)
    changed += switches.pci[i].link_speed == topology::PcieSpeed::Of(6) ? 1u : 0u;
  EXPECT_EQ(changed, 2u);
  EXPECT_EQ(ChangedView(before, "GPU0,GPU1,GPU2,GPU3 gdr=off").value(),
            ChangedView(before, "GPUs gdr=off").value());
}

TEST(WhatIfTest, DividesNvLinksInProportionAtBothEnds) {
  const HostView mesh = MachineView("4 gpu mi300x mesh");
  std::uint32_t before = 0, after = 0;
  for (const auto& link : mesh.gpus[0].links) before += link.count;
  const HostView changed = ChangedView(mesh, "GPU0 nvlinks=9").value();
  for (const auto& link : changed.gpus[0].links) after += link.count;
  EXPECT_EQ(after, 9u);
  EXPECT_NE(before, after);
  const auto count = [&](std::size_t from, std::size_t to) {
    const auto& links = changed.gpus[from].links;
    const auto at = std::ranges::find(links, std::optional(changed.pci[changed.gpus[to].pci].bus),
                                      &topology::GpuLink::target);
    return at == links.end() ? 0u : at->count;
  };
  for (std::size_t i = 1; i < changed.gpus.size(); ++i) EXPECT_EQ(count(0, i), count(i, 0)) << i;
  const HostView none = ChangedView(mesh, "GPU0 nvlinks=0").value();
  EXPECT_TRUE(none.gpus[0].links.empty());
  EXPECT_EQ(none.gpus[1].links.size(), mesh.gpus[1].links.size() - 1);
}

TEST(WhatIfTest, RemovesAndAddsParts) {
  const HostView before = MachineView();
  EXPECT_EQ(ChangedView(before, "remove GPU1,GPU2")->gpus.size(), 2u);
  EXPECT_EQ(ChangedView(before, "remove GPU1 GPU2").value(),
            ChangedView(before, "remove GPU2,GPU1").value());
  const std::string port = before.nets[1].name;
  const HostView without = ChangedView(before, "remove " + port).value();
  ASSERT_EQ(without.nets.size(), 1u);
  EXPECT_EQ(without.nets[0].name, before.nets[0].name);
  EXPECT_EQ(ChangedView(before, "add " + port)->nets.size(), 3u);
  EXPECT_EQ(ChangedView(before, "add GPU0")->gpus.size(), 5u);
}

TEST(WhatIfTest, AppliesChangesInOrder) {
  const ViewEdit edit = EditOf({"remove GPU3", "GPUs pcie=gen3x16"});
  const HostView after = edit(MachineView()).value();
  EXPECT_EQ(after.gpus.size(), 3u);
  for (const topology::Gpu& gpu : after.gpus)
    EXPECT_EQ(after.pci[gpu.pci].link_speed, topology::PcieSpeed::Of(3));
  EXPECT_FALSE(EditOf({}));
}

TEST(WhatIfTest, QuotesAnInvalidChangeAndNamesValidOnes) {
  EXPECT_THAT(ErrorOf("GPU3"), HasSubstr("a change needs a part and a setting: pcie=gen5x16"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("a change needs a part and a setting"));
  EXPECT_THAT(ErrorOf("GPU9 pcie=gen5x16"),
              HasSubstr("no part is called \"GPU9\"; the parts are GPU0"));
  for (const char* value :
       {"gen5", "5x16", "gen0x16", "gen8x16", "gen5x0", "gen5x33", "gen5x16x", "", "genx16"})
    EXPECT_THAT(ErrorOf(std::string("GPU3 pcie=") + value),
                HasSubstr("pcie takes a generation and lanes, gen1x1 to gen7x32"))
        << value;
  EXPECT_THAT(ErrorOf("GPU3 rate=100Gb/s"),
              HasSubstr("is not a port of a NIC, so it does not have a rate"));
  EXPECT_THAT(ErrorOf("NICs rate=fast"), HasSubstr("is not a bandwidth"));
  EXPECT_THAT(ErrorOf("NICs rate=0"), HasSubstr("remove the port"));
  EXPECT_THAT(ErrorOf("GPU3 nvlinks=4"),
              HasSubstr("does not have NVLinks, so its neighbours are unknown"));
  EXPECT_THAT(ErrorOf("NICs nvlinks=4"), HasSubstr("is not a GPU, so it does not have NVLinks"));
  EXPECT_THAT(ErrorOf("GPU3 nvlinks=-1"), HasSubstr("nvlinks takes a number of links, 0 to 1024"));
  EXPECT_THAT(ErrorOf("GPU3 gdr=maybe"), HasSubstr("gdr takes on or off"));
  EXPECT_THAT(ErrorOf("GPU3 colour=red"),
              HasSubstr("\"colour=red\" is not a setting; the settings are pcie="));
  EXPECT_THAT(ErrorOf("NUMA0 pcie=gen5x16"), HasSubstr("NUMA0 is not a GPU, port or PCI function"));
  EXPECT_THAT(ErrorOf("ffff:ff:00.0 pcie=gen5x16"),
              HasSubstr("PCI function ffff:ff:00.0 does not exist"));
  EXPECT_THAT(ErrorOf("remove switches"), HasSubstr("is neither a GPU nor a port of a NIC"));
  EXPECT_THAT(ErrorOf("remove"), HasSubstr("--what-if \"remove\": a change needs"));
  const auto no_switch = ChangedView(MachineView("2 gpu"), "switches pcie=gen5x16");
  EXPECT_THAT(no_switch.error().message, HasSubstr("the machine does not have switches"));
}

}  // namespace
}  // namespace ringlet::cli
