#include "comm/plugin/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/value/text.hpp"

namespace ringlet::comm {
namespace {

using collective::TunerChoice;
using nccl_abi::CostTable;
using plan::TuningConstants;

constexpr int kTunerVersions[] = {6, 5};
constexpr int kNotTunerVersions[] = {4, 3, 2, 1};
constexpr PluginKind kTunerKind{.file_prefix = "libnccl-tuner",
                                .symbol_prefix = "ncclTunerPlugin_v",
                                .versions = kTunerVersions,
                                .not_versions = kNotTunerVersions};
constexpr std::size_t kTunerNameBytesMax = 64;
constexpr int kTunedChannelsMax = 64;  // NCCL's maximum
constexpr double kConstantMax = 1e6;   // seconds, petabytes per second: prevents overflow below

const char* FirstNull(const nccl_abi::TunerTable& table) {
  if (table.init == nullptr) return "init";
  if (table.choose == nullptr) return "getCollInfo";
  if (table.finalize == nullptr) return "finalize";
  return nullptr;
}

// Both have the same arrays in the same order. A thousandth there is one unit here.
static_assert(sizeof(TuningConstants) == sizeof(nccl_abi::TunerConstants));
constexpr std::size_t kConstants = sizeof(TuningConstants) / sizeof(std::uint64_t);

nccl_abi::TunerConstants ForPlugin(const TuningConstants& constants) {
  std::array<std::uint64_t, kConstants> units;
  std::array<double, kConstants> thousands;
  std::memcpy(units.data(), &constants, sizeof units);
  std::ranges::transform(units, thousands.begin(),
                         [](std::uint64_t unit) { return static_cast<double>(unit) / 1000; });
  nccl_abi::TunerConstants given;
  std::memcpy(&given, thousands.data(), sizeof given);
  return given;
}

/// A value that is not a number becomes 0. A value that is too large becomes the maximum.
TuningConstants FromPlugin(const nccl_abi::TunerConstants& given) {
  std::array<double, kConstants> thousands;
  std::array<std::uint64_t, kConstants> units;
  std::memcpy(thousands.data(), &given, sizeof given);
  std::ranges::transform(thousands, units.begin(), [](double value) {
    const double bounded = value > 0 ? std::min(value, kConstantMax) : 0;  // NaN: 0
    return static_cast<std::uint64_t>(std::llround(bounded * 1000));
  });
  TuningConstants constants;
  std::memcpy(&constants, units.data(), sizeof constants);
  return constants;
}

void Fill(CostTable& costs, const plan::TimeTable& times) {
  for (std::size_t a = 0; a < plan::kAlgorithms; ++a)
    for (std::size_t p = 0; p < plan::kProtocols; ++p)
      costs[a][p] = times[a][p] ? static_cast<float>(*times[a][p]) / 1000 : nccl_abi::kNotPossible;
}

}  // namespace

const char* NcclName(plan::NcclAlgorithm algorithm) {
  switch (algorithm) {
    case plan::NcclAlgorithm::kTree: return "TREE";
    case plan::NcclAlgorithm::kRing: break;
    case plan::NcclAlgorithm::kCollnetDirect: return "COLLNET_DIRECT";
    case plan::NcclAlgorithm::kCollnetChain: return "COLLNET_CHAIN";
    case plan::NcclAlgorithm::kNvls: return "NVLS";
    case plan::NcclAlgorithm::kNvlsTree: return "NVLS_TREE";
    case plan::NcclAlgorithm::kPat: return "PAT";
  }
  return "RING";
}

const char* NcclName(plan::Protocol protocol) {
  switch (protocol) {
    case plan::Protocol::kLl: return "LL";
    case plan::Protocol::kLl128: return "LL128";
    case plan::Protocol::kSimple: break;
  }
  return "SIMPLE";
}

// ---- The plug-in --------------------------------------------------------------------------------

Result<std::unique_ptr<TunerPlugin>> TunerPlugin::Load(const std::string& value,
                                                       os::Logger& logger) {
  RINGLET_TRY_ASSIGN(const LoadedPlugin loaded, LoadPlugin(kTunerKind, value));
  const auto& table = *static_cast<const nccl_abi::TunerTable*>(loaded.table);
  if (const char* const missing = FirstNull(table))
    return Error{Code::kUnsupported,
                 fmt::format("{} lacks the function {} in {}{}", Printable(loaded.file, 256),
                             missing, kTunerKind.symbol_prefix, loaded.version)};
  auto plugin = std::unique_ptr<TunerPlugin>(new TunerPlugin(loaded, logger));
  logger.Log(LogLevel::kInfo, Subsystem::kInit, std::nullopt,
             fmt::format("{} chooses algorithms, as {}{} {}", Printable(loaded.file, 256),
                         kTunerKind.symbol_prefix, loaded.version, plugin->name_));
  return plugin;
}

TunerPlugin::TunerPlugin(const LoadedPlugin& loaded, os::Logger& logger)
    : name_(Printable(static_cast<const nccl_abi::TunerTable*>(loaded.table)->name != nullptr
                          ? static_cast<const nccl_abi::TunerTable*>(loaded.table)->name
                          : "without a name",
                      kTunerNameBytesMax)),
      functions_(static_cast<const nccl_abi::TunerTable*>(loaded.table)),
      logger_(logger),
      log_target_(logger) {}

void TunerPlugin::NoteFault(const std::string& what) {
  if (noted_.exchange(true)) return;
  logger_.Log(LogLevel::kWarn, Subsystem::kTuning, std::nullopt,
              fmt::format("the tuner {} {}; further faults of it are not logged", name_, what));
}

// ---- One communicator ---------------------------------------------------------------------------

std::unique_ptr<TunerSession> TunerSession::Begin(TunerPlugin& plugin, const Identification& facts,
                                                  const TuningConstants& constants) {
  void* context = nullptr;
  nccl_abi::NvlinkDomains domains{.domains = static_cast<int>(facts.nodes),
                                  .ranks_min = static_cast<int>(facts.node_ranks_min),
                                  .ranks_max = static_cast<int>(facts.node_ranks_max)};
  nccl_abi::TunerConstants tuned = ForPlugin(constants);
  const nccl_abi::Answer answer = plugin.functions().init(
      &context, facts.name, facts.ranks, facts.nodes, PluginLog(), &domains, &tuned);
  if (answer != nccl_abi::kSuccess) {
    plugin.logger().Log(LogLevel::kWarn, Subsystem::kInit, std::nullopt,
                        fmt::format("the tuner {} refused communicator {:016x} with error {}: it "
                                    "does not choose algorithms there",
                                    plugin.name(), facts.name, answer));
    return nullptr;
  }
  return std::unique_ptr<TunerSession>(new TunerSession(plugin, context, FromPlugin(tuned)));
}

TunerSession::~TunerSession() {
  const nccl_abi::Answer answer = plugin_.functions().finalize(context_);
  if (answer != nccl_abi::kSuccess)
    plugin_.NoteFault(fmt::format("answered finalize with error {}", answer));
}

TunerChoice TunerSession::Ask(plan::Function function, std::size_t bytes,
                              const plan::TimeTable& times) {
  constexpr int kOperations = 1;  // none are aggregated
  CostTable before, costs;
  Fill(before, times);
  Fill(costs, times);
  int channels = 0;
  const nccl_abi::Answer answer = plugin_.functions().choose(
      context_, static_cast<int>(function), bytes, kOperations, reinterpret_cast<float**>(&costs),
      nccl_abi::kTunedAlgorithms, nccl_abi::kTunedProtocols, 0, &channels);
  if (answer != nccl_abi::kSuccess) {
    plugin_.NoteFault(
        fmt::format("answered getCollInfo with error {}: the choice for such calls "
                    "is made without it",
                    answer));
    return {};
  }
  if (channels < 0) plugin_.NoteFault(fmt::format("requested {} channels", channels));
  if (channels <= 0 && std::memcmp(before, costs, sizeof costs) == 0) return {};
  TunerChoice choice = CheapestOf(costs, times);
  choice.channels = static_cast<std::uint8_t>(std::clamp(channels, 0, kTunedChannelsMax));
  return choice;
}

// Takes the first of the cheapest, as NCCL does. Ignores negative costs and NaN.
TunerChoice TunerSession::CheapestOf(const CostTable& costs, const plan::TimeTable& times) const {
  TunerChoice choice;
  float least = 0;
  for (std::uint8_t a = 0; a < plan::kAlgorithms; ++a)
    for (std::uint8_t p = 0; p < plan::kProtocols; ++p) {
      const float cost = costs[a][p];
      if (!(cost >= 0) || (choice.given && !(cost < least))) continue;
      if (!times[a][p]) {
        plugin_.NoteFault(fmt::format("gave a cost to {} with {}, which cannot run here",
                                      NameOf(static_cast<plan::NcclAlgorithm>(a)),
                                      NameOf(static_cast<plan::Protocol>(p))));
        continue;
      }
      choice = {.given = true, .algorithm = a, .protocol = p};
      least = cost;
    }
  if (!choice.given)
    plugin_.NoteFault("excluded all algorithms: the choice for such calls is made without it");
  return choice;
}

}  // namespace ringlet::comm
