// Texts of the kernel in /proc and /sys, read: pure functions of text.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// The processor out of /proc/cpuinfo, from the block of the first CPU. The architecture is told
/// from the keys, so that a captured file is read for what it is: x86 has vendor_id, Arm "CPU
/// implementer", POWER a cpu that starts with POWER. A missing value stays empty or 0.
topology::CpuModel ParseCpuInfo(std::string_view text);

/// How many CPUs /proc/cpuinfo lists.
std::uint32_t CountCpus(std::string_view cpuinfo);

/// Bytes of "MemTotal:  4155612 kB" in /proc/meminfo or in a node's meminfo.
std::optional<std::uint64_t> ParseMemTotal(std::string_view text);

/// A node's distances: "10 21\n". Empty for anything else.
std::vector<std::uint32_t> ParseDistances(std::string_view text);

/// A number such as a speed or a node; empty where the kernel says -1, that is, does not know.
std::optional<std::uint32_t> ParseKnown(std::string_view text);

/// The value of `key` in lines of "key : value"; of the first line that has it.
std::optional<std::string_view> FindValue(std::string_view text, std::string_view key);

/// The value of `name` in lines of "NAME=value", as a device's uevent file has them.
std::string_view FindAssigned(std::string_view text, std::string_view name);

/// Mbit/s out of the rate of an RDMA port: "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)".
std::optional<std::uint32_t> ParseRdmaRate(std::string_view text);

/// The eight bytes in four groups of four hex digits, "0011:7500:0077:d5fe", as a little-endian
/// number, which NCCL's files have: 0xfed5770000751100. Empty for 0, which stands for none.
std::optional<std::uint64_t> ParseGuid(std::string_view text);

}  // namespace ringlet::discovery
