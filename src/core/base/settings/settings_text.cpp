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
    "They have an effect on what `ringlet plan`, `explain`, `topo matrix` and `topo path` say of "
    "a\n"
    "machine with GPUs. Communicators are of ranks on CPU memory, to which they mean nothing.\n\n";

constexpr std::string_view kPreamble = R"(# Settings

<!-- Made from src/core/base/settings/setting_table.hpp by RINGLET_UPDATE_GOLDENS=1 os_test. -->

Settings are variables, read once when the library starts. They come from

1. the environment,
2. the file that `NCCL_CONF_FILE` names or, where that is not set, `~/.nccl.conf`,
3. `/etc/nccl.conf`,

and the first of these that has a name counts for it. A file has lines `NAME=value`, without quotes
or spaces around the `=`; a line that begins with `#` is a comment. `RINGLET_X` wins over `NCCL_X`
where the table says that the latter is read too. An empty value counts as unset.

Integers may be decimal, hexadecimal (0x10) or octal (020); words may be in any case. A value of a
`RINGLET_X` that does not parse is an error that names the variable and its file, never a silent
default. Scripts that were written for NCCL run: where NCCL clamps a number or ignores a word of an
`NCCL_X`, Ringlet does the same and logs a warning that says which value it uses. The same holds for
a file of `NCCL_TOPO_FILE` that cannot be read. Ringlet fails where NCCL fails: an unknown word of
`NCCL_ALGO` or `NCCL_PROTO`, `NCCL_SOCKET_IFNAME` without an interface, an unreadable
`NCCL_GRAPH_FILE`. `NCCL_MAX_NCHANNELS=0` sets no limit, which is one channel in NCCL. An unknown
variable that begins with `RINGLET_` or `NCCL_` is warned of, with the nearest name. Those that NCCL
knows and Ringlet does not honour are named once in the log, at level INFO. `ringlet env` shows the
values in force and where each comes from.

Settings marked "yes" in the column "same on all ranks" are compared when a communicator forms; a
difference is an error that names the setting and both values.
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
