// A fault of a topology: how bad, where, why, and its cure.
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
  kWarning,  ///< works, but probably not as meant
  kError,    ///< NCCL would fail, or would see another machine than the real one
};
std::string_view SeverityName(Severity severity);  ///< "note", "warning", "error"

/// A place in a text, from 1. Line 0: no file, or not known.
struct TextPosition {
  std::uint32_t line = 0;
  std::uint32_t column = 0;  ///< in bytes
  auto operator<=>(const TextPosition&) const = default;
};

struct Finding {
  Severity severity = Severity::kError;
  std::string rule;  ///< a stable word for scripts: "nvlink-self-loop"
  std::string file;  ///< as the reader was told; empty: none
  TextPosition at;
  std::string path;  ///< of the element: "system/cpu[0]/pci[0000:07:00.0]/gpu"
  std::string reason;
  std::string cure;
  bool operator==(const Finding&) const = default;
};

/// One line: "FILE:3:7: error: system/cpu[0]: reason; cure [rule]".
std::string ToText(const Finding& finding);

/// A line for each finding, in order; of a rule that has more than `of_a_rule`, only the first ones
/// and how many there are beyond.
std::string ToText(const std::vector<Finding>& findings, std::size_t of_a_rule);

/// The places of a view's parts in the file they were read from.
class Positions {
 public:
  /// \param attribute  empty: of the element itself
  void Set(Part part, std::string_view attribute, TextPosition at);
  /// Of the attribute, else of the element, else nothing.
  TextPosition Of(Part part, std::string_view attribute = "") const;

 private:
  std::map<Part, std::map<std::string, TextPosition, std::less<>>> known_;
};

/// Names a part by what people know it by: "system/cpu[0]/pci[0000:07:00.0]/gpu". A GPU that
/// shares its PCI function has its number: gpu[3].
/// \pre view.Check() has passed and the part exists.
std::string PathOf(const HostView& view, Part part);

/// Collects findings, up to a bound for each severity; says how many there were beyond.
class Findings {
 public:
  static constexpr std::size_t kMax = 500;

  void Add(Finding finding);
  /// Whether one more would only be counted: then its path need not be found out.
  bool full(Severity severity) const { return Of(severity).size() == kMax; }
  /// In order of place, with a last warning if some were left out.
  std::vector<Finding> Take();

 private:
  const std::vector<Finding>& Of(Severity severity) const {
    return kept_[static_cast<std::size_t>(severity)];
  }

  std::array<std::vector<Finding>, 3> kept_;  // by severity
  std::size_t left_out_ = 0;
};

}  // namespace ringlet::topology
