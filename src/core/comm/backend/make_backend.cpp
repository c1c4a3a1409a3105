#include "comm/backend/make_backend.hpp"

#include <utility>

#include "comm/backend/emulated.hpp"
#include "comm/backend/hierarchy.hpp"
#include "comm/backend/over_links.hpp"
#include "comm/backend/shared_memory.hpp"
#include "comm/process/parts/tuning.hpp"

namespace ringlet::comm {
namespace {

Selector SelectorOf(const BackendParts& parts) {
  const Process& process = *parts.origin.process;
  collective::Layout layout = LayoutOf(parts.plan, parts.peer_table);
  layout.sharing = parts.host_memory.hosts();
  if (parts.host_memory.IsHere())
    layout.post_bytes = parts.host_memory.engine()->arena().shape().slot_bytes;
  collective::Tuner tuner = TunerFor(process.settings(), process.facts().measured_choices);
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
