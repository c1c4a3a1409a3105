#include "topo/edit/complete.hpp"

#include <gmock/gmock.h>

#include "topo/edit/synthetic.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

/// A machine in words, without the parts that a skeleton leaves out.
HostView Skeleton(std::string_view words) {
  HostView view = ParseSynthetic(words).value();
  for (PciDevice& device : view.pci) device.ids = {};
  view.gpus.clear();
  view.nics.clear();
  view.nets.clear();
  return view;
}

TEST(CompleteTest, RecognizesASkeleton) {
  EXPECT_TRUE(IsSkeleton(Skeleton("2 gpu, nic")));
  EXPECT_TRUE(IsSkeleton(Skeleton("2 nic")));
  EXPECT_FALSE(IsSkeleton(ParseSynthetic("2 gpu, nic").value()));
  EXPECT_FALSE(IsSkeleton(ParseSynthetic("2 nic").value()));
}

TEST(CompleteTest, RestoresThePartsThatASkeletonLacks) {
  const char* words = "2x(numa: 2x(switch: 2 gpu a100-sxm4 switch, 1 nic))";
  const HostView whole = ParseSynthetic(words).value();
  const Result<Completed> completed = Complete(
      Skeleton(words),
      {.gpu = FindGpuModel("a100-sxm4"), .layout = LinkLayout::kSwitch, .nic_mbit_per_s = 200'000});
  ASSERT_TRUE(completed.ok());
  EXPECT_EQ(completed->view.gpus, whole.gpus);
  EXPECT_EQ(completed->view.nics, whole.nics);
  ASSERT_EQ(completed->view.nets.size(), 4u);
  EXPECT_EQ(completed->view.nets[3].speed_mbit_per_s, 200'000u);
  EXPECT_EQ(completed->view.nets[3].numa, 1u);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(completed->view.nets[i].name, whole.nets[i].name);
    EXPECT_EQ(completed->view.nets[i].dev, i);
  }
  EXPECT_EQ(completed->notes.size(), 3u);
}

TEST(CompleteTest, AGpuWithoutIdsReceivesThoseOfItsModel) {
  HostView view = Skeleton("2 gpu");
  view.pci[1].ids = {.vendor = 0x10de, .device = 0x1234, .subsystem_vendor = 1};
  const PciIds known = view.pci[1].ids;
  const Completed completed = Complete(view, {.gpu = FindGpuModel("h100-sxm5")}).value();
  EXPECT_EQ(completed.view.pci[0].ids, (PciIds{0x10de, 0x2330, 0, 0}));
  EXPECT_EQ(completed.view.pci[1].ids, known);
}

TEST(CompleteTest, NumbersGpusByBusId) {
  HostView view = Skeleton("2 gpu");
  std::swap(view.pci[0].bus, view.pci[1].bus);
  const Completed completed = Complete(view, {.gpu = FindGpuModel("a10g")}).value();
  ASSERT_EQ(completed.view.gpus.size(), 2u);
  EXPECT_EQ(completed.view.gpus[0].pci, 0u);
  EXPECT_EQ(completed.view.gpus[0].dev, 1u);
  EXPECT_EQ(completed.view.gpus[1].dev, 0u);
}

TEST(CompleteTest, EveryHostCountsItsOwnGpus) {
  const char* words = "2x(host: 2 gpu a10g)";
  EXPECT_EQ(Complete(Skeleton(words), {.gpu = FindGpuModel("a10g")}).value().view.gpus,
            ParseSynthetic(words).value().gpus);
}

TEST(CompleteTest, DoesNotReuseTakenNumbers) {
  HostView view = ParseSynthetic("2 gpu a10g").value();
  view.gpus.erase(view.gpus.begin());  // device 1 stays
  const Completed completed = Complete(view, {}).value();
  ASSERT_EQ(completed.view.gpus.size(), 2u);
  EXPECT_EQ(completed.view.gpus[0].dev, 2u);
  EXPECT_EQ(completed.view.gpus[0].rank, std::nullopt);
  EXPECT_EQ(completed.view.gpus[1].dev, 1u);
}

TEST(CompleteTest, AKnownDeviceNeedsNoModel) {
  HostView view = Skeleton("2 gpu");
  EXPECT_THAT(Complete(view, {}).error().message,
              HasSubstr("GPU 0000:01:00.0 is unknown; name it"));
  for (PciDevice& device : view.pci) device.ids = {0x10de, 0x20f1, 0, 0};
  const Completed completed = Complete(view, {.layout = LinkLayout::kPairs}).value();
  EXPECT_EQ(completed.view.gpus[0].compute_capability, 80u);
  EXPECT_EQ(completed.view.gpus[1].links[0].target, view.pci[0].bus);
  EXPECT_EQ(completed.view.gpus[1].links[0].count, 12u);
}

TEST(CompleteTest, KeepsGivenParts) {
  HostView view = ParseSynthetic("gpu, nic 400g").value();
  const HostView before = view;
  EXPECT_EQ(Complete(view, {}).value().view, before);
}

TEST(CompleteTest, LayoutsGiveEveryGpuItsLinks) {
  for (const LinkLayout layout : {LinkLayout::kSwitch, LinkLayout::kMesh, LinkLayout::kCubeMesh}) {
    HostView view = ParseSynthetic("8 gpu").value();
    ASSERT_TRUE(LinkGpus(view, {0, 1, 2, 3, 4, 5, 6, 7}, layout,
                         layout == LinkLayout::kMesh ? 7 : 6, GpuLinkKind::kNvLink)
                    .ok());
    for (const Gpu& gpu : view.gpus) {
      std::uint32_t links = 0;
      for (const GpuLink& link : gpu.links) links += link.count;
      EXPECT_EQ(links, layout == LinkLayout::kMesh ? 7u : 6u);
    }
  }
}

TEST(CompleteTest, RefusesLayoutsThatDoNotFit) {
  HostView view = ParseSynthetic("3 gpu").value();
  const auto fits = [&](LinkLayout layout, std::uint32_t links) {
    return LinkGpus(view, {0, 1, 2}, layout, links, GpuLinkKind::kNvLink).ok();
  };
  EXPECT_FALSE(fits(LinkLayout::kPairs, 4));
  EXPECT_FALSE(fits(LinkLayout::kMesh, 1));
  EXPECT_FALSE(fits(LinkLayout::kCubeMesh, 6));
  EXPECT_FALSE(fits(LinkLayout::kSwitch, 0));
  EXPECT_TRUE(fits(LinkLayout::kNone, 0));
  EXPECT_TRUE(fits(LinkLayout::kMesh, 2));
}

TEST(CompleteTest, EveryKnownMachineCompletes) {
  for (const KnownMachine& machine : KnownMachines()) {
    const HostView view = Skeleton(std::to_string(machine.gpus) + " gpu, nic");
    EXPECT_TRUE(Complete(view, CompletionOf(machine)).ok()) << machine.name;
  }
}

}  // namespace
}  // namespace ringlet::topology
