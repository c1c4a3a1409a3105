// The PCI functions of a captured machine as hwloc sees them: a second opinion.
#pragma once
#include <string>
#include <vector>

namespace ringlet::discovery {

/// One line per function, in order: "0000:1a:00.0 below 0000:19:04.0 class 0x0207 ids 15b310130000
/// MB/s 15754 nodes 0". `below` is the nearest function above, or "root".
std::vector<std::string> LinesOfHwloc(const std::string& root);

/// The fields of such a line.
struct FunctionLine {
  std::string bus, parent;
  unsigned device_class = 0;  ///< without the programming interface
  unsigned long long ids = 0;
  unsigned mb_per_s = 0;  ///< present speed of the link; 0: unknown
  std::string nodes;      ///< list of near nodes
};
std::string ToString(const FunctionLine& line);

}  // namespace ringlet::discovery
