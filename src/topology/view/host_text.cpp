#include "topology/view/host_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/value/text.hpp"
#include "topology/view/words.hpp"

namespace ringlet::topology {
namespace {

constexpr std::string_view kHeader = "ringlet-host 1";

constexpr std::array<std::string_view, 9> kPartNames = {"system", "numa", "pci", "gpu",     "nic",
                                                        "net",    "link", "c2c", "pci-link"};
constexpr std::array<std::string_view, 2> kGpuLinkNames = {"nvlink", "xgmi"};
constexpr std::array<std::string_view, 6> kNetNames = {"unknown", "physical", "virtual",
                                                       "bond",    "bridge",   "vlan"};

/// "numa 0", "gpu 3 1": kind, index and, where there is one, item.
std::string PartText(const Part& part) {
  std::string text =
      fmt::format("{} {}", kPartNames[static_cast<std::size_t>(part.kind)], part.index);
  if (part.item != 0) text += fmt::format(" {}", part.item);
  return text;
}

template <std::size_t kCount>
std::optional<std::size_t> Position(const std::array<std::string_view, kCount>& names,
                                    std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<std::size_t>(at - names.begin());
}

std::optional<Part> ParsePart(std::string_view text) {
  const std::vector<std::string_view> words = Split(text, ' ');
  if (words.size() < 2 || words.size() > 3) return std::nullopt;
  const auto kind = Position(kPartNames, words[0]);
  const auto index = ParseDecimal(words[1]);
  const auto item = words.size() == 3 ? ParseDecimal(words[2]) : 0;
  constexpr std::uint64_t kMax = ~std::uint32_t{0};
  if (!kind || !index || !item || *index > kMax || *item > kMax) return std::nullopt;
  return Part{static_cast<PartKind>(*kind), static_cast<std::uint32_t>(*index),
              static_cast<std::uint32_t>(*item)};
}

std::string DistancesText(const std::vector<std::uint32_t>& distances) {
  std::string text;
  for (const std::uint32_t distance : distances)
    text += fmt::format("{}{}", text.empty() ? "" : " ", distance);
  return text;
}

/// One line: what it is, its name, and its keys with values. A key is asked for once; a key that
/// was not asked for is an error.
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
  std::optional<std::uint64_t> TakeU64(const char* key) {
    return TakeNumber(key, ~std::uint64_t{0});
  }
  std::optional<bool> TakeFlag(const char* key) {
    const auto value = TakeNumber(key, 1);
    return value ? std::optional(*value == 1) : std::nullopt;
  }
  std::optional<BusId> TakeBus(const char* key) {
    const std::string text = TakeText(key);
    return text.empty() ? std::nullopt : Keep(BusId::Parse(text));
  }
  std::optional<PciClass> TakeClass(const char* key) {
    const std::string text = TakeText(key);
    return text.empty() ? std::nullopt : Keep(PciClass::Parse(text));
  }
  Part TakePart(const char* key) {
    const std::optional<Part> part = ParsePart(TakeText(key));
    if (!part) Fail(fmt::format("{} names no part such as \"numa 0\"", key));
    return part.value_or(Part());
  }
  template <std::size_t kCount>
  std::size_t TakeOneOf(const char* key, const std::array<std::string_view, kCount>& names) {
    const std::string text = TakeText(key);
    const auto position = text.empty() ? std::optional<std::size_t>(0) : Position(names, text);
    if (!position) Fail(fmt::format("{} is \"{}\", which is unknown", key, Printable(text, 40)));
    return position.value_or(0);
  }
  BusId NameAsBus() { return Keep(BusId::Parse(name_)).value_or(BusId()); }
  template <typename T>
  std::optional<T> Keep(const Result<T>& value) {
    if (value.ok()) return *value;
    Fail(value.error().message);
    return std::nullopt;
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
  view.identity = line.TakeU64("identity").value_or(0);
  view.version = line.TakeU32("version").value_or(1);
}

CpuModel TakeModel(Line& line) {
  CpuModel cpu;
  cpu.arch = line.TakeText("arch");
  cpu.vendor = line.TakeText("vendor");
  cpu.family = line.TakeU32("family").value_or(0);
  cpu.model = line.TakeU32("model").value_or(0);
  cpu.name = line.TakeText("name");
  return cpu;
}

void ReadNuma(Line& line, HostView& view) {
  NumaNode node;
  node.id = line.name() == "unknown" ? kUnknownNuma : line.NameAsNumber();
  node.host = line.TakeU64("host");
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
  const CpuModel cpu = TakeModel(line);
  if (cpu != CpuModel()) node.cpu = cpu;
  view.numa_nodes.push_back(std::move(node));
}

void ReadNet(Line& line, HostView& view) {
  NetInterface net;
  net.name = line.name();
  net.speed_mbit_per_s = line.TakeU32("speed");
  net.numa = line.TakeU32("numa");
  net.nic = line.TakeU32("nic");
  net.kind = static_cast<NetKind>(line.TakeOneOf("kind", kNetNames));
  net.rdma_device = line.TakeText("rdma");
  const std::optional<std::vector<std::string>> members = Words(line.TakeText("members"));
  if (!members) line.Fail("the members are no list of names");
  net.members = members.value_or(std::vector<std::string>());
  net.dev = line.TakeU32("dev");
  net.latency_ns = line.TakeU32("latency_ns");
  net.port = line.TakeU32("port");
  net.guid = line.TakeU64("guid");
  net.max_connections = line.TakeU32("connections");
  net.gdr = line.TakeFlag("gdr");
  net.collective = line.TakeFlag("collective");
  net.net_api = line.TakeFlag("net_api");
  net.gin_api = line.TakeFlag("gin_api");
  net.rma_api = line.TakeFlag("rma_api");
  net.rail = line.TakeU32("rail");
  net.plane = line.TakeU32("plane");
  view.nets.push_back(std::move(net));
}

void ReadPci(Line& line, HostView& view) {
  PciDevice pci{.parent = line.TakePart("below"), .bus = line.NameAsBus()};
  pci.device_class = line.TakeClass("class");
  const std::uint64_t ids = line.TakeU64("ids").value_or(0);
  pci.ids = {static_cast<std::uint16_t>(ids >> 48), static_cast<std::uint16_t>(ids >> 32),
             static_cast<std::uint16_t>(ids >> 16), static_cast<std::uint16_t>(ids)};
  pci.link_speed = PcieSpeed::Parse(line.TakeText("speed"));
  pci.link_width = static_cast<std::uint16_t>(line.TakeNumber("lanes", 0xffff).value_or(0));
  const std::string peers = line.TakeText("peers");
  if (!peers.empty())
    for (const std::string_view peer : Split(peers, ' '))
      pci.peers.push_back(line.Keep(BusId::Parse(peer)).value_or(BusId()));
  view.pci.push_back(std::move(pci));
}

void ReadGpu(Line& line, HostView& view) {
  Gpu gpu{.pci = line.NameAsNumber(), .gcn = line.TakeText("gcn")};
  gpu.dev = line.TakeU32("dev");
  gpu.compute_capability = line.TakeU32("capability").value_or(0);
  gpu.rank = line.TakeU32("rank");
  gpu.gdr = line.TakeFlag("gdr");
  gpu.mlopart = line.TakeU32("half");
  gpu.rccl_arch = line.TakeU32("arch");
  const auto high = line.TakeU64("cluster_high");
  const auto low = line.TakeU64("cluster_low");
  const auto clique = line.TakeU32("clique");
  if (high || low) gpu.fabric = Fabric{{high.value_or(0), low.value_or(0)}, clique.value_or(0)};
  view.gpus.push_back(std::move(gpu));
}

/// The GPU that a link is of: the last one.
Gpu* LastGpu(Line& line, HostView& view) {
  if (view.gpus.empty()) line.Fail("a link comes after its GPU");
  return view.gpus.empty() ? nullptr : &view.gpus.back();
}

void ReadLink(Line& line, HostView& view) {
  GpuLink link;
  const std::optional<std::size_t> kind = Position(kGpuLinkNames, line.name());
  if (!kind) line.Fail("a link is nvlink or xgmi");
  link.kind = static_cast<GpuLinkKind>(kind.value_or(0));
  link.target = line.TakeBus("target");
  link.count = line.TakeU32("count").value_or(0);
  link.target_class = line.TakeClass("class");
  if (Gpu* gpu = LastGpu(line, view)) gpu->links.push_back(link);
}

void ReadC2c(Line& line, HostView& view) {
  const C2cLink c2c{line.NameAsNumber(), line.TakeU32("count").value_or(0)};
  if (Gpu* gpu = LastGpu(line, view)) gpu->c2c.push_back(c2c);
}

void ReadUnknown(Line& line, HostView& view) {
  const Part part = line.TakePart("of");
  std::string value = line.TakeText("value");
  if (line.kind() == "attribute") {
    view.unknown_attributes.push_back({part, line.name(), std::move(value)});
  } else {
    view.unknown_elements.push_back({part, line.name()});
  }
}

struct LineReader {
  std::string_view kind;
  void (*read)(Line& line, HostView& view);
};
constexpr std::array<LineReader, 11> kReaders = {
    {{"host", ReadHost},
     {"cpu", [](Line& line, HostView& view) { view.cpu = TakeModel(line); }},
     {"numa", ReadNuma},
     {"net", ReadNet},
     {"pci", ReadPci},
     {"gpu", ReadGpu},
     {"link", ReadLink},
     {"c2c", ReadC2c},
     {"nic",
      [](Line& line, HostView& view) {
        const std::optional<Part> parent = ParsePart(line.name());
        if (!parent) line.Fail("a nic is below a part such as \"pci 0\"");
        view.nics.push_back({parent.value_or(Part())});
      }},
     {"attribute", ReadUnknown},
     {"element", ReadUnknown}}};

Status ReadLine(std::string_view text, std::size_t number, HostView& view) {
  RINGLET_TRY_ASSIGN(Line line, Line::Parse(text, number));
  for (const LineReader& reader : kReaders) {
    if (line.kind() != reader.kind) continue;
    reader.read(line, view);
    return line.Finish();
  }
  return line.Refuse(
      fmt::format("it starts with \"{}\", not with host, cpu, numa, pci, gpu, link, "
                  "c2c, nic, net, attribute or element",
                  Printable(line.kind(), 40)));
}

/// Appends " key value" where there is one.
void Put(std::string& text, std::string_view key, const std::optional<std::uint32_t>& value) {
  if (value) text += fmt::format(" {} {}", key, *value);
}
void Put(std::string& text, std::string_view key, const std::optional<bool>& value) {
  if (value) text += fmt::format(" {} {}", key, *value ? 1 : 0);
}
void Put(std::string& text, std::string_view key, const std::string& value) {
  if (!value.empty()) text += fmt::format(" {} {}", key, Quoted(value));
}
void Put(std::string& text, std::string_view key, const std::optional<PciClass>& value) {
  if (value) text += fmt::format(" {} {}", key, ToString(*value));
}
void PutHex(std::string& text, std::string_view key, const std::optional<std::uint64_t>& value) {
  if (value) text += fmt::format(" {} {:#018x}", key, *value);
}

std::string ModelText(const CpuModel& cpu) {
  return fmt::format("arch {} vendor {} family {} model {} name {}", Quoted(cpu.arch),
                     Quoted(cpu.vendor), cpu.family, cpu.model, Quoted(cpu.name));
}

std::string NumaText(const NumaNode& node) {
  std::string text = fmt::format("numa {} cpus \"{}\" memory {}",
                                 node.id == kUnknownNuma ? "unknown" : fmt::format("{}", node.id),
                                 ToString(node.cpus), node.memory_bytes);
  if (!node.distances.empty())
    text += fmt::format(" distances \"{}\"", DistancesText(node.distances));
  if (node.cpu) text += " " + ModelText(*node.cpu);
  PutHex(text, "host", node.host);
  return text + "\n";
}

std::string PciText(const PciDevice& pci) {
  std::string text = fmt::format("pci {} below \"{}\"", ToString(pci.bus), PartText(pci.parent));
  Put(text, "class", pci.device_class);
  if (pci.ids != PciIds()) PutHex(text, "ids", pci.ids.packed());
  Put(text, "speed", pci.link_speed.text);
  if (pci.link_width != 0) Put(text, "lanes", std::optional<std::uint32_t>(pci.link_width));
  std::string peers;
  for (const BusId peer : pci.peers) peers += (peers.empty() ? "" : " ") + ToString(peer);
  Put(text, "peers", peers);
  return text + "\n";
}

std::string GpuText(const Gpu& gpu) {
  std::string text = fmt::format("gpu {}", gpu.pci);
  Put(text, "dev", gpu.dev);
  if (gpu.compute_capability != 0) text += fmt::format(" capability {}", gpu.compute_capability);
  Put(text, "rank", gpu.rank);
  Put(text, "gdr", gpu.gdr);
  Put(text, "half", gpu.mlopart);
  Put(text, "gcn", gpu.gcn);
  Put(text, "arch", gpu.rccl_arch);
  if (gpu.fabric) {
    PutHex(text, "cluster_high", gpu.fabric->cluster[0]);
    PutHex(text, "cluster_low", gpu.fabric->cluster[1]);
    text += fmt::format(" clique {}", gpu.fabric->clique);
  }
  text += '\n';
  for (const GpuLink& link : gpu.links) {
    text += fmt::format("link {}", kGpuLinkNames[static_cast<std::size_t>(link.kind)]);
    if (link.target) text += " target " + ToString(*link.target);
    text += fmt::format(" count {}", link.count);
    Put(text, "class", link.target_class);
    text += '\n';
  }
  for (const C2cLink& c2c : gpu.c2c)
    text += fmt::format("c2c {} count {}\n", c2c.mb_per_s, c2c.count);
  return text;
}

std::string NetText(const NetInterface& net) {
  std::string text = "net " + Quoted(net.name);
  Put(text, "speed", net.speed_mbit_per_s);
  Put(text, "numa", net.numa);
  Put(text, "nic", net.nic);
  if (net.kind != NetKind::kUnknown)
    text += fmt::format(" kind {}", kNetNames[static_cast<std::size_t>(net.kind)]);
  Put(text, "rdma", net.rdma_device);
  std::string members;
  for (const std::string& member : net.members)
    members += (members.empty() ? "" : " ") + Quoted(member);
  Put(text, "members", members);
  Put(text, "dev", net.dev);
  Put(text, "latency_ns", net.latency_ns);
  Put(text, "port", net.port);
  PutHex(text, "guid", net.guid);
  Put(text, "connections", net.max_connections);
  Put(text, "gdr", net.gdr);
  Put(text, "collective", net.collective);
  Put(text, "net_api", net.net_api);
  Put(text, "gin_api", net.gin_api);
  Put(text, "rma_api", net.rma_api);
  Put(text, "rail", net.rail);
  Put(text, "plane", net.plane);
  return text + "\n";
}

}  // namespace

std::string ToText(const HostView& view) {
  std::string text =
      fmt::format("{}\nhost {} identity {:#018x}", kHeader, Quoted(view.name), view.identity);
  if (view.version != 1) text += fmt::format(" version {}", view.version);
  text += fmt::format("\ncpu {}\n", ModelText(view.cpu));
  for (const NumaNode& node : view.numa_nodes) text += NumaText(node);
  for (const PciDevice& pci : view.pci) text += PciText(pci);
  for (const Gpu& gpu : view.gpus) text += GpuText(gpu);
  for (const Nic& nic : view.nics) text += fmt::format("nic \"{}\"\n", PartText(nic.parent));
  for (const NetInterface& net : view.nets) text += NetText(net);
  for (const UnknownAttribute& one : view.unknown_attributes)
    text += fmt::format("attribute {} of \"{}\" value {}\n", Quoted(one.name), PartText(one.part),
                        Quoted(one.value));
  for (const UnknownElement& one : view.unknown_elements)
    text += fmt::format("element {} of \"{}\"\n", Quoted(one.xml), PartText(one.parent));
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
