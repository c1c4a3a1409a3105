// Parses numbers in texts of /proc and /sys. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::cli {

/// Parses a quota in cpu.max, "max 100000" or "150000 100000", as percent of a core. Null: no
/// limit.
std::optional<std::uint32_t> QuotaPercent(std::string_view cpu_max);
/// Parses the quota in the two files of control groups version 1. A quota of -1 means no limit.
std::optional<std::uint32_t> QuotaPercent(std::string_view quota_us, std::string_view period_us);

/// Parses "max" or a number. Returns doctor::kUnlimited for "max" and for text that is not a
/// number. Version 1 uses a number near 2^63 for no limit.
std::uint64_t LimitOf(std::string_view text);

/// Returns the folders of /sys/fs/cgroup that limit the process with this /proc/self/cgroup. Its
/// own group is first and the root is last.
/// \param controller  "cpu", "memory" or "pids" of version 1; version 2 has one tree for all
std::vector<std::string> ControlGroups(std::string_view proc_self_cgroup,
                                       std::string_view controller);

/// Marks the local ports of the sockets listed in /proc/net/tcp, tcp6, udp or udp6.
/// \param seen  has 65,536 entries, indexed by port
void MarkPorts(std::string_view proc_net, std::vector<bool>& seen);

/// Returns the bytes in a line "Name:  123 kB"; 0 if the line is missing.
std::uint64_t MeminfoBytes(std::string_view meminfo, std::string_view name);

/// Returns the word in brackets of a text such as "always [madvise] never".
std::string ChosenWord(std::string_view text);

}  // namespace ringlet::cli
