#include "tool/run/lines.hpp"

#include <algorithm>

namespace ringlet::cli {

std::vector<std::string> LineCutter::Push(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t room = kLineBytesMax - partial_.size();
    const std::size_t newline = std::min(bytes.find('\n'), bytes.size());
    const std::size_t taken = std::min(newline, room);
    partial_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    const bool whole = !bytes.empty() && bytes.front() == '\n';
    if (whole) bytes.remove_prefix(1);
    if (whole || partial_.size() == kLineBytesMax) lines.push_back(std::exchange(partial_, {}));
  }
  return lines;
}

}  // namespace ringlet::cli
