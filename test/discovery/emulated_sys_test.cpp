// Writes /sys of an emulated machine into a folder and reads it with our own discovery. The result
// is the original topology file, except for facts absent from /sys.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "discovery/scan.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "testbed/sys_tree.hpp"
#include "topo/edit/compare.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::testbed {
namespace {

topology::HostView ViewOf(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return topology::ViewFromXml(text.str(), file.filename().string()).value();
}

/// Returns an x86 computer without devices.
ComputerSys Computer() {
  ComputerSys computer;
  computer.cpu_info =
      "processor\t: 0\nvendor_id\t: NobodysCpu\ncpu family\t: 0\nmodel\t\t: 0\nmodel name\t: x\n\n";
  return computer;
}

topology::HostView ReadBack(const topology::HostView& view) {
  os::TempTree folder;
  const SysTree tree = SysTreeOf(view, Computer()).value();
  for (const auto& [path, entry] : tree.entries) {
    const std::string at = path.substr(1);
    switch (entry.type) {
      case SysEntry::EntryType::kFolder: folder.Directory(at); break;
      case SysEntry::EntryType::kFile: folder.Write(at, entry.content); break;
      case SysEntry::EntryType::kLink: folder.Link(at, entry.content); break;
    }
  }
  const auto cpu_info = tree.entries.find(std::string(kSysCpuInfo));
  folder.Write("proc/cpuinfo",
               cpu_info == tree.entries.end() ? Computer().cpu_info : cpu_info->second.content);
  return discovery::Scan(os::FileTree::Open(folder.root()).value(), {.host_name = "x"})
      .value()
      .view;
}

/// Facts of GPUs are from a driver, and facts of ports from plugins. Interfaces without hardware
/// have no place.
std::vector<std::string> Unexpected(const topology::HostView& view,
                                    const std::vector<std::string>& differences) {
  const std::regex told_elsewhere(
      "GPU .*|interface .*: (GPUDirect RDMA|in-network reduction|the port|the device number|the "
      "latency|the number of connections|.* API).*|.*order.*");
  std::vector<std::string> rest;
  for (const std::string& line : differences) {
    if (std::regex_match(line, told_elsewhere)) continue;
    bool is_virtual = false;
    for (const topology::NetInterface& net : view.nets)
      if (!net.nic || view.nics[*net.nic].parent.kind != topology::PartKind::kPci)
        is_virtual = is_virtual || line.starts_with("interface " + net.name);
    if (!is_virtual) rest.push_back(line);
  }
  return rest;
}

// test/emulate reads the machines usable by CUDA programs.
TEST(EmulatedSysTest, MachinesOfAllKindsRoundTrip) {
  for (const char* name : {"mi250x", "mi300x", "dgx-a100", "azure-nd-h100-v5", "hgx-b200"}) {
    const topology::HostView view = ViewOf(fmt::format("{}/{}.xml", MACHINES, name));
    EXPECT_THAT(Unexpected(view, topology::Compare(view, ReadBack(view))), testing::IsEmpty())
        << name;
  }
}

TEST(EmulatedSysTest, ChangedFilesGiveDifferences) {
  topology::HostView view = ViewOf(std::string(MACHINES) + "/mi300x.xml");
  const topology::HostView again = ReadBack(view);
  view.pci[2].link_width = 4;
  view.pci[3].ids.device = 1;
  EXPECT_THAT(Unexpected(view, topology::Compare(view, again)), testing::SizeIs(2));
}

}  // namespace
}  // namespace ringlet::testbed
