// Captured machines, read by Ringlet and by hwloc: the PCI tree, speeds and places must be equal.
//
// NAME.hwloc.txt beside NAME.tar.bz2 contains hwloc's output; an installed hwloc runs again.
// NAME.topo.xml contains Ringlet's view of the whole machine. WRITE_FIXTURES=FOLDER rewrites both.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/value/text.hpp"
#include "discovery/pci_view.hpp"
#include "discovery/scan.hpp"
#include "hwloc_lines.hpp"
#include "os/fs/file_tree.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::discovery {

std::string ToString(const FunctionLine& line) {
  return fmt::format("{} below {} class {:#06x} ids {:016x} MB/s {} nodes {}", line.bus,
                     line.parent, line.device_class, line.ids, line.mb_per_s, line.nodes);
}

namespace {

using os::FileTree;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using topology::BusId;
using topology::CpuSet;
using topology::HostView;

/// Payload of a link in MB/s: transfers, less 8b/10b or 128b/130b, times lanes.
unsigned MbPerS(const PciLink& link) {
  constexpr double kTransfers[] = {0, 2.5, 5, 8, 16, 32, 64, 128};
  const double code = link.speed.generation <= 2 ? 0.8 : 128.0 / 130.0;
  return static_cast<unsigned>(
      std::lround(kTransfers[link.speed.generation] * code * link.width * 1000 / 8));
}

class Captured : public testing::TestWithParam<const char*> {
 protected:
  std::string Root() const { return std::string(CAPTURED) + "/" + GetParam(); }
  FileTree files_ = FileTree::Open(Root()).value();
  HostView view_ = Scan(files_, {.host_name = GetParam()}).value().view;
  std::vector<std::string> missing_;
  Sysfs sysfs_{files_, missing_};
  std::vector<PciFunction> functions_ = ListPci(sysfs_);

  /// Returns all nodes as a list. hwloc puts devices without a near node there.
  std::string AllNodes() const {
    std::string list;
    for (const auto& node : view_.numa_nodes)
      if (node.id != topology::kUnknownNuma)
        list += fmt::format("{}{}", list.empty() ? "" : ",", node.id);
    return ToString(CpuSet::Parse(list).value());
  }

  CpuSet AllCpus() const {
    std::string list;
    for (const auto& node : view_.numa_nodes)
      if (!node.cpus.empty()) list += (list.empty() ? "" : ",") + ToString(node.cpus);
    return CpuSet::Parse(list).value();
  }

  FunctionLine LineOf(PciView& pci, const PciFunction& listed) {
    const PciFunction function = *pci.Detailed(listed.bus);
    FunctionLine line;
    line.bus = ToString(function.bus);
    const auto above = std::find_if(function.above.begin(), function.above.end(),
                                    [&](BusId bus) { return Find(functions_, bus) != nullptr; });
    line.parent = above == function.above.end() ? "root" : ToString(*above);
    line.device_class = function.device_class ? function.device_class->code >> 8 : 0;
    line.ids = function.ids.packed();
    line.mb_per_s = MbPerS(function.current);
    const std::optional<std::uint32_t> numa = pci.NumaOf(function.bus);
    // hwloc uses the nearby CPUs, and does not read numa_node, which may be more accurate.
    const bool near_all = ToString(function.local_cpus) == ToString(AllCpus());
    if (near_all && function.numa && view_.numa_nodes.size() > 1) {
      known_better_.push_back(fmt::format("{} at node {}", line.bus, *numa));
      line.nodes = AllNodes();
      return line;
    }
    line.nodes = numa ? fmt::format("{}", *numa) : AllNodes();
    return line;
  }

  std::string Fixture(const std::string& ending) const {
    const FileTree fixtures = FileTree::Open(FIXTURES).value();
    const Result<std::string> text = fixtures.Read(GetParam() + ending);
    return text.ok() ? *text : text.error().message;
  }

  /// Rewrites a fixture on request.
  void Offer(const std::string& ending, const std::string& text) const {
    if (const char* const folder = std::getenv("WRITE_FIXTURES"))
      std::ofstream(std::string(folder) + "/" + GetParam() + ending) << text;
  }

  /// hwloc only supports domains of four digits.
  std::vector<std::string> Lines() {
    PciView pci(sysfs_, functions_, view_);
    std::vector<std::string> lines;
    for (const PciFunction& function : functions_)
      if (function.bus.domain() <= 0xffff) lines.push_back(ToString(LineOf(pci, function)));
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  std::vector<std::string> Golden() const {
    const std::string text = Fixture(".hwloc.txt");
    std::vector<std::string> lines;
    for (const std::string_view line : Split(text, '\n'))
      if (!line.empty()) lines.emplace_back(line);
    return lines;
  }

  std::vector<std::string> known_better_;
};

INSTANTIATE_TEST_SUITE_P(Machines, Captured,
                         testing::Values("2pa-pcidomain32bits", "32intel64-2p8co2t+8ve",
                                         "40intel64-2g2n4c+pcilocality", "nvidia-dgx-gb10",
                                         "nvidiagpunumanodes"),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
                           return name;
                         });

#ifdef WITH_HWLOC
TEST_P(Captured, HwlocReproducesItsRecordedOutput) {
  const std::vector<std::string> lines = LinesOfHwloc(Root());
  Offer(".hwloc.txt", fmt::format("{}\n", fmt::join(lines, "\n")));
  EXPECT_THAT(lines, ElementsAreArray(Golden()));
}
#endif

TEST_P(Captured, PciTreeSpeedsAndPlacesAreThoseOfHwloc) {
  EXPECT_THAT(Lines(), ElementsAreArray(Golden()));
  if (std::string_view(GetParam()) == "40intel64-2g2n4c+pcilocality") {
    EXPECT_THAT(known_better_, ElementsAre("0000:43:00.0 at node 2"));
  } else {
    EXPECT_THAT(known_better_, IsEmpty());
  }
}

TEST_P(Captured, TheViewEqualsTheFixture) {
  const std::string xml = ToXml(view_);
  Offer(".topo.xml", xml);
  EXPECT_EQ(xml, Fixture(".topo.xml"));
}

TEST(CapturedDomains, ReadsDomainsOfMoreThanFourDigits) {
  const FileTree files = FileTree::Open(std::string(CAPTURED) + "/2pa-pcidomain32bits").value();
  std::vector<std::string> missing;
  Sysfs sysfs(files, missing);
  const std::vector<PciFunction> functions = ListPci(sysfs);
  for (const std::uint8_t device : {std::uint8_t{0}, std::uint8_t{4}})
    EXPECT_NE(Find(functions, BusId::Of(0x10000, 0, device, 0)), nullptr);
}

}  // namespace
}  // namespace ringlet::discovery
