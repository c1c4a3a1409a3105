#include "plan/channels/graph_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/value/text.hpp"
#include "plan/channels/channel_plan.hpp"
#include "topology/xml/xml_text.hpp"

namespace ringlet::plan {
namespace {

using topology::Bandwidth;
using topology::Graph;
using topology::NodeIndex;
using topology::NodeKind;
using topology::PathType;

constexpr int kSystemShift = 56;
constexpr std::size_t kShownBytesMax = 60;  // of a bad word in a message
constexpr std::array<GraphId, kGraphIds> kFileOrder = {GraphId::kRing, GraphId::kTree,
                                                       GraphId::kCollnetDirect,
                                                       GraphId::kCollnetChain, GraphId::kNvls};

/// In GB/s, with as few digits as necessary.
std::string SpeedText(Bandwidth bandwidth) {
  const std::uint32_t whole = bandwidth.mb_per_s / 1000, thousandths = bandwidth.mb_per_s % 1000;
  if (thousandths == 0) return fmt::format("{}", whole);
  std::string text = fmt::format("{}.{:03}", whole, thousandths);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::optional<Bandwidth> SpeedOf(std::string_view text) {
  constexpr std::size_t kDecimals = 3;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max() / 1000 - 1;
  const std::size_t dot = text.find('.');
  const auto whole = ParseDecimal(text.substr(0, dot));
  std::string decimals(dot == std::string_view::npos ? "" : text.substr(dot + 1));
  // Drops digits below 1 MB/s. They are artifacts of a printed binary fraction.
  decimals.resize(kDecimals, '0');
  const auto thousandths = ParseDecimal(decimals);
  if (!whole || !thousandths || *whole > kMost) return std::nullopt;
  return Bandwidth{static_cast<std::uint32_t>(*whole * 1000 + *thousandths)};
}

class Writing {
 public:
  Writing(const HostPlan& plan, const GraphNames& names) : plan_(plan), names_(names) {}

  std::string Run() {
    out_ = "<graphs version=\"1\">\n";
    for (const GraphId id : kFileOrder) Write(plan_.of(id), id);
    return out_ + "</graphs>\n";
  }

 private:
  void Write(const PatternGraph& graph, GraphId id) {
    const std::uint32_t us = graph.latency_inter_ns / 1000;
    out_ += fmt::format(
        "  <graph id=\"{}\" pattern=\"{}\" crossnic=\"{}\" nchannels=\"{}\" speedintra=\"{}\" "
        "speedinter=\"{}\" latencyinter=\"{}\" typeintra=\"{}\" typeinter=\"{}\" "
        "samechannels=\"{}\"",
        static_cast<int>(id), static_cast<int>(graph.pattern), graph.cross_nic,
        graph.channels.size(), SpeedText(graph.intra), SpeedText(graph.inter), us,
        NameOf(graph.type_intra), NameOf(graph.type_inter), graph.same_channels ? 1 : 0);
    if (graph.channels.empty()) {
      out_ += "/>\n";
      return;
    }
    out_ += ">\n";
    for (const LocalChannel& channel : graph.channels) Write(channel);
    out_ += "  </graph>\n";
  }

  void Write(const LocalChannel& channel) {
    out_ += "    <channel>\n";
    if (channel.entry) WriteNet(*channel.entry);
    for (const std::uint32_t device : channel.devices)
      out_ += fmt::format("      <gpu dev=\"{:#x}\" rank=\"{}\"/>\n", names_.gpus[device],
                          names_.ranks[device]);
    if (channel.exit) WriteNet(*channel.exit);
    out_ += "    </channel>\n";
  }

  void WriteNet(std::uint32_t net) {
    out_ += fmt::format("      <net dev=\"{:#x}\"/>\n", names_.nets[net]);
  }

  const HostPlan& plan_;
  const GraphNames& names_;
  std::string out_;
};

class Reading {
 public:
  Reading(std::string_view text, std::string_view file, const GraphNames& names)
      : text_(text), file_(file), names_(names) {}

  Result<HostPlan> Run() {
    if (const auto& refusal = text_.refusal())
      return At(refusal->at, fmt::format("{}; {}", refusal->reason, refusal->cure));
    if (std::string_view(text_.root().name()) != "graphs")
      return At(text_.root(), "a graph file begins with <graphs>");
    plan_.devices = static_cast<std::uint32_t>(names_.gpus.size());
    plan_.nics = static_cast<std::uint32_t>(names_.nets.size());
    for (const pugi::xml_node node : text_.root().children("graph")) RINGLET_TRY(ReadGraph(node));
    return std::move(plan_);
  }

 private:
  Error At(topology::TextPosition at, std::string_view what) const {
    return {Code::kInvalidArgument, fmt::format("{}:{}:{}: {}", file_, at.line, at.column, what)};
  }
  Error At(pugi::xml_node node, std::string_view what) const { return At(text_.At(node), what); }
  Error Bad(pugi::xml_node node, const char* name, std::string_view wanted) const {
    const pugi::xml_attribute attribute = node.attribute(name);
    if (!attribute) return At(node, fmt::format("{} is missing", name));
    return At(text_.At(attribute, node),
              fmt::format("{} is {}, but it must be {}", name,
                          Quoted(Printable(attribute.value(), kShownBytesMax)), wanted));
  }

  Result<std::uint64_t> Number(pugi::xml_node node, const char* name, std::uint64_t max) const {
    const auto value = ParseUnsigned(node.attribute(name).value());
    if (!value || *value > max) return Bad(node, name, fmt::format("a number up to {}", max));
    return *value;
  }
  /// Like Number(), but a missing attribute is 0.
  Result<std::uint64_t> Maybe(pugi::xml_node node, const char* name, std::uint64_t max) const {
    return node.attribute(name) ? Number(node, name, max) : Result<std::uint64_t>(0);
  }
  Result<Bandwidth> Speed(pugi::xml_node node, const char* name) const {
    const auto speed = SpeedOf(node.attribute(name).value());
    return speed ? Result<Bandwidth>(*speed) : Bad(node, name, "a number of GB/s");
  }
  Result<PathType> Type(pugi::xml_node node, const char* name) const {
    const std::string_view word = node.attribute(name).value();
    for (int i = 0; i <= static_cast<int>(PathType::kDis); ++i)
      if (word == NameOf(static_cast<PathType>(i))) return static_cast<PathType>(i);
    return Bad(node, name, "a type of path, LOC to SYS");
  }

  Status ReadGraph(pugi::xml_node node) {
    RINGLET_TRY_ASSIGN(const std::uint64_t id, Number(node, "id", kGraphIds - 1));
    PatternGraph& graph = plan_.graphs[id];
    if (seen_[id]) return At(node, fmt::format("graph {} occurs twice in the file", id));
    seen_[id] = true;
    RINGLET_TRY_ASSIGN(const std::uint64_t pattern, Number(node, "pattern", 6));
    if (pattern == 0) return Bad(node, "pattern", "a number from 1 to 6");
    graph.pattern = static_cast<Pattern>(pattern);
    RINGLET_TRY_ASSIGN(const std::uint64_t cross_nic, Number(node, "crossnic", 2));
    graph.cross_nic = static_cast<std::uint8_t>(cross_nic);
    RINGLET_TRY_ASSIGN(graph.intra, Speed(node, "speedintra"));
    RINGLET_TRY_ASSIGN(graph.inter, Speed(node, "speedinter"));
    RINGLET_TRY_ASSIGN(graph.type_intra, Type(node, "typeintra"));
    RINGLET_TRY_ASSIGN(graph.type_inter, Type(node, "typeinter"));
    RINGLET_TRY_ASSIGN(const Bandwidth latency, node.attribute("latencyinter")
                                                    ? Speed(node, "latencyinter")
                                                    : Result<Bandwidth>(Bandwidth()));
    graph.latency_inter_ns = latency.mb_per_s;  // thousandths of a microsecond
    RINGLET_TRY_ASSIGN(const std::uint64_t same, Maybe(node, "samechannels", 1));
    graph.same_channels = same == 1;
    for (const pugi::xml_node channel : node.children("channel"))
      RINGLET_TRY(ReadChannel(channel, graph));
    RINGLET_TRY_ASSIGN(const std::uint64_t channels, Number(node, "nchannels", kChannelsMax));
    if (graph.channels.size() != channels)
      return Bad(node, "nchannels",
                 fmt::format("{}, the number of channels that follow", graph.channels.size()));
    graph.stopped = channels > 0 ? StopReason::kExhausted : StopReason::kNotThere;
    return Ok();
  }

  Status ReadChannel(pugi::xml_node node, PatternGraph& graph) {
    if (graph.channels.size() == kChannelsMax)
      return At(node, fmt::format("more than {} channels", kChannelsMax));
    LocalChannel channel;
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "gpu") {
        RINGLET_TRY_ASSIGN(const std::uint32_t device, Device(child));
        if (std::ranges::find(channel.devices, device) != channel.devices.end())
          return At(child, "this channel has the same GPU twice");
        channel.devices.push_back(device);
      } else if (name == "net") {
        RINGLET_TRY_ASSIGN(const std::uint32_t net, Net(child));
        (channel.devices.empty() ? channel.entry : channel.exit) = net;
        plan_.multi_node = true;
      } else {
        return At(child,
                  fmt::format("<{}> is neither <gpu> nor <net>", Printable(name, kShownBytesMax)));
      }
    }
    const bool head_only = graph.pattern == Pattern::kNvls;
    const std::size_t wanted = head_only ? 1 : names_.gpus.size();
    if (channel.devices.size() != wanted)
      return At(node, fmt::format("this channel has {} GPUs; it must have {}",
                                  channel.devices.size(), wanted));
    graph.channels.push_back(std::move(channel));
    return Ok();
  }

