#include "base/settings/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>

#include "base/settings/nccl_variables.hpp"
#include "base/settings/setting_table.hpp"
#include "base/value/text.hpp"

namespace ringlet {
namespace {

constexpr std::string_view kPrefix = "RINGLET_", kNcclPrefix = "NCCL_";
constexpr std::size_t kShownBytesMax = 100;    // of a bad value in a message
constexpr std::size_t kNearEdits = 3;          // maximum number of wrong letters for a suggestion
constexpr std::size_t kMistypedBytesMax = 64;  // longer words are not typing errors

/// A value, and the variable that contains it.
struct SettingSource {
  const SettingSpec& spec;
  std::string variable;  ///< with the file, if a file sets it
  std::string_view text;
  bool of_nccl = false;  ///< the variable is NCCL_X
};

Error Refuse(const SettingSource& given, std::string_view why) {
  const bool secret = std::holds_alternative<SecretText Settings::*>(given.spec.field);
  const std::string shown = secret ? "(a secret, not shown)"
                                   : fmt::format("\"{}\"", Printable(given.text, kShownBytesMax));
  return {Code::kInvalidArgument, fmt::format("{} is {}, but {}", given.variable, shown, why)};
}

Error RefuseValue(const SettingSource& given) {
  return Refuse(given, "it must be " + AllowedText(given.spec));
}

/// Parses seconds with up to three decimals into milliseconds.
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

Status Assign(const SettingSource& given, std::chrono::milliseconds& out) {
  const std::optional<std::uint64_t> ms = ParseSeconds(given.text);
  if (!ms || !InBounds(given.spec, *ms)) return RefuseValue(given);
  out = std::chrono::milliseconds(*ms);
  return Ok();
}

Status Assign(const SettingSource& given, bool& out) {
  if (given.text != "0" && given.text != "1") return RefuseValue(given);
  out = given.text == "1";
  return Ok();
}

Status Assign(const SettingSource& given, std::uint64_t& out) {
  const std::optional<std::uint64_t> value = ParseUnsigned(given.text);
  if (!value || !InBounds(given.spec, *value)) return RefuseValue(given);
  out = *value;
  return Ok();
}

Status Assign(const SettingSource& given, std::optional<std::uint32_t>& out) {
  std::uint64_t value = 0;
  RINGLET_TRY(Assign(given, value));
  out = static_cast<std::uint32_t>(value);
  return Ok();
}

/// Returns true if `text` is `choice` in any case, with a number from min to max for NUMBER.
bool Fits(const SettingSpec& spec, std::string_view choice, std::string_view text) {
  constexpr std::string_view kNumber = "NUMBER";
  if (!choice.ends_with(kNumber)) return EqualIgnoringCase(choice, text);
  choice.remove_suffix(kNumber.size());
  if (!EqualIgnoringCase(choice, text.substr(0, choice.size()))) return false;
  const std::optional<std::uint64_t> number = ParseDecimal(text.substr(choice.size()));
  return number && InBounds(spec, *number);
}

Status Assign(const SettingSource& given, std::string& out) {
  const std::vector<std::string_view> choices = Split(given.spec.choices, '|');
  const bool fits = std::ranges::any_of(
      choices, [&](std::string_view choice) { return Fits(given.spec, choice, Trim(given.text)); });
  if (!given.spec.choices.empty() && !fits) return RefuseValue(given);
  out = given.text;
  return Ok();
}

Status Assign(const SettingSource& given, SecretText& out) {
  out.text = given.text;
  return Ok();
}

Status Assign(const SettingSource& given, SubsystemMask& out) {
  Result<SubsystemMask> mask = ParseSubsystems(given.text);
  if (!mask.ok()) return Refuse(given, mask.error().message);
  out = *mask;
  return Ok();
}

template <typename T>
requires std::is_enum_v<T> Status Assign(const SettingSource& given, T& out) {
  const std::vector<std::string_view> choices = Split(given.spec.choices, '|');
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!EqualIgnoringCase(choices[i], given.text)) continue;
    out = static_cast<T>(i);
    return Ok();
  }
  return RefuseValue(given);
}

/// Parses the integer at the beginning of `text`, like strtoll; 0 without one. Empty on overflow.
std::optional<std::int64_t> LeadingInteger(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.starts_with('0')) {
    base = 8;
  }
  if (text.starts_with('-')) return 0;
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value, base).ec ==
      std::errc::result_out_of_range)
    return std::nullopt;
  return negative ? -value : value;
}

