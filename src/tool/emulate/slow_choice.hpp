// Slow links of the machine that `ringlet emulate` shows: --slow. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "comm/process/slow_link.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// \param texts  each "link=NAME:FRACTION" as comm::ParseSlowLinks reads it, where NAME is of a
///               node or two of the machine, and "@1" behind it means that host alone
/// \param hosts  emulated ones
/// Errors  kInvalidArgument  what it is not; for a name that no link has, the nearest ones
Result<std::vector<comm::SlowLink>> ChooseSlowLinks(const std::vector<std::string>& texts,
                                                    const topology::HostView& view,
                                                    std::uint32_t hosts);

/// The value of RINGLET_SLOW. \param launch  of EmulatedHostEnvironment
std::string SlowSetting(std::vector<comm::SlowLink> links, std::uint32_t hosts,
                        std::string_view launch);

}  // namespace ringlet::cli
