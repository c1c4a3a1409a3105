// The target of a drawing: standard output, or a file as SVG, PNG or a page of HTML.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::cli {

struct PictureRequest {
  std::string output;  ///< empty: standard output
  bool dark = false;
};

/// Why no picture can be in the file of this name; empty where one can.
std::string WhyNoPicture(const std::string& path);

/// -o and --dark.
/// \param request  outlives the parsing
/// \param pages    the command makes pages, too
void AddPicture(CLI::App& command, PictureRequest& request, bool pages = false);

/// Whether a file of that name is a page.
bool IsPage(const std::string& path);
/// Errors  kSystem  it cannot be written
Status WriteFile(const std::string& path, const std::string& text);

/// Errors  kSystem       it cannot be written
///         kUnsupported  a PNG, and no converter is there; the SVG then lies beside
Status ShowPicture(const std::string& svg, const PictureRequest& request);

}  // namespace ringlet::cli