/// Sets the value that NCCL uses for an invalid text: its leading integer, within bounds.
template <typename T>
requires std::is_integral_v<T>
void Substitute(const SettingSource& given, T& out) {
  const std::optional<std::int64_t> value = LeadingInteger(given.text);
  if (!value) return;
  constexpr bool kSwitch = std::is_same_v<T, bool>;
  const auto least = static_cast<std::int64_t>(kSwitch ? 0 : given.spec.min);
  const auto most = static_cast<std::int64_t>(kSwitch ? 1 : given.spec.max);
  out = static_cast<T>(std::clamp(*value, least, most));
}

void Substitute(const SettingSource& given, std::optional<std::uint32_t>& out) {
  std::uint32_t value = 0;
  Substitute(given, value);
  out = value;
}

/// Sets the known subsystems of the list.
void Substitute(const SettingSource& given, SubsystemMask& out) {
  const bool inverted = given.text.starts_with('^');
  std::string known;
  for (const std::string_view name : Split(given.text.substr(inverted ? 1 : 0), ','))
    if (ParseSubsystems(name).ok()) known += fmt::format("{}{}", known.empty() ? "" : ",", name);
  if (!known.empty()) out = ParseSubsystems((inverted ? "^" : "") + known).value();
}

/// Keeps the default.
template <typename T>
requires(!std::is_integral_v<T>) void Substitute(const SettingSource&, T&) {}

/// Sets a member of `settings`. A value that Ringlet does not understand is an error in a variable
/// of Ringlet. NCCL accepts such a value, so in a variable of NCCL it is a warning.
Status Take(const SettingSource& given, Settings& settings) {
  const Status assigned =
      std::visit([&](auto member) { return Assign(given, settings.*member); }, given.spec.field);
  if (assigned.ok() || !given.of_nccl) return assigned;
  std::visit([&](auto member) { Substitute(given, settings.*member); }, given.spec.field);
  const std::string value = ValueText(settings, given.spec);
  settings.warnings.push_back(fmt::format(
      "{}; {}", assigned.error().message,
      value.empty() ? "the variable is ignored" : "Ringlet uses " + value + " instead"));
  return Ok();
}

/// The environment, then the files.
class Variables {
 public:
  Variables(const EnvMap& env, const FileVariables& files) : env_(env), files_(files) {}

  /// The variable that sets `spec`: RINGLET_X before NCCL_X. An empty value counts as unset.
  std::optional<SettingSource> Find(const SettingSpec& spec) const {
    if (auto given = Look(kPrefix, ringlet_, spec)) return given;
    return spec.has_nccl_alias ? Look(kNcclPrefix, nccl_, spec) : std::nullopt;
  }

  /// The names with prefix `prefix`, each once.
  std::set<std::string> Names(std::string_view prefix) const {
    std::set<std::string> names;
    const auto collect = [&](const auto& map) {
      for (auto at = map.lower_bound(prefix); at != map.end() && at->first.starts_with(prefix);
           ++at)
        names.insert(at->first);
    };
    collect(env_);
    collect(files_.values);
    return names;
  }

  /// "NCCL_DEBUG", or "NCCL_DEBUG in /etc/nccl.conf" if the environment does not set it.
  std::string Place(const std::string& variable) const {
    const std::string name = Printable(variable, kShownBytesMax);
    const auto at = files_.values.find(variable);
    if (env_.contains(variable) || at == files_.values.end()) return name;
    return fmt::format("{} in {}", name, at->second.path);
  }

 private:
  // Searches only the variables that are set. Looking up all takes 40 us of the start of a process.
  std::optional<SettingSource> Look(std::string_view prefix, const std::set<std::string>& set,
                                    const SettingSpec& spec) const {
    const auto named = std::ranges::find_if(
        set, [&](std::string_view name) { return name.substr(prefix.size()) == spec.name; });
    if (named == set.end()) return std::nullopt;
    const std::string& variable = *named;
    if (const auto at = env_.find(variable); at != env_.end()) {
      if (at->second.empty()) return std::nullopt;
      return SettingSource{spec, variable, at->second, prefix == kNcclPrefix};
    }
    const auto at = files_.values.find(variable);
    if (at == files_.values.end() || at->second.value.empty()) return std::nullopt;
    return SettingSource{spec, Place(variable), at->second.value, prefix == kNcclPrefix};
  }

  const EnvMap& env_;
  const FileVariables& files_;
  const std::set<std::string> ringlet_ = Names(kPrefix), nccl_ = Names(kNcclPrefix);
};

/// The setting of Ringlet with the nearest name to `name`, which lacks a prefix.
NearestVariable NearestSetting(std::string_view name, bool of_nccl) {
  NearestVariable nearest{.name = {}, .edits = SIZE_MAX};
  for (const SettingSpec& spec : kSettings) {
    if (of_nccl && !spec.has_nccl_alias) continue;
    const std::size_t edits = EditDistance(name, spec.name);
    if (edits < nearest.edits) nearest = {std::string(spec.name), edits};
  }
  nearest.name.insert(0, of_nccl ? kNcclPrefix : kPrefix);
  return nearest;
}

