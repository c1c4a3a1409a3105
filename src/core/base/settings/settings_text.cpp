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

/// Escapes a Markdown cell, because a bar would end it.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

}  // namespace

std::string SettingsTable(const Settings& settings, std::string_view only) {
  using Row = std::array<std::string, 5>;
  std::vector<Row> rows = {{"VARIABLE", "VALUE", "FROM", "DEFAULT", "MEANING"}};
  for (const SettingSpec& spec : kSettings) {
    if (!only.empty() && spec.name != only) continue;
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

std::string SettingsJson(const Settings& settings, std::string_view only) {
  std::string text = "[";
  for (const SettingSpec& spec : kSettings) {
    if (!only.empty() && spec.name != only) continue;
    const std::string alias = spec.has_nccl_alias ? fmt::format("NCCL_{}", spec.name) : "";
    text += text.size() == 1 ? "\n" : ",\n";
    text += fmt::format(
        "  {{\"name\": {}, \"value\": {}, \"from\": {}, \"default\": {}, \"unit\": {}, "
        "\"allowed\": {}, \"nccl_alias\": {}, \"must_agree\": {}, \"scope\": {}, "
        "\"help\": {}}}",
        Quoted(fmt::format("RINGLET_{}", spec.name)), Quoted(ValueText(settings, spec)),
        Quoted(OriginText(settings, spec)), Quoted(ValueText(Settings(), spec)), Quoted(spec.unit),
        Quoted(AllowedText(spec)), Quoted(alias), spec.must_agree, Quoted(Name(spec.scope)),
        Quoted(spec.help));
  }
  return text + "\n]\n";
}

namespace {

std::string_view TitleOf(SettingScope scope) {
  constexpr std::array<std::string_view, kSettingScopes> kTitles = {
      "Bootstrap: how ranks find each other",  "Links: how ranks are connected",
      "Collectives: how ranks compute",        "Plan: the machine, and the channels over it",
      "Devices: plans for machines with GPUs", "Log",
      "Launch: set by `ringlet run`"};
  return kTitles[static_cast<std::size_t>(scope)];
}

std::string MarkdownTable(SettingScope scope) {
  std::string text =
      "| variable | NCCL_ too | default | allowed | same on all ranks | meaning |\n"
      "|---|---|---|---|---|---|\n";
  for (const SettingSpec& spec : kSettings) {
    if (spec.scope != scope) continue;
    text += fmt::format("| `RINGLET_{}` | {} | {} | {} | {} | {} |\n", spec.name,
                        spec.has_nccl_alias ? "yes" : "", Cell(WithUnit(Settings(), spec)),
                        Cell(AllowedText(spec)), spec.must_agree ? "yes" : "", Cell(spec.help));
  }
  return text;
}

constexpr std::string_view kDevicesNote =
    "They affect the output of `ringlet plan`, `explain`, `topo matrix` and `topo path` for a "
    "machine\nwith GPUs. They do not affect communicators, because these move CPU memory.\n\n";

constexpr std::string_view kPreamble = R"(# Settings

<!-- Made from src/core/base/settings/setting_table.hpp by RINGLET_UPDATE_GOLDENS=1 os_test. -->

Ringlet reads settings from variables, once, when the library starts. It searches, in this order,

1. the environment,
2. the file that `NCCL_CONF_FILE` names or, if that is unset, `~/.nccl.conf`,
3. `/etc/nccl.conf`,

and uses the first value that it finds for a name. A file has lines `NAME=value`, without quotes or
spaces around the `=`; a line that begins with `#` is a comment. `RINGLET_X` takes precedence over
`NCCL_X` where the column "NCCL_ too" is "yes". An empty value counts as unset.

Integers may be decimal, hexadecimal (0x10) or octal (020); words may be in any case. An invalid
value of a `RINGLET_X` is an error, never a silent default. The error names the variable and its
file. Scripts that were written for NCCL run: where NCCL clamps a number or ignores a word of an
`NCCL_X`, Ringlet does the same and logs a warning with the value in use. The same holds for an
unreadable file in `NCCL_TOPO_FILE`. Ringlet fails where NCCL fails: an unknown word of `NCCL_ALGO`
or `NCCL_PROTO`, `NCCL_SOCKET_IFNAME` without an interface, an unreadable `NCCL_GRAPH_FILE`.
`NCCL_MAX_NCHANNELS=0` sets no limit, where NCCL sets one channel. For an unknown variable that
begins with `RINGLET_` or `NCCL_`, Ringlet logs a warning with the nearest name. It logs once, at
level INFO, the variables of NCCL that it does not honour. `ringlet env` shows the values in force
and their origins.

Ringlet compares settings marked "yes" in the column "same on all ranks" when a communicator forms.
A difference is an error that names the setting and both values.
)";

}  // namespace

std::string SettingsMarkdown() {
  std::string text(kPreamble);
  for (std::size_t i = 0; i < kSettingScopes; ++i) {
    const auto scope = static_cast<SettingScope>(i);
    text += fmt::format("\n## {}\n\n", TitleOf(scope));
    if (scope == SettingScope::kDevices) text += kDevicesNote;
    text += MarkdownTable(scope);
  }
  return text;
}

}  // namespace ringlet
