// Parses texts of the kernel in /proc and /sys. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// Parses the processor from the first CPU's block in /proc/cpuinfo. The keys determine the
/// architecture, so that a captured file of another architecture works: x86 has vendor_id, Arm has
/// "CPU implementer", POWER has a cpu that starts with POWER. A missing value stays empty or 0.
topology::CpuModel ParseCpuInfo(std::string_view text);

/// Returns the number of CPUs in /proc/cpuinfo.
std::uint32_t CountCpus(std::string_view cpuinfo);

/// Returns the bytes of "MemTotal:  4155612 kB" in /proc/meminfo or in a node's meminfo.
std::optional<std::uint64_t> ParseMemTotal(std::string_view text);

/// Parses a node's distances: "10 21\n". Empty if malformed.
std::vector<std::uint32_t> ParseDistances(std::string_view text);

/// Parses a number such as a speed or a node; empty for -1, the kernel's value for unknown.
std::optional<std::uint32_t> ParseKnown(std::string_view text);

/// Returns the value of `key` in lines of "key : value"; the first match counts.
std::optional<std::string_view> FindValue(std::string_view text, std::string_view key);

/// Returns the value of `name` in lines of "NAME=value", the form of a device's uevent file.
std::string_view FindAssigned(std::string_view text, std::string_view name);

/// Parses the rate of an RDMA port to Mbit/s: "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)".
std::optional<std::uint32_t> ParseRdmaRate(std::string_view text);

/// Parses eight bytes in four groups of four hex digits, "0011:7500:0077:d5fe", as a little-endian
/// number, as in NCCL's files: 0xfed5770000751100. Empty for 0, which means no GUID.
std::optional<std::uint64_t> ParseGuid(std::string_view text);

}  // namespace ringlet::discovery
