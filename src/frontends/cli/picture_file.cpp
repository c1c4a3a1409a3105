#include "frontends/cli/picture_file.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <cstdio>
#include <fstream>
#include <vector>

#include "os/child.hpp"
#include "os/env.hpp"

namespace ringlet::cli {
namespace {

Error CannotWrite(const std::string& path) {
  return {Code::kSystem, fmt::format("{} cannot be written", path)};
}

Status Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file.good() ? Status(Ok()) : Status(CannotWrite(path));
}

/// Whether a program ran and did its work.
bool Ran(std::vector<std::string> arguments) {
  Result<os::Child> child = os::Child::Start({std::move(arguments), os::ReadEnvironment()});
  if (!child.ok()) return false;
  // A picture of a rack takes a second.
  constexpr int kSliceMs = 50, kSlicesMax = 60'000 / kSliceMs;
  for (int slice = 0; slice < kSlicesMax; ++slice) {
    pollfd errors{child->errors().get(), POLLIN, 0};
    poll(&errors, 1, kSliceMs);
    const bool end = os::ReadAvailable(child->errors(), std::size_t{64} << 10).end;
    if (const auto ended = child->Poll()) return ended->ok();
    if (end) poll(nullptr, 0, kSliceMs);
  }
  return false;
}

/// With whatever converter there is.
Status WritePng(const std::string& path, const std::string& svg) {
  const std::string beside = path + ".svg";
  RINGLET_TRY(Write(beside, svg));
  const bool done = Ran({"rsvg-convert", "-o", path, beside}) ||
                    Ran({"inkscape", "--export-type=png", "--export-filename=" + path, beside}) ||
                    Ran({"magick", beside, path}) || Ran({"convert", beside, path});
  if (done) {
    std::remove(beside.c_str());
    return Ok();
  }
  return Error{Code::kUnsupported,
               fmt::format("{} needs rsvg-convert, inkscape or ImageMagick, and none did it; the "
                           "picture is in {}",
                           path, beside)};
}

}  // namespace

void AddPicture(CLI::App& command, PictureRequest& request) {
  command.add_option("-o,--output", request.output,
                     "A file, .svg or .png; none: SVG on standard output");
  command.add_flag("--dark", request.dark, "For dark pages");
}

Status ShowPicture(const std::string& svg, const PictureRequest& request) {
  if (request.output.empty()) {
    fmt::print("{}", svg);
    return Ok();
  }
  return request.output.ends_with(".png") ? WritePng(request.output, svg)
                                          : Write(request.output, svg);
}

}  // namespace ringlet::cli
