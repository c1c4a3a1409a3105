#include <fmt/format.h>
#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kOneOfEach = "(switch: gpu h100-sxm5, nic 400g)";

/// Judges one function with PCIe 5.0 x16 at both ends.
std::vector<std::string> JudgedAt(std::uint32_t pci, std::uint8_t generation, std::uint16_t width) {
  const HostView view = ParseSynthetic(kOneOfEach).value();
  const std::vector<LinkState> links = {{.bus = view.pci[pci].bus,
                                         .speed = PcieSpeed::Of(generation),
                                         .width = width,
                                         .best_speed = PcieSpeed::Of(5),
                                         .best_width = 16}};
  const Positions none;
  std::vector<std::string> said;
  for (const Defect& defect : Check({.view = view, .positions = none, .links = links}))
    said.push_back(fmt::format("{} {}: {}", defect.rule->word, defect.name, defect.reason));
  return said;
}

TEST(CheckLinkStatesTest, AcceptsALinkAtItsFullSpeed) {
  for (const std::uint32_t pci : {0u, 1u, 2u}) EXPECT_THAT(JudgedAt(pci, 5, 16), IsEmpty());
}

TEST(CheckLinkStatesTest, FewerLanesAreADefectOnAnyFunction) {
  EXPECT_THAT(JudgedAt(1, 5, 8),
              ElementsAre("link-reduced GPU0 (h100-sxm5): runs at PCIe 5.0 x8; both ends support "
                          "PCIe 5.0 x16"));
  EXPECT_THAT(JudgedAt(2, 5, 4), ElementsAre(testing::StartsWith("link-reduced NIC nic0")));
}

TEST(CheckLinkStatesTest, ASlowGpuLinkMayRestButASlowNicLinkMayNot) {
  EXPECT_THAT(JudgedAt(1, 1, 16), ElementsAre(testing::StartsWith("link-at-rest GPU0")));
  EXPECT_THAT(JudgedAt(2, 1, 16), ElementsAre(testing::StartsWith("link-reduced NIC nic0")));
  EXPECT_THAT(JudgedAt(0, 1, 16), ElementsAre(testing::StartsWith("link-reduced PCIe switch")));
}

}  // namespace
}  // namespace ringlet::topology
