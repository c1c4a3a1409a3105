#include "tool/text/version.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ringlet/compat/nccl.h"
#include "tool/text/json_text.hpp"

namespace ringlet::cli {
namespace {

std::string NcclVersion() {
  return fmt::format("{}.{}.{}", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH);
}

int Run(bool as_json) {
  if (as_json) {
    const nlohmann::ordered_json json{
        {"name", "ringlet"}, {"version", RINGLET_VERSION}, {"nccl_api", NcclVersion()}};
    fmt::print("{}", JsonText(json));
  } else {
    fmt::print("{}\n", VersionText());
  }
  return kExitDone;
}

}  // namespace

std::string VersionText() {
  return fmt::format("ringlet {} (NCCL {} interface)", RINGLET_VERSION, NcclVersion());
}

void AddVersion(CLI::App& tool, Action& chosen) {
  CLI::App* version = tool.add_subcommand("version", "Show the version");
  // The parser fills it, and the action reads it later.
  const auto as_json = std::make_shared<bool>(false);
  version->add_flag("--json", *as_json, "One object: name, version, nccl_api");
  version->callback([as_json, &chosen] { chosen = [as_json] { return Run(*as_json); }; });
}

}  // namespace ringlet::cli
