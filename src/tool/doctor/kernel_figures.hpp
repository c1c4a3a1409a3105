// Figures out of texts of /proc and /sys. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::cli {

/// The quota of "max 100000" or "150000 100000" (cpu.max): percent of one core; nothing: no limit.
std::optional<std::uint32_t> QuotaPercent(std::string_view cpu_max);
/// The same of the two files of control groups of version 1; a quota of -1 is none.
std::optional<std::uint32_t> QuotaPercent(std::string_view quota_us, std::string_view period_us);

/// "max" or a number; doctor::kUnlimited for "max", and for what is no number. Version 1 has a
/// number near 2^63 for no limit.
std::uint64_t LimitOf(std::string_view text);

/// The folders of /sys/fs/cgroup that limit the process whose /proc/self/cgroup this is, its own
/// first and the root last.
/// \param controller  "cpu", "memory", "pids": of version 1; version 2 has one tree for all
std::vector<std::string> ControlGroups(std::string_view proc_self_cgroup,
                                       std::string_view controller);

/// Marks the local ports of the sockets in a text of /proc/net/tcp, tcp6, udp or udp6.
/// \param seen  by port, 65,536 of them
void MarkPorts(std::string_view proc_net, std::vector<bool>& seen);

/// Bytes of "Name:  123 kB", 0 where it is missing.
std::uint64_t MeminfoBytes(std::string_view meminfo, std::string_view name);

/// The word in brackets: "always [madvise] never".
std::string ChosenWord(std::string_view text);

}  // namespace ringlet::cli
