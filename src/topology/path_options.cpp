#include "topology/path_options.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"

namespace ringlet::topology {
namespace {

constexpr std::array<std::string_view, 12> kNames = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                     "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};

std::optional<std::string_view> Find(const EnvMap& environment, std::string_view name) {
  const auto at = environment.find(name);
  if (at == environment.end() || Trim(at->second).empty()) return std::nullopt;
  return Trim(at->second);
}

Error Refuse(std::string_view name, std::string_view value, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("{}={}: {}", name, Quoted(value), why)};
}

Status ReadNumber(const EnvMap& environment, std::string_view name, std::uint32_t max,
                  std::optional<std::uint32_t>& to) {
  const auto value = Find(environment, name);
  if (!value) return Ok();
  const auto number = ParseUnsigned(*value);
  if (!number || *number > max)
    return Refuse(name, *value, fmt::format("it is a number from 0 to {}", max));
  to = static_cast<std::uint32_t>(*number);
  return Ok();
}

Status ReadFlag(const EnvMap& environment, std::string_view name, bool set_is, bool& to) {
  std::optional<std::uint32_t> number;
  RINGLET_TRY(ReadNumber(environment, name, 1, number));
  if (number) to = (*number != 0) == set_is;
  return Ok();
}

Status ReadLevel(const EnvMap& environment, std::string_view name, std::optional<PathType>& to) {
  const auto value = Find(environment, name);
  if (!value) return Ok();
  const Result<PathType> level = ParsePathType(*value);
  if (!level.ok()) return Refuse(name, *value, level.error().message);
  to = *level;
  return Ok();
}

Status ReadPolicy(const EnvMap& environment, NetPolicy& to) {
  constexpr std::string_view kName = "NCCL_NETDEVS_POLICY", kMax = "MAX:";
  const auto value = Find(environment, kName);
  if (!value || *value == "AUTO") return Ok();
  if (*value == "ALL") {
    to = {NetPolicy::Kind::kAll, 0};
    return Ok();
  }
  constexpr std::uint64_t kMostNets = 16'384;
  const auto max = value->starts_with(kMax) ? ParseDecimal(value->substr(kMax.size()))
                                            : std::optional<std::uint64_t>();
  if (!max || *max == 0 || *max > kMostNets)
    return Refuse(kName, *value, "it is AUTO, ALL, or MAX: and a number from 1");
  to = {NetPolicy::Kind::kMax, static_cast<std::uint32_t>(*max)};
  return Ok();
}

}  // namespace

std::string_view NameOf(PathType type) {
  return kNames[static_cast<std::size_t>(type)];
}

Result<PathType> ParsePathType(std::string_view text) {
  constexpr std::size_t kNamed = 10;  // NET and DIS are no levels
  for (std::size_t i = 0; i < kNamed; ++i)
    if (EqualIgnoringCase(text, kNames[i])) return static_cast<PathType>(i);
  constexpr std::array<PathType, 5> kOld = {PathType::kLoc, PathType::kPix, PathType::kPxb,
                                            PathType::kPhb, PathType::kSys};
  const auto number = ParseDecimal(text);
  if (number) return kOld[std::min<std::uint64_t>(*number, kOld.size() - 1)];
  return Error{Code::kInvalidArgument,
               fmt::format("{} is no level; these are LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB "
                           "and SYS, or the old numbers 0 to 4",
                           Quoted(text))};
}

Result<PathOptions> ReadPathOptions(const EnvMap& environment) {
  PathOptions options;
  RINGLET_TRY(ReadLevel(environment, "NCCL_P2P_LEVEL", options.p2p_level));
  bool p2p = true;
  RINGLET_TRY(ReadFlag(environment, "NCCL_P2P_DISABLE", false, p2p));
  if (!p2p) options.p2p_level = PathType::kLoc;
  RINGLET_TRY(ReadFlag(environment, "NCCL_NVB_DISABLE", false, options.nvb));
  RINGLET_TRY(ReadFlag(environment, "NCCL_SHM_DISABLE", false, options.shm));
  RINGLET_TRY(ReadFlag(environment, "NCCL_NET_DISABLE_INTRA", false, options.net_intra));
  RINGLET_TRY(ReadFlag(environment, "NCCL_PXN_DISABLE", false, options.pxn));
  RINGLET_TRY(ReadFlag(environment, "NCCL_PXN_C2C", true, options.pxn_c2c));
  RINGLET_TRY(ReadLevel(environment, "NCCL_NET_GDR_LEVEL", options.gdr_level));
  std::optional<std::uint32_t> number;
  RINGLET_TRY(ReadNumber(environment, "NCCL_NET_GDR_READ", 1, number));
  if (number) options.gdr_read = *number != 0;
  RINGLET_TRY(ReadFlag(environment, "NCCL_NET_GDR_C2C", true, options.gdr_c2c));
  RINGLET_TRY(ReadFlag(environment, "NCCL_NET_GDR_MLOPART", true, options.gdr_split));
  RINGLET_TRY(ReadFlag(environment, "NCCL_MNNVL_CROSS_CLIQUE", true, options.cross_clique));
  number.reset();
  RINGLET_TRY(ReadNumber(environment, "NCCL_IGNORE_DISABLED_P2P", 2, number));
  options.ignore_disabled_p2p = number.value_or(0);
  RINGLET_TRY(ReadPolicy(environment, options.net_policy));
  return options;
}

}  // namespace ringlet::topology
