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
  EndId older = kNone;     ///< of the same node; the next free one where this is free
  EndId younger = kNone;   ///< of the same node
  Instant last_arrival{};  ///< towards this end: lines keep their order
};

class LineBook {
 public:
  LineEnd& operator[](EndId end) { return ends_[end]; }

  /// kNone when the node has no such line (any more).
  EndId Find(NodeId node, LineId line) const;

  /// \param first  the node's own mark; the book keeps it
  EndId Open(NodeId node, LineId line, EndId& first);
  static constexpr EndId kFirst = kNone;  ///< the contents there of a node without lines
  void Connect(EndId a, EndId b);
  /// The other end learns of it only in that its `peer` goes.
  void Close(EndId end, EndId& first);

  /// True when `end` is still what it was when something was sent to it; ends are used again.
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
