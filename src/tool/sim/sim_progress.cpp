#include "tool/sim/sim_progress.hpp"

#include <fmt/format.h>

#include "base/value/text.hpp"
#include "os/fs/file_tree.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/quantity.hpp"
#include "tool/text/terminal.hpp"

namespace ringlet::cli {

void SimProgress::OnTick(SimWorld& world, Instant now,
                         const std::function<std::string()>& details) {
  // A user would wonder about a longer silence.
  constexpr Instant kSilent = std::chrono::seconds(2);
  if (now < printed_ + kSilent) return;
  printed_ = now;
  PrintNote("sim",
            fmt::format("{}: {:.1f} M events, {} simulated{}", Counted(world.size(), "rank"),
                        static_cast<double>(world.network().events()) / 1e6,
                        DurationText(world.network().now() - sim::Network::kOrigin), details()));
}

std::uint64_t MemoryBytes() {
  constexpr std::string_view kResident = "VmRSS:";
  const auto tree = os::FileTree::Open("/proc/self");
  if (!tree.ok()) return 0;
  const auto status = tree->Read("status");
  if (!status.ok()) return 0;
  for (const std::string_view line : Split(*status, '\n')) {
    if (!line.starts_with(kResident)) continue;
    const std::string_view number = Trim(line.substr(kResident.size()));
    return ParseDecimal(number.substr(0, number.find(' '))).value_or(0) * 1024;
  }
  return 0;
}

}  // namespace ringlet::cli
