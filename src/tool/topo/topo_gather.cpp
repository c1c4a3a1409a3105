#include "tool/topo/topo_gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "capture/capture.hpp"
#include "discovery/nvml.hpp"
#include "os/fs/write_file.hpp"
#include "tool/text/helper_program.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

struct GatherOptions {
  std::string root = "/";
  std::string output = "ringlet-topology.tar";
  bool json = false;
};

bool IsCompressed(const std::string& path) {
  return path.ends_with(".tar.gz") || path.ends_with(".tgz");
}

/// Rejects other endings, because they would name the wrong format.
std::string WhyNoTarball(const std::string& path) {
  for (const char* other : {".zip", ".gz", ".bz2", ".xz", ".zst", ".7z"})
    if (path.ends_with(other) && !IsCompressed(path))
      return fmt::format("{} is not written: the formats are .tar, .tar.gz and .tgz", path);
  return "";
}

/// Compresses the tarball with gzip, which reads it from a file.
Status WriteCompressed(const std::string& path, std::string_view tar) {
  const std::string beside = path + ".tar";
  RINGLET_TRY(os::WriteFile(beside, tar));
  const bool done = RunHelper({"gzip", "-n", "-f", beside}) &&
                    std::rename((beside + ".gz").c_str(), path.c_str()) == 0;
  if (done) return Ok();
  return Error{
      Code::kUnsupported,
      fmt::format("{} cannot be written: gzip failed or is not installed; the tarball is in {}",
                  path, beside)};
}

Status Gather(const GatherOptions& options) {
  RINGLET_TRY_ASSIGN(os::FileTree files, os::FileTree::Open(options.root));
  discovery::Nvml driver;
  const discovery::ScanOptions scan{.host_name = "",
                                    .gpus = options.root == "/" ? &driver : nullptr};
  RINGLET_TRY_ASSIGN(const discovery::Capture capture, discovery::CaptureHost(files, scan));
  const bool to_stdout = options.output == "-";
  if (to_stdout && options.json)
    return Error{Code::kInvalidArgument,
                 "--json and -o - both use standard output; write the tarball into a file"};
  const std::string tar = ToTar(capture.entries);
  RINGLET_TRY(IsCompressed(options.output)
                  ? WriteCompressed(options.output, tar)
                  : os::WriteFile(to_stdout ? "/dev/stdout" : options.output, tar));
  if (to_stdout) return Ok();
  const auto count = std::count_if(
      capture.entries.begin(), capture.entries.end(),
      [](const auto& entry) { return entry.kind == discovery::TarEntry::Kind::kFile; });
  if (options.json) {
    fmt::print("{}", JsonText({{"output", options.output}, {"files", count}}));
    return Ok();
  }
  fmt::print(
      "{}: {}; no serial numbers, MAC or IP addresses\n"
      "To look at it:  mkdir DIR && tar -xf {} -C DIR && ringlet topo show --root DIR\n",
      options.output, Counted(static_cast<std::uint64_t>(count), "file"), options.output);
  return Ok();
}

}  // namespace

void AddTopoGather(CLI::App& topo, Action& chosen) {
  CLI::App* gather = topo.add_subcommand("gather",
                                         "Write the files that discovery reads on this machine "
                                         "into a tarball, without serial numbers and addresses");
  // The parser fills it, and the action reads it later.
  const auto options = std::make_shared<GatherOptions>();
  gather
      ->add_option("-o,--output", options->output,
                   "The tarball, .tar or .tar.gz; - is standard output")
      ->check(WhyNoTarball)
      ->type_name(kFileType)
      ->capture_default_str();
  gather->add_option("--root", options->root, "Folder with the /sys and /proc of another machine")
      ->type_name(kFolderType)
      ->capture_default_str();
  gather->add_flag("--json", options->json, "One object: output, files");
  gather->callback([options, &chosen] {
    chosen = [options] { return ExitStatusOf("topo gather", Gather(*options)); };
  });
}

}  // namespace ringlet::cli
