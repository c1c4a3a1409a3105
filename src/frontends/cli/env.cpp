#include "frontends/cli/env.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "base/settings/settings_text.hpp"
#include "frontends/cli/terminal.hpp"
#include "os/fs/conf_files.hpp"
#include "os/process/env.hpp"

namespace ringlet::cli {
namespace {

struct EnvOptions {
  bool json = false;
  bool markdown = false;
};

int Run(const EnvOptions& options) {
  if (options.markdown) {  // the reference page: the same in every environment
    fmt::print("{}", SettingsMarkdown());
    return kExitDone;
  }
  const auto settings = os::ReadSettings(os::ReadEnvironment());
  if (!settings.ok()) return Fail("env", settings.error());
  for (const std::string& warning : settings->warnings) Tell("env", warning);
  for (const std::string& note : settings->notes) Tell("env", note);
  if (options.json)
    fmt::print("{}", SettingsJson(*settings));
  else
    PrintFitted(SettingsTable(*settings));
  return kExitDone;
}

}  // namespace

void AddEnv(CLI::App& tool, Action& chosen) {
  CLI::App* env = tool.add_subcommand("env", "Show every setting, its value and its origin");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto options = std::make_shared<EnvOptions>();
  CLI::Option* json =
      env->add_flag("--json", options->json,
                    "A list of objects: name, value, from, default, unit, allowed, nccl_alias, "
                    "must_agree, help");
  env->add_flag("--markdown", options->markdown, "The reference page, docs/reference/settings.md")
      ->excludes(json);
  env->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
