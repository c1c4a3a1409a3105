#include "comm/process/parts/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/settings/setting_table.hpp"
#include "base/value/digest.hpp"
#include "os/fs/file_tree.hpp"
#include "topology/xml/xml_reader.hpp"
#include "transport/wireup/transports.hpp"

namespace ringlet::comm {
namespace {

/// Reads the file that `setting` names and appends the digest of its content to `setting`, so that
/// ranks with different contents disagree.
Result<std::string> ReadAgreed(std::string_view name, std::string& setting, std::size_t bytes_max) {
  const std::filesystem::path path(setting);
  RINGLET_TRY_ASSIGN(const os::FileTree folder,
                     os::FileTree::Open(path.has_parent_path() ? path.parent_path() : "."));
  auto text = folder.Read(path.filename().string(), bytes_max);
  if (!text.ok())
    return Error{text.error().code, fmt::format("{}: {}", name, text.error().message)};
  setting += fmt::format(" (content {:016x})", DigestOf(AsView(*text)));
  return text;
}

}  // namespace

collective::Layout LayoutOf(const plan::ChannelPlan& plan, const PeerTable& peer_table) {
  collective::Layout layout{.order = plan.Ring(0), .groups = {}};
  layout.groups.resize(peer_table.hosts.size());
  for (const Rank rank : layout.order)
    layout.groups[peer_table.places[Index(rank)].host].push_back(rank);
  std::erase_if(layout.groups, [](const auto& group) { return group.empty(); });
  return layout;
}

collective::Tuner TunerFor(const Settings& settings, collective::TuningTable measured) {
  collective::Tuner tuner;
  tuner.measured = std::move(measured);
  tuner.choice = collective::ParseAlgorithmChoice(settings.host_algo).value();
  // Loopback on one machine: half the cost of a round trip of 24 us, 2 GB/s per direction.
  if (!transport::SharesMemory(settings.links) || settings.shm_disable)
    tuner.model.local = {.latency_ns = 12'000, .overhead_ns = 4'000, .mb_per_s = 2'000};
  return tuner;
}

Result<collective::TuningTable> ReadTuning(Settings& settings) {
  if (settings.tune_file.empty()) return collective::TuningTable();
  constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;
  const std::string file = settings.tune_file;
  RINGLET_TRY_ASSIGN(const std::string text, ReadAgreed(VariableOf(settings, "TUNE_FILE"),
                                                        settings.tune_file, kFileBytesMax));
  return collective::TuningTable::Parse(text, file);
}

Result<plan::GraphText> ReadGraphFile(Settings& settings) {
  if (settings.graph_file.empty()) return plan::GraphText();
  plan::GraphText given{settings.graph_file, ""};
  RINGLET_TRY_ASSIGN(given.text, ReadAgreed(VariableOf(settings, "GRAPH_FILE"), settings.graph_file,
                                            topology::kXmlBytesMax));
  return given;
}

}  // namespace ringlet::comm