  template <typename Value>
  Result<std::uint32_t> Find(pugi::xml_node node, const char* name,
                             const std::vector<Value>& values) const {
    RINGLET_TRY_ASSIGN(const std::uint64_t wanted,
                       Number(node, name, std::numeric_limits<std::uint64_t>::max()));
    for (std::uint32_t i = 0; i < values.size(); ++i)
      if (values[i] == wanted) return i;
    return Bad(node, name, "one that this machine has");
  }
  Result<std::uint32_t> Device(pugi::xml_node node) const {
    if (node.attribute("rank")) return Find(node, "rank", names_.ranks);
    return Find(node, "dev", names_.gpus);
  }
  Result<std::uint32_t> Net(pugi::xml_node node) const { return Find(node, "dev", names_.nets); }

  topology::XmlText text_;
  std::string_view file_;
  const GraphNames& names_;
  HostPlan plan_;
  std::array<bool, kGraphIds> seen_ = {};
};

}  // namespace

GraphNames NamesOf(const topology::Paths& paths) {
  const Graph& graph = paths.graph();
  const auto host = [&](NodeIndex node) {
    return std::uint64_t{graph.at(node).host - paths.system().first_host} << kSystemShift;
  };
  GraphNames names;
  for (const NodeIndex gpu : paths.Of(NodeKind::kGpu)) {
    names.gpus.push_back(host(gpu) | graph.at(graph.gpu(gpu).device).number);
    names.ranks.push_back(graph.at(gpu).number);
  }
  for (const NodeIndex net : paths.Of(NodeKind::kNet))
    names.nets.push_back(host(net) | graph.at(net).id);
  return names;
}

std::string WriteGraphs(const HostPlan& plan, const GraphNames& names) {
  return Writing(plan, names).Run();
}

Result<HostPlan> ReadGraphs(std::string_view text, std::string_view file, const GraphNames& names) {
  return Reading(text, file, names).Run();
}

std::optional<std::uint32_t> FirstRankIn(std::string_view text) {
  const topology::XmlText xml(text);
  if (xml.refusal()) return std::nullopt;
  for (const pugi::xml_node graph : xml.root().children("graph"))
    for (const pugi::xml_node channel : graph.children("channel"))
      for (const pugi::xml_node gpu : channel.children("gpu")) {
        const auto rank = ParseUnsigned(gpu.attribute("rank").value());
        if (rank && *rank <= std::numeric_limits<std::uint32_t>::max())
          return static_cast<std::uint32_t>(*rank);
      }
  return std::nullopt;
}

}  // namespace ringlet::plan
