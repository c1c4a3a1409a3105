#include "sim/line_book.hpp"

namespace ringlet::sim {

EndId LineBook::Find(NodeId node, LineId line) const {
  return table_.Find(KeyOf(node, line)).value_or(kNone);
}

EndId LineBook::Open(NodeId node, LineId line, EndId& first) {
  EndId end = free_;
  if (end == kNone) {
    end = static_cast<EndId>(ends_.size());
    ends_.emplace_back();
  } else {
    free_ = ends_[end].older;
  }
  ends_[end] = LineEnd{.node = node, .line = line, .older = first};
  if (first != kNone) ends_[first].younger = end;
  first = end;
  table_.Set(KeyOf(node, line), end);
  return end;
}

void LineBook::Connect(EndId a, EndId b) {
  ends_[a].peer = b;
  ends_[b].peer = a;
}

void LineBook::Close(EndId end, EndId& first) {
  LineEnd& gone = ends_[end];
  if (gone.peer != kNone) ends_[gone.peer].peer = kNone;
  if (gone.older != kNone) ends_[gone.older].younger = gone.younger;
  if (gone.younger != kNone)
    ends_[gone.younger].older = gone.older;
  else
    first = gone.older;
  table_.Erase(KeyOf(gone.node, gone.line));
  gone = LineEnd{.older = free_};
  free_ = end;
}

}  // namespace ringlet::sim
