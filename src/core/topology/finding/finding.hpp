// Faults in a topology: their texts, their order, and the places of parts in a file.
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ringlet/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

std::string_view SeverityName(Severity severity);  ///< "note", "warning", "error"

inline auto operator<=>(const TextPosition& a, const TextPosition& b) {
  return std::tie(a.line, a.column) <=> std::tie(b.line, b.column);
}
inline bool operator==(const TextPosition& a, const TextPosition& b) {
  return (a <=> b) == 0;
}
bool operator==(const Finding& a, const Finding& b);

/// Returns one line: "FILE:3:7: error: system/cpu[0]: reason; cure [rule]".
std::string ToText(const Finding& finding);

/// Returns one line per finding, in order. If a rule has more than `of_a_rule` findings, returns
/// the first ones and the number of the others.
std::string ToText(const std::vector<Finding>& findings, std::size_t of_a_rule);

/// The places of a view's parts in their source file.
class Positions {
 public:
  /// \param attribute  empty: sets the place of the element itself
  void Set(Part part, std::string_view attribute, TextPosition at);
  /// The place of the attribute. If unknown, the place of the element, or line 0.
  TextPosition Of(Part part, std::string_view attribute = "") const;

 private:
  std::map<Part, std::map<std::string, TextPosition, std::less<>>> known_;
};

/// Names a part for users: "system/cpu[0]/pci[0000:07:00.0]/gpu". A GPU that shares its PCI
/// function has its rank in the name: gpu[rank 3].
/// \pre view.Check() passed, and the part exists
std::string PathOf(const HostView& view, Part part);

/// Collects findings, up to kMax per severity, and counts the rest.
class Findings {
 public:
  static constexpr std::size_t kMax = 500;

  void Add(Finding finding);
  /// Returns true if Add() would only count another finding. The caller can then skip its path.
  bool full(Severity severity) const { return Of(severity).size() == kMax; }
  /// Returns the findings sorted by place. Appends a warning if some were dropped.
  std::vector<Finding> Take();

 private:
  const std::vector<Finding>& Of(Severity severity) const {
    return kept_[static_cast<std::size_t>(severity)];
  }

  std::array<std::vector<Finding>, 3> kept_;  // by severity
  std::size_t left_out_ = 0;
};

}  // namespace ringlet::topology
