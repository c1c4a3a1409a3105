#include "watch/operation.hpp"

#include <fmt/format.h>

#include <array>

namespace ringlet::watch {

std::string_view Name(OperationState progress) {
  static constexpr std::array<std::string_view, 3> kNames = {"begun", "done", "failed"};
  return kNames[static_cast<std::size_t>(progress)];
}

namespace {

std::string MessagesText(const RecordedOperation& operation) {
  const std::string to =
      operation.root ? fmt::format(" to rank {}", *operation.root) : std::string();
  const std::string one = fmt::format("of {} {}{}", operation.count, operation.type, to);
  const std::string text = operation.messages == 1
                               ? fmt::format("a message {}", one)
                               : fmt::format("{} messages, the first {},", operation.messages, one);
  return fmt::format("{} after {} collectives", text, operation.sequence);
}

}  // namespace

std::string ToText(const RecordedOperation& operation) {
  if (IsMessage(operation)) return MessagesText(operation);
  std::string text = operation.call;
  if (operation.call != "barrier")
    text += fmt::format(" of {} {}", operation.count, operation.type);
  if (!operation.reduction.empty()) text += " " + operation.reduction;
  if (operation.root) text += fmt::format(" at root {}", *operation.root);
  return text + fmt::format(" as operation {}", operation.sequence);
}

bool AreSameCall(const RecordedOperation& a, const RecordedOperation& b) {
  return a.call == b.call && a.count == b.count && a.type == b.type && a.reduction == b.reduction &&
         a.root == b.root;
}

std::string RanksText(const std::vector<std::uint32_t>& ascending) {
  std::string text;
  for (std::size_t first = 0; first < ascending.size();) {
    std::size_t last = first;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == first ? fmt::format("{}", ascending[first])
                          : fmt::format("{}-{}", ascending[first], ascending[last]);
    first = last + 1;
  }
  return text;
}

std::string RanksNamed(const std::vector<std::uint32_t>& ascending) {
  return (ascending.size() == 1 ? "rank " : "ranks ") + RanksText(ascending);
}

std::string DurationText(Instant duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds >= 1) return fmt::format("{:.1f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.0f} ms", seconds * 1e3);
  return fmt::format("{:.0f} us", seconds * 1e6);
}

}  // namespace ringlet::watch
