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

using Values = std::map<std::string, std::string>;

Values ValuesOf(const Settings& settings) {
  Values values;
  for (const SettingSpec& spec : kSettings)
    if (spec.must_agree) values[fmt::format("RINGLET_{}", spec.name)] = ValueText(settings, spec);
  return values;
}

Result<Values> Decode(View bytes) {
  Reader in(bytes);
  const std::size_t count = in.U16();
  if (count > kSettingsMax) in.Fail();
  Values values;
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    std::string name = in.Text(kNameBytesMax);
    values[std::move(name)] = in.Text(kValueBytesMax);
  }
  if (!in.AtEnd()) return Error{Code::kProtocol, "a peer's list of settings does not parse"};
  return values;
}

std::string Shown(const std::string& value) {
  constexpr std::size_t kShownBytesMax = 80;
  return value.empty() ? "unknown" : Printable(value, kShownBytesMax);
}

}  // namespace

// Of what EncodeAgreement has, in the order of the table: each rank computes it for each
// communicator, and the list is made only where digests differ.
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
  for (const auto& [name, value] : values) out.Text(name).Text(value);
  return out.Take();
}

std::string ToString(const SettingDifference& difference) {
  return fmt::format("{} is {} here and {} there", Printable(difference.name, kNameBytesMax),
                     Shown(difference.mine), Shown(difference.theirs));
}

Result<std::vector<SettingDifference>> CompareAgreement(const Settings& mine, View theirs) {
  RINGLET_TRY_ASSIGN(Values their_values, Decode(theirs));
  std::map<std::string, SettingDifference> both;
  for (const auto& [name, value] : ValuesOf(mine)) both[name] = {name, value, ""};
  for (const auto& [name, value] : their_values) {
    SettingDifference& entry = both[name];
    entry.name = name;
    entry.theirs = value;
  }
  std::vector<SettingDifference> differences;
  for (const auto& [name, entry] : both)
    if (entry.mine != entry.theirs) differences.push_back(entry);
  return differences;
}

}  // namespace ringlet
