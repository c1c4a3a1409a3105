// Reads NCCL's topology files: those that NCCL itself reads, and the same things in proper XML.
//
// Strict about meaning, tolerant about form. Texts of a file that have no word in Ringlet are kept,
// so that writing it loses nothing, and are reported. Impossible values are reported and left out.
// docs/reference/topology.md has the format.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Bounds on what is read at all, so that time and memory are bounded. A file of 576 GPUs has half
/// a MB and 6000 elements.
inline constexpr std::size_t kXmlBytesMax = std::size_t{8} << 20;
inline constexpr std::size_t kXmlElementsMax = std::size_t{1} << 17;
inline constexpr std::size_t kXmlAttributesMax = std::size_t{1} << 20;
inline constexpr std::size_t kXmlAttributesOfOneMax = 256;  // of one element; NCCL takes 16
inline constexpr std::size_t kXmlDepthMax = 128;

/// The name that NCCL writes for a neighbour that it cannot see.
inline constexpr std::string_view kNotVisible = "fffffff:ffff:ff";
/// Drivers say 0FFFFFFF:FF:FF.0 of what they do not show, such as NVSwitches in a virtual machine.
constexpr bool IsHidden(BusId bus) {
  return bus.domain() >= 0x0fff'ffff;
}

struct XmlReading {
  /// Empty where the text is no topology at all; `findings` then holds the error that says why.
  std::optional<HostView> view;
  std::vector<Finding> findings;  ///< in order of place
  Positions positions;            ///< of the parts of `view`
};

/// \param file  the name for findings
/// Cost  O(bytes log bytes); about 100 bytes of memory for each byte of text at most
XmlReading ReadXml(std::string_view text, std::string_view file);

/// The view alone, for those who use what can be used.
/// Errors  kInvalidArgument  the text is no topology; the sentence is the finding
Result<HostView> ViewFromXml(std::string_view text, std::string_view file);

}  // namespace ringlet::topology
