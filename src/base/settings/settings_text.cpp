#include "base/settings/settings_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/settings/setting_table.hpp"
#include "base/value/text.hpp"

namespace ringlet {
namespace {

constexpr std::size_t kValueBytesShown = 200;

std::string OrDash(std::string text) {
  return text.empty() ? "-" : text;
}

std::string WithUnit(const Settings& settings, const SettingSpec& spec) {
  const std::string value = Printable(ValueText(settings, spec), kValueBytesShown);
  if (value.empty() || spec.unit.empty()) return OrDash(value);
  return fmt::format("{} {}", value, spec.unit);
}

/// A Markdown cell: a bar would end it.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

}  // namespace

std::string SettingsTable(const Settings& settings) {
  using Row = std::array<std::string, 5>;
  std::vector<Row> rows = {{"VARIABLE", "VALUE", "FROM", "DEFAULT", "MEANING"}};
  for (const SettingSpec& spec : kSettings) {
    rows.push_back({fmt::format("RINGLET_{}", spec.name), WithUnit(settings, spec),
                    OriginText(settings, spec), WithUnit(Settings(), spec),
                    std::string(spec.help)});
  }
  std::array<std::size_t, 5> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      text += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += row.back() + "\n";
  }
  return text;
}

std::string SettingsJson(const Settings& settings) {
  std::string text = "[";
  for (const SettingSpec& spec : kSettings) {
    const std::string alias = spec.has_nccl_alias ? fmt::format("NCCL_{}", spec.name) : "";
    text += text.size() == 1 ? "\n" : ",\n";
    text += fmt::format(
        "  {{\"name\": {}, \"value\": {}, \"from\": {}, \"default\": {}, \"unit\": {}, "
        "\"allowed\": {}, \"nccl_alias\": {}, \"must_agree\": {}, \"help\": {}}}",
        Quoted(fmt::format("RINGLET_{}", spec.name)), Quoted(ValueText(settings, spec)),
        Quoted(OriginText(settings, spec)), Quoted(ValueText(Settings(), spec)), Quoted(spec.unit),
        Quoted(AllowedText(spec)), Quoted(alias), spec.must_agree, Quoted(spec.help));
  }
  return text + "\n]\n";
}

std::string SettingsMarkdown() {
  std::string text =
      "# Settings\n"
      "\n"
      "<!-- Made from src/base/settings/setting_table.hpp. Run os_test with "
      "RINGLET_UPDATE_GOLDENS=1 to "
      "renew. -->\n"
      "\n"
      "Settings are environment variables, read once when the library starts. `RINGLET_X` wins "
      "over\n"
      "`NCCL_X` where the table says that the latter is read too. An empty value counts as unset.\n"
      "Integers may be decimal, hexadecimal (0x10) or octal (020); words may be in any case. A "
      "value\n"
      "that does not parse is an error, never a silent default. `ringlet env` shows the values in\n"
      "force and where each comes from.\n"
      "\n"
      "Settings marked \"yes\" in the column \"same on all ranks\" are compared when a "
      "communicator "
      "forms; a\n"
      "difference is an error that names the setting and both values.\n"
      "\n"
      "| variable | NCCL_ too | default | allowed | same on all ranks | meaning |\n"
      "|---|---|---|---|---|---|\n";
  for (const SettingSpec& spec : kSettings) {
    text += fmt::format("| `RINGLET_{}` | {} | {} | {} | {} | {} |\n", spec.name,
                        spec.has_nccl_alias ? "yes" : "", Cell(WithUnit(Settings(), spec)),
                        Cell(AllowedText(spec)), spec.must_agree ? "yes" : "", Cell(spec.help));
  }
  return text;
}

}  // namespace ringlet
