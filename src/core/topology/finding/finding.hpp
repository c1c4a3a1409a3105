// A fault in a topology: its severity, place, reason and cure.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

enum class Severity : std::uint8_t {
  kNote,     ///< worth knowing
  kWarning,  ///< works, but probably not as intended
  kError,    ///< NCCL would fail, or would see a machine that differs from the real one
};
std::string_view SeverityName(Severity severity);  ///< "note", "warning", "error"

/// A place in a text. Counts from 1. Line 0: no file, or unknown.
struct TextPosition {
  std::uint32_t line = 0;
  std::uint32_t column = 0;  ///< in bytes
  auto operator<=>(const TextPosition&) const = default;
};

struct Finding {
  Severity severity = Severity::kError;
  std::string rule;  ///< a stable name for scripts: "nvlink-self-loop"
  std::string file;  ///< the name that the reader received; empty: no file
  TextPosition at;
  std::string path;  ///< of the element: "system/cpu[0]/pci[0000:07:00.0]/gpu"
  std::string reason;
  std::string cure;
  bool operator==(const Finding&) const = default;
};

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
