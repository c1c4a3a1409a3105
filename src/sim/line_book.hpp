// The ends of all lines of all nodes, in one slab.
#pragma once
#include <cstdint>
#include <vector>

#include "base/wire/machine.hpp"
#include "sim/id_table.hpp"

namespace ringlet::sim {

using NodeId = std::uint32_t;
using EndId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffff;

struct LineEnd {
  NodeId node = kNone;
  LineId line = 0;
  EndId peer = kNone;      ///< kNone: not connected, or the other side has hung up
  EndId older = kNone;     ///< of the same node; for a free end, the next free end
  EndId younger = kNone;   ///< of the same node
  Instant last_arrival{};  ///< towards this end, because lines keep their order
};

class LineBook {
 public:
  LineEnd& operator[](EndId end) { return ends_[end]; }

  /// Returns kNone if the node does not have this line (any more).
  EndId Find(NodeId node, LineId line) const;

  /// \param first  the node's own mark; the book updates it
  EndId Open(NodeId node, LineId line, EndId& first);
  static constexpr EndId kFirst = kNone;  ///< value of `first` for a node without lines
  void Connect(EndId a, EndId b);
  /// Closes an end. The other end only loses its `peer`.
  void Close(EndId end, EndId& first);

  /// True if `end` still belongs to this line. Ends are reused; check data in transit.
  bool Is(EndId end, NodeId node, LineId line) const {
    return ends_[end].node == node && ends_[end].line == line;
  }
  std::size_t open() const { return table_.size(); }

 private:
  static std::uint64_t KeyOf(NodeId node, LineId line) { return std::uint64_t{node} << 32 | line; }

  std::vector<LineEnd> ends_;
  EndId free_ = kNone;
  IdTable table_;
};

}  // namespace ringlet::sim
