#include "base/settings/agreement.hpp"

#include <fmt/format.h>

#include <map>

#include "base/settings/setting_table.hpp"
#include "base/value/digest.hpp"
#include "base/value/text.hpp"

namespace ringlet {
namespace {

constexpr std::size_t kSettingsMax = 128;  // of a peer, perhaps of a later version
constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kValueBytesMax = 1024;
constexpr std::size_t kVariableBytesMax = 256;

using SettingOnRank = SettingDifference::SettingOnRank;
using Values = std::map<std::string, SettingOnRank>;

Values ValuesOf(const Settings& settings) {
  Values values;
  for (std::size_t i = 0; i < kSettings.size(); ++i) {
    if (!kSettings[i].must_agree) continue;
    SettingOnRank& side = values[fmt::format("RINGLET_{}", kSettings[i].name)];
    side.value = ValueText(settings, kSettings[i]);
    if (i < settings.origins.size()) side.variable = settings.origins[i];
  }
  return values;
}

Result<Values> Decode(View bytes) {
  Reader in(bytes);
  const std::size_t count = in.U16();
  if (count > kSettingsMax) in.Fail();
  Values values;
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    std::string name = in.Text(kNameBytesMax);
    SettingOnRank& side = values[std::move(name)];
    side.value = in.Text(kValueBytesMax);
    side.variable = in.Text(kVariableBytesMax);
  }
  if (!in.AtEnd()) return Error{Code::kProtocol, "a peer's list of settings does not parse"};
  return values;
}

std::string Shown(const std::string& value) {
  constexpr std::size_t kShownBytesMax = 80;
  return value.empty() ? "unknown" : fmt::format("\"{}\"", Printable(value, kShownBytesMax));
}

}  // namespace

// Covers the content of EncodeAgreement, in the order of the table. Each rank computes the digest
// for each communicator; it makes the list only if digests differ.
std::uint64_t AgreementDigest(const Settings& settings) {
  Writer out;
  for (const SettingSpec& spec : kSettings)
    if (spec.must_agree) out.Text(spec.name).Text(ValueText(settings, spec));
  return DigestOf(out.view());
}

Bytes EncodeAgreement(const Settings& settings) {
  const Values values = ValuesOf(settings);
  Writer out;
  out.U16(static_cast<std::uint16_t>(values.size()));
  for (const auto& [name, side] : values)
    out.Text(name)
        .Text(side.value)
        .Text(std::string_view(side.variable).substr(0, kVariableBytesMax));
  return out.Take();
}

std::string ToText(const SettingDifference& difference, std::string_view here,
                   std::string_view there) {
  const auto& [name, mine, theirs] = difference;
  const bool only_there = mine.variable.empty() && !theirs.variable.empty();
  const SettingOnRank& first = only_there ? theirs : mine;
  const SettingOnRank& second = only_there ? mine : theirs;
  std::string text =
      fmt::format("{} is {} on {} and ",
                  Printable(first.variable.empty() ? name : first.variable, kVariableBytesMax),
                  Shown(first.value), only_there ? there : here);
  if (!second.variable.empty() && second.variable != first.variable)
    text += Printable(second.variable, kVariableBytesMax) + " is ";
  text += fmt::format("{} on {}", Shown(second.value), only_there ? here : there);
  return second.variable.empty() && !first.variable.empty() ? text + " by default" : text;
}

Result<std::vector<SettingDifference>> CompareAgreement(const Settings& mine, View theirs) {
  RINGLET_TRY_ASSIGN(Values their_values, Decode(theirs));
  std::map<std::string, SettingDifference> both;
  for (const auto& [name, side] : ValuesOf(mine)) both[name] = {name, side, {}};
  for (const auto& [name, side] : their_values) {
    SettingDifference& entry = both[name];
    entry.name = name;
    entry.theirs = side;
  }
  std::vector<SettingDifference> differences;
  for (const auto& [name, entry] : both)
    if (entry.mine.value != entry.theirs.value) differences.push_back(entry);
  return differences;
}

}  // namespace ringlet
