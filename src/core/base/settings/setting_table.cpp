#include "base/settings/setting_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"

namespace ringlet {
namespace {

/// Converts milliseconds to seconds without trailing zeros: 300, 0.5.
std::string SecondsText(std::uint64_t ms) {
  std::string text = fmt::format("{}.{:03}", ms / 1000, ms % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string ChoicesText(std::string_view choices) {
  std::string text;
  for (const std::string_view choice : Split(choices, '|'))
    text += (text.empty() ? "one of " : ", ") + std::string(choice);
  return text;
}

template <typename T>
concept Choice = std::is_enum_v<T>;

struct ValueTexts {
  const SettingSpec& spec;

  std::string operator()(std::chrono::milliseconds value) const {
    return SecondsText(static_cast<std::uint64_t>(value.count()));
  }
  std::string operator()(bool value) const { return value ? "1" : "0"; }
  std::string operator()(std::uint64_t value) const { return fmt::format("{}", value); }
  std::string operator()(const std::optional<std::uint32_t>& value) const {
    return value ? fmt::format("{}", *value) : "";
  }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const SecretText& value) const {
    return value.text.empty() ? "" : "(set)";
  }
  std::string operator()(SubsystemMask value) const { return ToString(value); }
  template <Choice T>
  std::string operator()(T value) const {
    return std::string(Split(spec.choices, '|').at(static_cast<std::size_t>(value)));
  }
};

struct AllowedTexts {
  const SettingSpec& spec;

  std::string operator()(std::chrono::milliseconds Settings::*) const {
    return fmt::format("seconds from {} to {}, at most three decimals", SecondsText(spec.min),
                       SecondsText(spec.max));
  }
  std::string Number() const {
    const std::string unit = spec.unit.empty() ? "" : fmt::format(" {}", spec.unit);
    return fmt::format("{} from {} to {}{}", spec.power_of_two ? "a power of two" : "an integer",
                       spec.min, spec.max, unit);
  }
  std::string operator()(bool Settings::*) const { return "0 or 1"; }
  std::string operator()(std::uint64_t Settings::*) const { return Number(); }
  std::string operator()(std::optional<std::uint32_t> Settings::*) const { return Number(); }
  std::string operator()(std::string Settings::*) const {
    return spec.choices.empty() ? "text" : ChoicesText(spec.choices);
  }
  std::string operator()(SecretText Settings::*) const { return "text"; }
  std::string operator()(SubsystemMask Settings::*) const {
    return "a comma list of " + ToString(SubsystemMask{(1u << 18) - 1}) + ",ALL";
  }
  template <Choice T>
  std::string operator()(T Settings::*) const {
    return ChoicesText(spec.choices);
  }
};

}  // namespace

std::string_view Name(SettingScope scope) {
  constexpr std::array<std::string_view, kSettingScopes> kNames = {
      "bootstrap", "links", "collectives", "plan", "devices", "log", "launch"};
  return kNames[static_cast<std::size_t>(scope)];
}

std::string AllowedText(const SettingSpec& spec) {
  return std::visit(AllowedTexts{spec}, spec.field);
}

std::string ValueText(const Settings& settings, const SettingSpec& spec) {
  return std::visit([&](auto member) { return ValueTexts{spec}(settings.*member); }, spec.field);
}

std::string OriginText(const Settings& settings, const SettingSpec& spec) {
  const auto index = static_cast<std::size_t>(&spec - kSettings.data());
  if (index >= settings.origins.size() || settings.origins[index].empty()) return "default";
  return settings.origins[index];
}

std::string VariableOf(const Settings& settings, std::string_view name) {
  const auto spec = std::ranges::find(kSettings, name, &SettingSpec::name);
  RINGLET_ASSERT(spec != kSettings.end());
  const auto index = static_cast<std::size_t>(spec - kSettings.begin());
  if (index >= settings.origins.size() || settings.origins[index].empty())
    return fmt::format("RINGLET_{}", name);
  return settings.origins[index];
}

bool IsSetByNccl(const Settings& settings, std::string_view name) {
  return VariableOf(settings, name).starts_with("NCCL_");
}

}  // namespace ringlet