std::string UnknownText(const Variables& variables, const std::string& variable, bool of_nccl) {
  const std::string_view prefix = of_nccl ? kNcclPrefix : kPrefix;
  NearestVariable nearest =
      NearestSetting(std::string_view(variable).substr(prefix.size()), of_nccl);
  if (of_nccl) {
    const NearestVariable unused = NearestNcclVariable(variable);
    if (unused.edits < nearest.edits) nearest = unused;
  }
  std::string text =
      fmt::format("{} is not a setting of {} and is ignored", variables.Place(variable),
                  of_nccl ? "NCCL or Ringlet" : "Ringlet");
  if (nearest.edits <= kNearEdits) text += fmt::format("; did you mean {}?", nearest.name);
  return text;
}

bool IsSetting(std::string_view name, bool of_nccl) {
  return std::any_of(kSettings.begin(), kSettings.end(), [&](const SettingSpec& spec) {
    return spec.name == name && (!of_nccl || spec.has_nccl_alias);
  });
}

/// True for variables that the libraries of `ringlet emulate` or the Python package read.
bool IsReadElsewhere(std::string_view name) {
  return name == "EMULATE_DEVICES" || name == "EMULATE_MEMORY" || name == "EMULATE_KERNELS" ||
         name == "EMULATE_HOST" || name == "TOOL" || name == "AS_GLOO";
}

void WarnOfUnknown(const Variables& variables, std::vector<std::string>& warnings) {
  for (const std::string& variable : variables.Names(kPrefix)) {
    const std::string_view name = std::string_view(variable).substr(kPrefix.size());
    if (!IsSetting(name, false) && !IsReadElsewhere(name) && name.size() <= kMistypedBytesMax)
      warnings.push_back(UnknownText(variables, variable, false));
  }
}

// NCCL's example of a tuner reads it.
constexpr std::string_view kTunerConfig = "TUNER_CONFIG_FILE";
// NVIDIA's CUDA images set it to the version of their NCCL package. No program reads it.
constexpr std::string_view kImageVersion = "VERSION";

/// Adds one note for all of NCCL's variables without effect, and a warning for each unknown one.
void NoteNcclVariables(const Variables& variables, Settings& settings) {
  std::string unused;
  for (const std::string& variable : variables.Names(kNcclPrefix)) {
    const std::string_view name = std::string_view(variable).substr(kNcclPrefix.size());
    if (IsSetting(name, true) || variable == kConfFileVariable || name == kImageVersion) continue;
    if (!settings.tuner_plugin.empty() && name == kTunerConfig) continue;
    if (IsUnusedNcclVariable(variable)) {
      unused += (unused.empty() ? "" : ", ") + variable;
      if (ChangesNcclPlans(variable)) settings.plan_variables_unused.push_back(variable);
    } else if (name.size() <= kMistypedBytesMax && settings.profiler_plugin.empty() &&
               settings.tuner_plugin.empty()) {
      // With a plug-in, the variable may belong to the plug-in.
      settings.warnings.push_back(UnknownText(variables, variable, true));
    }
  }
  if (!unused.empty())
    settings.notes.push_back(fmt::format("{}: NCCL reads this, and Ringlet does not", unused));
}

void WarnOfChannels(Settings& settings) {
  const std::uint64_t least =
      std::max({settings.min_nchannels, settings.min_nrings, settings.min_ctas});
  std::uint64_t most = kChannelSettingMax;
  for (const std::uint64_t one : {settings.max_nchannels, settings.max_nrings, settings.max_ctas})
    if (one > 0) most = std::min(most, one);
  if (least > most)
    settings.warnings.push_back(fmt::format(
        "MIN_NCHANNELS (or MIN_NRINGS, MIN_CTAS) is {}, above MAX_NCHANNELS (or MAX_NRINGS, "
        "MAX_CTAS), which is {}; the minimum counts, as in NCCL",
        least, most));
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

Result<Settings> ParseSettings(const EnvMap& env, const FileVariables& files) {
  const Variables variables(env, files);
  Settings settings;
  settings.warnings = files.warnings;
  for (const SettingSpec& spec : kSettings) {
    const std::optional<SettingSource> given = variables.Find(spec);
    settings.origins.push_back(given ? given->variable : "");
    if (!given) continue;
    if (given->text.size() > kSettingTextBytesMax)
      return Refuse(*given, fmt::format("it must be at most {} bytes long", kSettingTextBytesMax));
    RINGLET_TRY(Take(*given, settings));
  }
  RINGLET_TRY(CheckTogether(settings));
  WarnOfChannels(settings);
  WarnOfUnknown(variables, settings.warnings);
  NoteNcclVariables(variables, settings);
  return settings;
}

}  // namespace ringlet
