#include "comm/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/digest.hpp"
#include "os/file_tree.hpp"

namespace ringlet::comm {

collective::Layout LayoutOf(const plan::ChannelPlan& plan, const Census& census) {
  collective::Layout layout{.order = plan.Ring(0), .groups = {}};
  layout.groups.resize(census.hosts.size());
  for (const Rank rank : layout.order)
    layout.groups[census.places[Index(rank)].host].push_back(rank);
  std::erase_if(layout.groups, [](const auto& group) { return group.empty(); });
  return layout;
}

collective::Tuner TunerFor(const Settings& settings, collective::TuningTable measured) {
  collective::Tuner tuner;
  tuner.measured = std::move(measured);
  tuner.choice = collective::ParseAlgorithmChoice(settings.host_algo).value();
  // Loopback on one machine: half of what a round trip of 24 us costs, 2 GB/s each way.
  if (settings.links == LinkChoice::kTcp || settings.shm_disable)
    tuner.model.local = {.latency_ns = 12'000, .overhead_ns = 4'000, .mb_per_s = 2'000};
  return tuner;
}

Result<collective::TuningTable> ReadTuning(Settings& settings) {
  if (settings.tune_file.empty()) return collective::TuningTable();
  constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;
  const std::filesystem::path path(settings.tune_file);
  RINGLET_TRY_ASSIGN(const os::FileTree folder,
                     os::FileTree::Open(path.has_parent_path() ? path.parent_path() : "."));
  auto text = folder.Read(path.filename().string(), kFileBytesMax);
  if (!text.ok()) return Error{text.error().code, "RINGLET_TUNE_FILE: " + text.error().message};
  RINGLET_TRY_ASSIGN(auto table, collective::TuningTable::Parse(*text, settings.tune_file));
  settings.tune_file += fmt::format(" (content {:016x})", DigestOf(AsView(*text)));
  return table;
}

}  // namespace ringlet::comm
