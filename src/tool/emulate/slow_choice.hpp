// The --slow option of `ringlet emulate`: selects slow links of its machine. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "comm/process/parts/slow_link.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// \param texts  each "link=NAME:FRACTION" as comm::ParseSlowLinks reads it. NAME is one or two
///               nodes of the machine. A suffix "@1" limits the effect to that host.
/// \param hosts  number of emulated hosts
/// Errors  kInvalidArgument  quotes the text; if no link has the name, lists the nearest names
Result<std::vector<comm::SlowLink>> ChooseSlowLinks(const std::vector<std::string>& texts,
                                                    const topology::HostView& view,
                                                    std::uint32_t hosts);

/// Returns the value of RINGLET_SLOW. \param launch  as in EmulatedHostEnvironment
std::string SlowSetting(std::vector<comm::SlowLink> links, std::uint32_t hosts,
                        std::string_view launch);

}  // namespace ringlet::cli
