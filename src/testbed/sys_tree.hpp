// Derives the files of /sys for a machine from its topology file. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "os/fs/file_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::testbed {

/// Treatment of the computer's own entries in a folder that the machine has, too.
enum class OtherEntries : std::uint8_t {
  kAll,      ///< the entries stay
  kFolders,  ///< only folders stay: drivers keep the program's disks and networks below a function
  kNone,     ///< the entries are hidden
};

struct SysEntry {
  enum class EntryType : std::uint8_t { kFolder, kFile, kLink };
  EntryType type = EntryType::kFolder;
  std::string content = {};  ///< of a file; for a link, its target
  OtherEntries others = OtherEntries::kAll;
};

struct SysTree {
  /// By path from the root: "/sys/class/net". Folders precede their contents. kSysCpuInfo is
  /// present if the computer's /proc/cpuinfo names another processor.
  std::map<std::string, SysEntry> entries = {};
};

/// The file shown as /proc/cpuinfo.
inline constexpr std::string_view kSysCpuInfo = "/sys/.cpuinfo";

/// The parts of the computer that stay in place.
struct ComputerSys {
  std::set<topology::BusId> functions = {};  ///< PCI functions
  std::set<std::string> interfaces = {};     ///< network interfaces
  std::string cpu_info = {};                 ///< /proc/cpuinfo
  std::uint64_t memory_kib = 0;
};

/// The owner of /sys/devices/system/cpu. Some programs start a thread per processor there.
enum class SysCpus : std::uint8_t {
  kComputer,
  kMachine,  ///< each as a core of its own, because a file contains neither cores nor packages
};

ComputerSys ReadComputerSys(const os::FileTree& files);

/// Takes functions, switches and NUMA nodes from the file, and interfaces and RDMA ports too. If
/// the computer has an interface of the same name, the computer's stays. Two parts are invented:
/// ports between devices, and the memory of NUMA nodes, an equal share of the computer's.
/// Errors  kUnsupported  it has more PCI devices than kSysFunctionsMax
Result<SysTree> SysTreeOf(const topology::HostView& view, const ComputerSys& computer,
                          SysCpus cpus = SysCpus::kComputer);

inline constexpr std::size_t kSysFunctionsMax = 4096;

/// Returns `text` with the vendor, family, model and name of `cpu` in each processor. Empty if
/// `text` is of another architecture, or already has them.
std::string CpuInfoOf(std::string_view text, const topology::CpuModel& cpu);

}  // namespace ringlet::testbed
