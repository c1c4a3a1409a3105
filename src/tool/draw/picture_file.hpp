// The output of a drawing: standard output, or a file as SVG, PNG or HTML.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::cli {

struct PictureRequest {
  std::string output;  ///< empty: standard output
  bool dark = false;
};

/// Returns why a file with this name cannot hold a picture; empty if it can.
std::string WhyNoPicture(const std::string& path);

/// Adds -o and --dark to `command`.
/// \param request  outlives the parsing
/// \param pages    true if the command writes pages as well
void AddPicture(CLI::App& command, PictureRequest& request, bool pages = false);

/// Returns true if a file with this name is a page.
bool IsPage(const std::string& path);
/// Errors  kSystem  the file cannot be written
Status WriteFile(const std::string& path, const std::string& text);

/// Errors  kSystem       the file cannot be written
///         kUnsupported  no converter for PNG is installed; the SVG then lies beside the file
Status ShowPicture(const std::string& svg, const PictureRequest& request);

}  // namespace ringlet::cli
