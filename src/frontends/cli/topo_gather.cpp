#include "frontends/cli/topo_gather.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "discovery/capture.hpp"
#include "discovery/nvml.hpp"
#include "os/write_file.hpp"

namespace ringlet::cli {
namespace {

struct GatherOptions {
  std::string root = "/";
  std::string output = "ringlet-topology.tar";
};

Status Gather(const GatherOptions& options) {
  RINGLET_TRY_ASSIGN(os::FileTree files, os::FileTree::Open(options.root));
  discovery::Nvml driver;
  const discovery::ScanOptions scan{.host_name = "",
                                    .gpus = options.root == "/" ? &driver : nullptr};
  RINGLET_TRY_ASSIGN(const discovery::Capture capture, discovery::CaptureHost(files, scan));
  const bool to_stdout = options.output == "-";
  RINGLET_TRY(os::WriteFile(to_stdout ? "/dev/stdout" : options.output, ToTar(capture.entries)));
  if (to_stdout) return Ok();
  const auto count = std::count_if(
      capture.entries.begin(), capture.entries.end(),
      [](const auto& entry) { return entry.kind == discovery::TarEntry::Kind::kFile; });
  fmt::print(
      "{}: {} files; no serial numbers, MAC or IP addresses\n"
      "To look at it:  mkdir DIR && tar -xf {} -C DIR && ringlet topo show --root DIR\n",
      options.output, count, options.output);
  return Ok();
}

}  // namespace

void AddTopoGather(CLI::App& topo, Action& chosen) {
  CLI::App* gather = topo.add_subcommand(
      "gather",
      "Write what discovery reads of this machine into a tarball, without serial numbers "
      "and addresses");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto options = std::make_shared<GatherOptions>();
  gather->add_option("-o,--output", options->output, "The tarball; - is standard output")
      ->capture_default_str();
  gather
      ->add_option("--root", options->root, "A folder that holds another machine's /sys and /proc")
      ->capture_default_str();
  gather->callback([options, &chosen] {
    chosen = [options] {
      const Status done = Gather(*options);
      return done.ok() ? 0 : Fail("topo gather", done.error());
    };
  });
}

}  // namespace ringlet::cli
