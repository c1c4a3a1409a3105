#include "comm/backend/make_backend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/settings/setting_table.hpp"
#include "comm/backend/emulated.hpp"
#include "comm/backend/hierarchy.hpp"
#include "comm/backend/over_links.hpp"
#include "comm/backend/shared_memory.hpp"
#include "comm/process/parts/tuning.hpp"

namespace ringlet::comm {
namespace {

void WarnOfIgnoredChoice(Process& process, const collective::Layout& layout,
                         const collective::Tuner& tuner) {
  if (process.settings().host_algo.empty()) return;
  std::vector<std::string_view> names;
  for (const collective::CallKind kind : collective::KindsWithIgnoredChoice(layout, tuner.choice))
    names.push_back(Name(kind));
  if (names.empty()) return;
  const bool is_in_memory = !layout.sharing.empty();
  process.logger().WarnOnce(
      fmt::format("{} has no effect on {}: it allows no algorithm that these ranks can run{}",
                  VariableOf(process.settings(), "HOST_ALGO"), fmt::join(names, ", "),
                  is_in_memory ? "; with RINGLET_HOST_MEMORY=0 they use links within a host" : ""));
}

Selector SelectorOf(const BackendParts& parts) {
  const Process& process = *parts.origin.process;
  collective::Layout layout = LayoutOf(parts.plan, parts.peer_table);
  layout.sharing = parts.host_memory.hosts();
  if (parts.host_memory.IsHere())
    layout.post_bytes = parts.host_memory.engine()->arena().shape().slot_bytes;
  collective::Tuner tuner = TunerFor(process.settings(), process.facts().measured_choices);
  if (parts.origin.config.rank == 0) WarnOfIgnoredChoice(*parts.origin.process, layout, tuner);
  return {std::move(layout), std::move(tuner)};
}

}  // namespace

std::unique_ptr<Backend> MakeBackend(BackendParts parts) {
  if (parts.machine)
    return std::make_unique<Emulated>(parts.origin, std::move(parts.machine), parts.links,
                                      parts.spins);
  const collective::CallPlace place{Rank{parts.origin.config.rank}, parts.origin.config.size};
  Selector selector = SelectorOf(parts);
  if (parts.host_memory.IsHere())
    return std::make_unique<SharedMemory>(place, std::move(selector), parts.host_memory);
  if (!parts.host_memory.hosts().empty())
    return std::make_unique<Hierarchy>(place, std::move(selector), parts.host_memory, parts.links);
  return std::make_unique<OverLinks>(place, std::move(selector), parts.links);
}

}  // namespace ringlet::comm
