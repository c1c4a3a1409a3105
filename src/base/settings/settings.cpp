#include "base/settings/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/settings/setting_table.hpp"
#include "base/value/text.hpp"

namespace ringlet {
namespace {

constexpr std::string_view kPrefix = "RINGLET_";
constexpr std::size_t kShownBytesMax = 100;  // of a bad value in a message
constexpr std::size_t kNearEdits = 3;        // so many wrong letters still look like a known name

/// A value with the variable that gave it.
struct Given {
  const SettingSpec& spec;
  std::string variable;
  std::string_view text;
};

Error Refuse(const Given& given, std::string_view why) {
  const bool secret = std::holds_alternative<SecretText Settings::*>(given.spec.field);
  const std::string shown = secret ? "(a secret, not shown)"
                                   : fmt::format("\"{}\"", Printable(given.text, kShownBytesMax));
  return {Code::kInvalidArgument, fmt::format("{} is {}, but {}", given.variable, shown, why)};
}

Error RefuseValue(const Given& given) {
  return Refuse(given, "it must be " + AllowedText(given.spec));
}

/// Seconds with up to three decimals, in milliseconds.
std::optional<std::uint64_t> ParseSeconds(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) {
    const std::optional<std::uint64_t> s = ParseUnsigned(text);
    return s && *s <= kWeekMs ? std::optional(*s * 1000) : std::nullopt;
  }
  std::string decimals(text.substr(dot + 1));
  if (decimals.empty() || decimals.size() > 3) return std::nullopt;
  decimals.resize(3, '0');
  const std::optional<std::uint64_t> s = dot == 0 ? 0 : ParseDecimal(text.substr(0, dot));
  const std::optional<std::uint64_t> ms = ParseDecimal(decimals);
  if (!s || !ms || *s > kWeekMs) return std::nullopt;
  return *s * 1000 + *ms;
}

bool InBounds(const SettingSpec& spec, std::uint64_t value) {
  return value >= spec.min && value <= spec.max &&
         (!spec.power_of_two || std::has_single_bit(value));
}

Status Assign(const Given& given, std::chrono::milliseconds& out) {
  const std::optional<std::uint64_t> ms = ParseSeconds(given.text);
  if (!ms || !InBounds(given.spec, *ms)) return RefuseValue(given);
  out = std::chrono::milliseconds(*ms);
  return Ok();
}

Status Assign(const Given& given, bool& out) {
  if (given.text != "0" && given.text != "1") return RefuseValue(given);
  out = given.text == "1";
  return Ok();
}

Status Assign(const Given& given, std::uint64_t& out) {
  const std::optional<std::uint64_t> value = ParseUnsigned(given.text);
  if (!value || !InBounds(given.spec, *value)) return RefuseValue(given);
  out = *value;
  return Ok();
}

Status Assign(const Given& given, std::optional<std::uint32_t>& out) {
  std::uint64_t value = 0;
  RINGLET_TRY(Assign(given, value));
  out = static_cast<std::uint32_t>(value);
  return Ok();
}

Status Assign(const Given& given, std::string& out) {
  out = given.text;
  return Ok();
}

Status Assign(const Given& given, SecretText& out) {
  out.text = given.text;
  return Ok();
}

Status Assign(const Given& given, SubsystemMask& out) {
  Result<SubsystemMask> mask = ParseSubsystems(given.text);
  if (!mask.ok()) return Refuse(given, mask.error().message);
  out = *mask;
  return Ok();
}

template <typename T>
requires std::is_enum_v<T> Status Assign(const Given& given, T& out) {
  const std::vector<std::string_view> choices = Split(given.spec.choices, '|');
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!EqualIgnoringCase(choices[i], given.text)) continue;
    out = static_cast<T>(i);
    return Ok();
  }
  return RefuseValue(given);
}

/// The variable that sets `spec`: RINGLET_X before NCCL_X; an empty value counts as unset.
std::optional<std::pair<Given, SettingOrigin>> Find(const EnvMap& env, const SettingSpec& spec) {
  const auto look = [&](std::string_view prefix) -> std::optional<Given> {
    const std::string variable = fmt::format("{}{}", prefix, spec.name);
    const auto at = env.find(variable);
    if (at == env.end() || at->second.empty()) return std::nullopt;
    return Given{spec, variable, at->second};
  };
  if (auto given = look(kPrefix)) return std::pair(*given, SettingOrigin::kRinglet);
  if (!spec.has_nccl_alias) return std::nullopt;
  if (auto given = look("NCCL_")) return std::pair(*given, SettingOrigin::kNccl);
  return std::nullopt;
}

std::string UnknownText(std::string_view variable) {
  const std::string_view name = variable.substr(kPrefix.size());
  const auto distance = [&](const SettingSpec& spec) { return EditDistance(name, spec.name); };
  const auto nearest =
      std::min_element(kSettings.begin(), kSettings.end(),
                       [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  const std::string shown = Printable(variable, kShownBytesMax);
  if (distance(*nearest) > kNearEdits)
    return fmt::format("{} is not a setting of Ringlet and is ignored", shown);
  return fmt::format("{} is not a setting of Ringlet and is ignored; did you mean {}{}?", shown,
                     kPrefix, nearest->name);
}

void WarnOfUnknown(const EnvMap& env, std::vector<std::string>& warnings) {
  constexpr std::size_t kMistypedBytesMax = 64;  // longer ones are nobody's typing error
  for (auto at = env.lower_bound(kPrefix); at != env.end() && at->first.starts_with(kPrefix);
       ++at) {
    const std::string_view name = std::string_view(at->first).substr(kPrefix.size());
    const bool known = std::any_of(kSettings.begin(), kSettings.end(),
                                   [&](const SettingSpec& spec) { return spec.name == name; });
    if (!known && name.size() <= kMistypedBytesMax) warnings.push_back(UnknownText(at->first));
  }
}

Status CheckTogether(const Settings& settings) {
  const auto below_world = [&](std::string_view name, std::optional<std::uint32_t> rank) -> Status {
    if (!rank || !settings.world_size || *rank < *settings.world_size) return Ok();
    return Error{
        Code::kInvalidArgument,
        fmt::format("RINGLET_{} is {}, but it must be below RINGLET_WORLD_SIZE, which is {}", name,
                    *rank, *settings.world_size)};
  };
  RINGLET_TRY(below_world("RANK", settings.rank));
  return below_world("LOCAL_RANK", settings.local_rank);
}

}  // namespace

Result<Settings> ParseSettings(const EnvMap& env) {
  Settings settings;
  for (const SettingSpec& spec : kSettings) {
    const auto found = Find(env, spec);
    settings.origins.push_back(found ? found->second : SettingOrigin::kDefault);
    if (!found) continue;
    const Given& given = found->first;
    if (given.text.size() > kSettingTextBytesMax)
      return Refuse(given, fmt::format("it must be at most {} bytes long", kSettingTextBytesMax));
    RINGLET_TRY(
        std::visit([&](auto member) { return Assign(given, settings.*member); }, spec.field));
  }
  RINGLET_TRY(CheckTogether(settings));
  WarnOfUnknown(env, settings.warnings);
  return settings;
}

}  // namespace ringlet
