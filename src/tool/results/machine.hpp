// Describes the machine on which a result was measured.
#pragma once
#include <cstdint>
#include <string>

namespace ringlet::cli {

/// Texts of the system; empty if the system does not provide them.
struct MachineFacts {
  std::string cpuinfo;     ///< /proc/cpuinfo
  std::string os_release;  ///< /etc/os-release
  std::string kernel;      ///< /proc/sys/kernel/osrelease
  std::string memory;      ///< /proc/meminfo
  std::uint32_t cores = 0;
};
MachineFacts ReadMachine();

/// Returns "2 cores (AMD EPYC 9B45, virtual machine), 24 GiB, Debian GNU/Linux 12, kernel 6.18".
std::string MachineText(const MachineFacts& facts);

/// Returns a date such as "2026-11-23".
std::string Today();

/// Returns the command line of this process: "ringlet bench all_reduce -n 4".
std::string OwnCommandLine();

}  // namespace ringlet::cli
