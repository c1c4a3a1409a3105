#include "tool/draw/picture_file.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/value/text.hpp"
#include "tool/text/helper_program.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

Error CannotWrite(const std::string& path) {
  return {Code::kSystem, fmt::format("{} cannot be written", path)};
}

/// Converts the SVG with the first installed converter.
Status WritePng(const std::string& path, const std::string& svg) {
  const std::string beside = path + ".svg";
  RINGLET_TRY(WriteFile(beside, svg));
  const bool done =
      RunHelper({"rsvg-convert", "-o", path, beside}) ||
      RunHelper({"inkscape", "--export-type=png", "--export-filename=" + path, beside}) ||
      RunHelper({"magick", beside, path}) || RunHelper({"convert", beside, path});
  if (done) {
    std::remove(beside.c_str());
    return Ok();
  }
  return Error{Code::kUnsupported, fmt::format("{} needs rsvg-convert, inkscape or ImageMagick, "
                                               "but none of them worked; the picture is in {}",
                                               path, beside)};
}

}  // namespace

Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file.good() ? Status(Ok()) : Status(CannotWrite(path));
}

bool IsPage(const std::string& path) {
  return EqualIgnoringCase(std::filesystem::path(path).extension().string(), ".html");
}

std::string WhyNoPicture(const std::string& path) {
  if (path == "-" || path.starts_with("/dev/")) return "";
  const std::string ending = std::filesystem::path(path).extension().string();
  for (const char* known : {".svg", ".png"})
    if (EqualIgnoringCase(ending, known)) return "";
  return fmt::format("{} is not written: the formats of pictures are .svg and .png", path);
}

void AddPicture(CLI::App& command, PictureRequest& request, bool pages) {
  command
      .add_option("-o,--output", request.output,
                  pages ? "Output file: .svg, .png, or .html (an interactive page for a browser); "
                          "- or empty: SVG on standard output"
                        : "Output file, .svg or .png; - or empty: SVG on standard output")
      ->check([pages](const std::string& path) {
        const std::string why = pages && IsPage(path) ? "" : WhyNoPicture(path);
        return why.empty() || !pages ? why : why + " and .html";
      })
      ->type_name(kFileType);
  command.add_flag("--dark", request.dark,
                   pages ? "Use colors for dark pages; HTML pages follow the browser"
                         : "Use colors for dark pages");
}

Status ShowPicture(const std::string& svg, const PictureRequest& request) {
  if (request.output.empty() || request.output == "-") {
    fmt::print("{}", svg);
    return Ok();
  }
  return EqualIgnoringCase(std::filesystem::path(request.output).extension().string(), ".png")
             ? WritePng(request.output, svg)
             : WriteFile(request.output, svg);
}

}  // namespace ringlet::cli
