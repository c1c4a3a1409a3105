// The files of /sys that a machine would have, from its topology file. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "os/fs/file_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::testbed {

/// The fate of the computer's own entries of a folder that the machine has, too.
enum class OtherEntries : std::uint8_t {
  kAll,      ///< they stay
  kFolders,  ///< folders stay: drivers keep the program's disks and networks below a function
  kNone,     ///< they are hidden
};

struct SysEntry {
  enum class EntryType : std::uint8_t { kFolder, kFile, kLink };
  EntryType type = EntryType::kFolder;
  std::string content = {};  ///< of a file; the target of a link
  OtherEntries others = OtherEntries::kAll;
};

struct SysTree {
  /// By path from the root: "/sys/class/net". Folders come before what is in them. kSysCpuInfo is
  /// among them where /proc/cpuinfo of the computer names another processor.
  std::map<std::string, SysEntry> entries = {};
};

/// The file that is shown as /proc/cpuinfo.
inline constexpr std::string_view kSysCpuInfo = "/sys/.cpuinfo";

/// The parts of the computer that the machine must leave in place.
struct ComputerSys {
  std::set<topology::BusId> functions = {};  ///< of PCI
  std::set<std::string> interfaces = {};     ///< of the network
  std::string cpu_info = {};                 ///< /proc/cpuinfo
  std::uint64_t memory_kib = 0;
};

/// The owner of the processors in /sys/devices/system/cpu. Programs that count them there start as
/// many threads.
enum class SysCpus : std::uint8_t {
  kComputer,
  kMachine,  ///< each as a core of its own: a file says neither cores nor packages
};

ComputerSys ReadComputerSys(const os::FileTree& files);

/// Functions, switches and NUMA nodes are those of the file; so are interfaces and RDMA ports, but
/// an interface of a name that the computer has stays the computer's. Nothing else is made up but
/// ports between devices, and the memory of NUMA nodes: each has a share of the computer's.
/// Errors  kUnsupported  it has more PCI devices than kSysFunctionsMax
Result<SysTree> SysTreeOf(const topology::HostView& view, const ComputerSys& computer,
                          SysCpus cpus = SysCpus::kComputer);

inline constexpr std::size_t kSysFunctionsMax = 4096;

/// `text` with vendor, family, model and name of `cpu` in each processor; empty where it is of
/// another architecture, or has them already.
std::string CpuInfoOf(std::string_view text, const topology::CpuModel& cpu);

}  // namespace ringlet::testbed
