#include "tool/text/env.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/settings/setting_table.hpp"
#include "base/settings/settings_text.hpp"
#include "base/value/text.hpp"
#include "os/fs/conf_files.hpp"
#include "os/process/env.hpp"
#include "tool/text/suggest.hpp"
#include "tool/text/terminal.hpp"

namespace ringlet::cli {
namespace {

struct EnvOptions {
  std::string name;
  bool json = false;
  bool markdown = false;
};

/// Returns the setting for `word`: DEBUG, NCCL_DEBUG or RINGLET_DEBUG, in any case.
Result<std::string> SettingNamed(std::string_view word) {
  std::string_view name = word;
  constexpr std::string_view kPrefixes[] = {"RINGLET_", "NCCL_"};
  for (const std::string_view prefix : kPrefixes)
    if (EqualIgnoringCase(word.substr(0, prefix.size()), prefix)) name = word.substr(prefix.size());
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::vector<std::string> known;
  for (const SettingSpec& spec : ringlet::kSettings) known.emplace_back(spec.name);
  if (std::ranges::count(known, upper) > 0) return upper;
  const std::string nearest = Nearest(upper, known);
  return Error{Code::kInvalidArgument,
               fmt::format("{} is not a setting{}", Quoted(Printable(word, 64)),
                           nearest.empty() ? "" : "; did you mean RINGLET_" + nearest + "?")};
}

int Run(const EnvOptions& options) {
  if (options.markdown) {  // the reference page does not depend on the environment
    fmt::print("{}", SettingsMarkdown());
    return kExitDone;
  }
  std::string only;
  if (!options.name.empty()) {
    const auto named = SettingNamed(options.name);
    if (!named.ok()) return Fail("env", named.error());
    only = *named;
  }
  const auto settings = os::ReadSettings(os::ReadEnvironment());
  if (!settings.ok()) return Fail("env", settings.error());
  for (const std::string& warning : settings->warnings) PrintNote("env", warning);
  for (const std::string& note : settings->notes) PrintNote("env", note);
  if (options.json)
    fmt::print("{}", SettingsJson(*settings, only));
  else
    PrintFitted(SettingsTable(*settings, only));
  return kExitDone;
}

}  // namespace

void AddEnv(CLI::App& tool, Action& chosen) {
  CLI::App* env = tool.add_subcommand("env", "Show every setting, its value and its origin");
  // The parser fills it, and the action reads it later.
  const auto options = std::make_shared<EnvOptions>();
  CLI::Option* name = env->add_option("NAME", options->name, "Only this setting");
  CLI::Option* json =
      env->add_flag("--json", options->json,
                    "A list of objects: name, value, from, default, unit, allowed, nccl_alias, "
                    "must_agree, help");
  env->add_flag("--markdown", options->markdown, "The reference page, docs/reference/settings.md")
      ->excludes(json)
      ->excludes(name);
  env->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
