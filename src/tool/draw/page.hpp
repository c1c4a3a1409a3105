// A picture as one self-contained HTML file for a browser without a network. The build copies style
// and program from page.html into the tool. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tool/draw/drawing.hpp"
#include "topo/check/defect.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::cli {

/// A finding of the check, with the node of the drawing that it concerns.
struct PageFinding {
  topology::Severity severity = topology::Severity::kNote;
  std::string text;
  std::optional<topology::NodeIndex> node = {};
};

struct PageMachine {
  std::string title;
  const Drawing& drawing;  ///< the page can hide groups of its lines
  const topology::Paths& paths;
  std::vector<PageFinding> findings = {};
};

/// A page with more GPUs and ports than this omits paths and states so.
inline constexpr std::size_t kPageEndsMax = 72;

/// Returns a page with one machine or with several side by side. Escapes texts from outside.
/// \param differences  sentences below the machines; null: omit that part
/// Cost  O(ends^2 * links of a path)
std::string PageOf(const std::string& title, std::span<const PageMachine> machines,
                   const std::vector<std::string>* differences = nullptr);

/// Returns page.html, with its placeholders that PageOf fills.
std::string_view PageSource();

}  // namespace ringlet::cli
