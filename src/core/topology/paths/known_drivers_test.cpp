#include "topology/paths/known_drivers.hpp"

#include <gtest/gtest.h>

#include "topo/edit/machines_for_test.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::topology {
namespace {

/// Two pairs of cards below a switch. A bridge joins the first pair.
HostView CardsOf(std::string_view model) {
  MachineForTest machine;
  machine.Numa(0).Switch(1);
  machine.Gpu(0x11, 86).NvLink(0x12, 4).Gpu(0x12, 86).NvLink(0x11, 4);
  machine.Gpu(0x13, 86).Gpu(0x14, 86);
  for (const Gpu& gpu : machine.view.gpus)
    machine.view.pci[gpu.pci].ids = {.vendor = 0x10de, .device = FindGpuModel(model)->device};
  return machine.view;
}

TEST(KnownDriversTest, GeForceCardsAccessEachOtherOverNvLinkOnly) {
  const HostView view = CardsOf("rtx3090");
  const Graph graph = Build({&view, 1}, {}, {.gpus = GpuRanks::kAll}).value();
  const auto access = KnownPeerAccess({&view, 1}, graph);
  ASSERT_TRUE(access);
  EXPECT_TRUE(access(Rank{0}, Rank{1}));
  EXPECT_FALSE(access(Rank{0}, Rank{2}));
  EXPECT_FALSE(access(Rank{2}, Rank{3}));
}

TEST(KnownDriversTest, AccessOfOtherGpusIsUnknown) {
  const HostView view = CardsOf("a10g");
  const Graph graph = Build({&view, 1}, {}, {.gpus = GpuRanks::kAll}).value();
  EXPECT_FALSE(KnownPeerAccess({&view, 1}, graph));
}

}  // namespace
}  // namespace ringlet::topology
