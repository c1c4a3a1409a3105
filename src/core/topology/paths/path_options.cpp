#include "topology/paths/path_options.hpp"

#include <fmt/format.h>

#include <array>

#include "base/settings/setting_table.hpp"
#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

constexpr std::array<std::string_view, 12> kNames = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                     "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};

Error RefuseOption(std::string_view variable, std::string_view value, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("{}={}: {}", variable, Quoted(value), why)};
}

Status ReadLevel(std::string_view variable, std::string_view value, std::optional<PathType>& to) {
  if (Trim(value).empty()) return Ok();
  const Result<PathType> level = ParsePathType(Trim(value));
  if (!level.ok()) return RefuseOption(variable, value, level.error().message);
  to = *level;
  return Ok();
}

Status ReadPolicy(std::string_view variable, std::string_view text, NetPolicy& to) {
  constexpr std::string_view kMax = "MAX:";
  const std::string_view value = Trim(text);
  if (value.empty() || EqualIgnoringCase(value, "AUTO")) return Ok();
  if (EqualIgnoringCase(value, "ALL")) {
    to = {NetPolicy::Kind::kAll, 0};
    return Ok();
  }
  constexpr std::uint64_t kMostNets = 16'384;
  const auto max = EqualIgnoringCase(value.substr(0, kMax.size()), kMax)
                       ? ParseDecimal(value.substr(kMax.size()))
                       : std::optional<std::uint64_t>();
  if (!max || *max == 0 || *max > kMostNets)
    return RefuseOption(variable, value, "it must be AUTO, ALL, or MAX: and a number from 1");
  to = {NetPolicy::Kind::kMax, static_cast<std::uint32_t>(*max)};
  return Ok();
}

}  // namespace

std::string_view NameOf(PathType type) {
  return kNames[static_cast<std::size_t>(type)];
}

Result<PathType> ParsePathType(std::string_view text) {
  constexpr std::size_t kNamed = 10;  // NET and DIS are not levels
  for (std::size_t i = 0; i < kNamed; ++i)
    if (EqualIgnoringCase(text, kNames[i])) return static_cast<PathType>(i);
  constexpr std::array<PathType, 5> kOld = {PathType::kLoc, PathType::kPix, PathType::kPxb,
                                            PathType::kPhb, PathType::kSys};
  const auto number = ParseDecimal(text);
  if (number) return kOld[std::min<std::uint64_t>(*number, kOld.size() - 1)];
  return Error{Code::kInvalidArgument,
               fmt::format("{} is not a level; levels are LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, "
                           "PHB and SYS, or the old numbers 0 to 4",
                           Quoted(text))};
}

Result<PathOptions> ReadPathOptions(const Settings& settings) {
  PathOptions options;
  RINGLET_TRY(ReadLevel(VariableOf(settings, "P2P_LEVEL"), settings.p2p_level, options.p2p_level));
  if (settings.p2p_disable) options.p2p_level = PathType::kLoc;
  options.nvb = !settings.nvb_disable;
  options.shm = !settings.shm_disable;
  options.net_intra = !settings.net_disable_intra;
  options.pxn = !settings.pxn_disable;
  options.pxn_c2c = settings.pxn_c2c;
  RINGLET_TRY(
      ReadLevel(VariableOf(settings, "NET_GDR_LEVEL"), settings.net_gdr_level, options.gdr_level));
  if (settings.net_gdr_read) options.gdr_read = *settings.net_gdr_read != 0;
  options.gdr_c2c = settings.net_gdr_c2c;
  options.gdr_split = settings.net_gdr_mlopart;
  options.ignore_disabled_p2p = static_cast<std::uint32_t>(settings.ignore_disabled_p2p);
  RINGLET_TRY(ReadPolicy(VariableOf(settings, "NETDEVS_POLICY"), settings.netdevs_policy,
                         options.net_policy));
  return options;
}

}  // namespace ringlet::topology
