// A picture as a page: one file of HTML with all it needs, for a browser without a network. Its
// style and program are in page.html, which the build puts into the tool. Pure.
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

/// A finding of the check, and the node of the drawing that it is about.
struct PageFinding {
  topology::Severity severity = topology::Severity::kNote;
  std::string text;
  std::optional<topology::NodeIndex> node = {};
};

struct PageMachine {
  std::string title;
  const Drawing& drawing;  ///< groups of its lines can be switched off
  const topology::Paths& paths;
  std::vector<PageFinding> findings = {};
};

/// GPUs and ports whose paths a page has; of more it has none, and says so.
inline constexpr std::size_t kPageEndsMax = 72;

/// One machine or several side by side. Texts from outside are escaped.
/// \param differences  sentences below the machines; null: none are looked for
/// Cost  O(ends^2 * links of a path)
std::string PageOf(const std::string& title, std::span<const PageMachine> machines,
                   const std::vector<std::string>* differences = nullptr);

/// page.html, with the places that PageOf fills.
std::string_view PageSource();

}  // namespace ringlet::cli
