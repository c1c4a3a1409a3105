// Reads NCCL's topology files: those that NCCL reads, and equal contents in proper XML.
//
// Strict about meaning, tolerant about form. The view keeps parts of a file that Ringlet does not
// interpret, so that writing loses no data, and the reader reports them. The reader reports and
// drops impossible values. docs/reference/topology.md describes the format.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Limits of the input, for time and memory. A file of 576 GPUs has half a MB and 6000 elements.
inline constexpr std::size_t kXmlBytesMax = std::size_t{8} << 20;
inline constexpr std::size_t kXmlElementsMax = std::size_t{1} << 17;
inline constexpr std::size_t kXmlAttributesMax = std::size_t{1} << 20;
inline constexpr std::size_t kXmlAttributesOfOneMax = 256;  // of one element; NCCL allows 16
inline constexpr std::size_t kXmlDepthMax = 128;

/// NCCL's name for a neighbour that it cannot see.
inline constexpr std::string_view kNotVisible = "fffffff:ffff:ff";
/// Drivers report 0FFFFFFF:FF:FF.0 for hidden devices, such as NVSwitches in a virtual machine.
constexpr bool IsHidden(BusId bus) {
  return bus.domain() >= 0x0fff'ffff;
}

struct XmlReading {
  /// Null if the text is not a topology; `findings` then contains the error with the reason.
  std::optional<HostView> view;
  std::vector<Finding> findings;  ///< sorted by place
  Positions positions;            ///< of the parts of `view`
};

/// \param file  the name for findings
/// Cost  O(bytes log bytes); at most about 100 bytes of memory per byte of text
XmlReading ReadXml(std::string_view text, std::string_view file);

/// Returns the view alone, for callers that ignore findings.
/// Errors  kInvalidArgument  the text is not a topology; the message is the finding
Result<HostView> ViewFromXml(std::string_view text, std::string_view file);

}  // namespace ringlet::topology
