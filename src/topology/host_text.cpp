#include "topology/host_text.hpp"

#include <fmt/format.h>

#include <map>

#include "base/text.hpp"
#include "topology/words.hpp"

namespace ringlet::topology {
namespace {

constexpr std::string_view kHeader = "ringlet-host 1";

std::string DistancesText(const std::vector<std::uint32_t>& distances) {
  std::string text;
  for (const std::uint32_t distance : distances)
    text += fmt::format("{}{}", text.empty() ? "" : " ", distance);
  return text;
}

/// One line: what it is, its name, and its keys with values. A key is asked for once; what nobody
/// asked for is an error.
class Line {
 public:
  static Result<Line> Parse(std::string_view text, std::size_t number) {
    Line line;
    line.number_ = number;
    const auto words = Words(text);
    if (!words) return line.Refuse("a quote is not closed or an escape is unknown");
    std::size_t at = 1;
    line.kind_ = words->at(0);
    if (line.kind_ != "cpu") {
      if (words->size() < 2) return line.Refuse("the name is missing");
      line.name_ = words->at(at++);
    }
    for (; at + 1 < words->size(); at += 2)
      if (!line.values_.emplace(words->at(at), words->at(at + 1)).second)
        return line.Refuse(fmt::format("{} occurs twice", Printable(words->at(at), 40)));
    if (at != words->size())
      return line.Refuse(fmt::format("{} has no value", Printable(words->back(), 40)));
    return line;
  }

  const std::string& kind() const { return kind_; }
  const std::string& name() const { return name_; }

  std::string TakeText(const char* key) {
    const auto at = values_.find(key);
    if (at == values_.end()) return "";
    std::string value = std::move(at->second);
    values_.erase(at);
    return value;
  }
  /// Absent, or a number up to `max`; otherwise the line is bad.
  std::optional<std::uint64_t> TakeNumber(const char* key, std::uint64_t max) {
    const std::string text = TakeText(key);
    if (text.empty()) return std::nullopt;
    return Number(text, max, key);
  }
  std::optional<std::uint32_t> TakeU32(const char* key) {
    const auto value = TakeNumber(key, ~std::uint32_t{0} - 1);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
  }
  std::uint32_t NameAsNumber() {
    return static_cast<std::uint32_t>(
        Number(name_, ~std::uint32_t{0} - 1, "the number").value_or(0));
  }
  void Fail(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }

  Status Finish() const {
    if (!why_.empty()) return Refuse(why_);
    if (values_.empty()) return Ok();
    return Refuse(fmt::format("{} is unknown here", Printable(values_.begin()->first, 40)));
  }
  Error Refuse(std::string_view why) const {
    return {Code::kInvalidArgument, fmt::format("line {} of the host text: {}", number_, why)};
  }

 private:
  std::optional<std::uint64_t> Number(const std::string& text, std::uint64_t max,
                                      const char* what) {
    const std::optional<std::uint64_t> value = ParseUnsigned(text);
    if (value && *value <= max) return value;
    Fail(fmt::format("{} is \"{}\", which is no number up to {}", what, Printable(text, 40), max));
    return std::nullopt;
  }

  std::size_t number_ = 0;
  std::string kind_, name_, why_;
  std::map<std::string, std::string> values_;
};

void ReadHost(Line& line, HostView& view) {
  view.name = line.name();
  view.identity = line.TakeNumber("identity", ~std::uint64_t{0}).value_or(0);
}

void ReadCpu(Line& line, HostView& view) {
  view.cpu.arch = line.TakeText("arch");
  view.cpu.vendor = line.TakeText("vendor");
  view.cpu.family = line.TakeU32("family").value_or(0);
  view.cpu.model = line.TakeU32("model").value_or(0);
  view.cpu.name = line.TakeText("name");
}

void ReadNuma(Line& line, HostView& view) {
  NumaNode node;
  node.id = line.NameAsNumber();
  Result<CpuSet> cpus = CpuSet::Parse(line.TakeText("cpus"));
  if (cpus.ok()) {
    node.cpus = *std::move(cpus);
  } else {
    line.Fail(cpus.error().message);
  }
  node.memory_bytes = line.TakeNumber("memory", ~std::uint64_t{0}).value_or(0);
  const std::string distances = line.TakeText("distances");
  if (!distances.empty()) {
    for (const std::string_view word : Split(distances, ' ')) {
      const auto distance = ParseDecimal(word);
      if (!distance || *distance > ~std::uint32_t{0}) return line.Fail("a distance is no number");
      node.distances.push_back(static_cast<std::uint32_t>(*distance));
    }
  }
  view.numa_nodes.push_back(std::move(node));
}

void ReadNet(Line& line, HostView& view) {
  NetInterface net;
  net.name = line.name();
  net.speed_mbit_per_s = line.TakeU32("speed");
  net.numa = line.TakeU32("numa");
  view.nets.push_back(std::move(net));
}

Status ReadLine(std::string_view text, std::size_t number, HostView& view) {
  RINGLET_TRY_ASSIGN(Line line, Line::Parse(text, number));
  if (line.kind() == "host") {
    ReadHost(line, view);
  } else if (line.kind() == "cpu") {
    ReadCpu(line, view);
  } else if (line.kind() == "numa") {
    ReadNuma(line, view);
  } else if (line.kind() == "net") {
    ReadNet(line, view);
  } else {
    return line.Refuse(fmt::format("it starts with \"{}\", not with host, cpu, numa or net",
                                   Printable(line.kind(), 40)));
  }
  return line.Finish();
}

}  // namespace

std::string ToText(const HostView& view) {
  std::string text =
      fmt::format("{}\nhost {} identity {:#018x}\n", kHeader, Quoted(view.name), view.identity);
  text +=
      fmt::format("cpu arch {} vendor {} family {} model {} name {}\n", Quoted(view.cpu.arch),
                  Quoted(view.cpu.vendor), view.cpu.family, view.cpu.model, Quoted(view.cpu.name));
  for (const NumaNode& node : view.numa_nodes) {
    text += fmt::format("numa {} cpus \"{}\" memory {}", node.id, ToString(node.cpus),
                        node.memory_bytes);
    if (!node.distances.empty())
      text += fmt::format(" distances \"{}\"", DistancesText(node.distances));
    text += '\n';
  }
  for (const NetInterface& net : view.nets) {
    text += "net " + Quoted(net.name);
    if (net.speed_mbit_per_s) text += fmt::format(" speed {}", *net.speed_mbit_per_s);
    if (net.numa) text += fmt::format(" numa {}", *net.numa);
    text += '\n';
  }
  return text;
}

Result<HostView> ParseText(std::string_view text) {
  if (text.size() > kHostTextBytesMax)
    return Error{Code::kInvalidArgument,
                 fmt::format("a host text has at most {} bytes", kHostTextBytesMax)};
  HostView view;
  std::size_t number = 0;
  bool header = false;
  for (const std::string_view raw : Split(text, '\n')) {
    ++number;
    const std::string_view line = Trim(raw);
    if (line.empty() || line.starts_with('#')) continue;
    if (header) {
      RINGLET_TRY(ReadLine(line, number, view));
    } else if (line != kHeader) {
      return Error{Code::kInvalidArgument,
                   fmt::format("line {} of the host text should be \"{}\"", number, kHeader)};
    }
    header = true;
  }
  RINGLET_TRY(view.Check());
  return view;
}

}  // namespace ringlet::topology
