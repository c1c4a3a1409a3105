#include "topo/edit/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "base/value/text.hpp"
#include "topo/edit/complete.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::topology {
namespace {

constexpr std::uint32_t kCountMax = 16'384;
constexpr std::uint32_t kNicGbit = 200;
constexpr std::uint32_t kNicGbitMax = 100'000;
constexpr std::uint32_t kCpusOfANode = 16;
constexpr std::uint32_t kCpusOfAHostMax = 8192;  // limit of a mask in a file

enum class ItemKind : std::uint8_t { kHost, kNuma, kSwitch, kGpu, kNic };

struct SyntheticItem {
  ItemKind kind = ItemKind::kGpu;
  std::uint32_t count = 1;
  const GpuModel* model = nullptr;
  LinkLayout layout = LinkLayout::kNone;
  std::uint32_t gbit_per_s = kNicGbit;
  std::uint32_t column = 0;
  std::vector<SyntheticItem> items = {};
};

Error RefuseColumn(std::size_t column, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("column {} of the machine: {}", column, why)};
}

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

class SyntheticParser {
 public:
  explicit SyntheticParser(std::string_view text) : text_(text) {}

  Result<std::vector<SyntheticItem>> Run() {
    RINGLET_TRY_ASSIGN(std::vector<SyntheticItem> items, Items(0));
    Skip();
    if (at_ != text_.size()) return RefuseColumn(column(), "unexpected text");
    return items;
  }

 private:
  std::uint32_t column() const { return static_cast<std::uint32_t>(at_ + 1); }
  void Skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(char c) {
    Skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view PeekWord() {
    Skip();
    std::size_t end = at_;
    while (end < text_.size() && IsWordByte(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  std::string_view TakeWord() {
    const std::string_view word = PeekWord();
    at_ += word.size();
    return word;
  }
  /// Takes only the digits: "2" of "2x(".
  std::string_view TakeDigits() {
    Skip();
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return text_.substr(start, at_ - start);
  }

  Result<std::vector<SyntheticItem>> Items(std::size_t depth) {
    if (depth > kSyntheticDepthMax) return RefuseColumn(column(), "brackets are nested too deep");
    std::vector<SyntheticItem> items;
    do {
      RINGLET_TRY_ASSIGN(SyntheticItem item, OneItem(depth));
      items.push_back(std::move(item));
    } while (Take(','));
    return items;
  }

  Result<SyntheticItem> OneItem(std::size_t depth) {
    Skip();
    SyntheticItem item{.column = column()};
    const std::string_view digits = TakeDigits();
    if (!digits.empty()) {
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), item.count);
      if (error != std::errc() || item.count == 0 || item.count > kCountMax)
        return RefuseColumn(item.column,
                            fmt::format("a count must be between 1 and {}", kCountMax));
      if (at_ < text_.size() && text_[at_] == 'x') {
        ++at_;
        if (!Take('(')) return RefuseColumn(column(), "\"(\" must follow \"x\"");
        return Group(std::move(item), depth);
      }
    }
    if (Take('(')) return Group(std::move(item), depth);
    return Leaf(std::move(item));
  }

  Result<SyntheticItem> Group(SyntheticItem item, std::size_t depth) {
    const std::uint32_t at = column();
    const std::string_view place = TakeWord();
    if (place == "host") {
      item.kind = ItemKind::kHost;
    } else if (place == "numa") {
      item.kind = ItemKind::kNuma;
    } else if (place == "switch") {
      item.kind = ItemKind::kSwitch;
    } else {
      return RefuseColumn(at, "host, numa or switch must follow \"(\"");
    }
    if (!Take(':')) return RefuseColumn(column(), fmt::format("\":\" must follow \"{}\"", place));
    RINGLET_TRY_ASSIGN(item.items, Items(depth + 1));
    if (!Take(')')) return RefuseColumn(column(), "\",\" or \")\" is missing");
    return item;
  }

  Result<SyntheticItem> Leaf(SyntheticItem item) {
    const std::uint32_t at = column();
    const std::string_view word = TakeWord();
    if (word == "nic") {
      item.kind = ItemKind::kNic;
      return Speed(std::move(item));
    }
    if (word != "gpu")
      return RefuseColumn(at, "a gpu, a nic, or a bracket such as \"2x(numa: ...)\" is missing");
    const std::uint32_t model_at = column();
    const std::string_view model = TakeWord();
    if (model.empty()) return item;
    item.model = FindGpuModel(model);
    if (item.model == nullptr)
      return RefuseColumn(model_at, fmt::format("no model of GPU is called \"{}\"; known are {}",
                                                model, ModelNames()));
    const std::string_view layout = TakeWord();
    if (layout.empty()) return item;
    const std::optional<LinkLayout> known = FindLayout(layout);
    if (!known)
      return RefuseColumn(
          model_at,
          fmt::format("the links must be none, switch, pairs, mesh or cube-mesh, not \"{}\"",
                      layout));
    item.layout = *known;
    return item;
  }

  static std::string ModelNames() {
    std::string names;
    for (const GpuModel& model : GpuModels())
      names += (names.empty() ? "" : ", ") + std::string(model.name);
    return names;
  }

  Result<SyntheticItem> Speed(SyntheticItem item) {
    const std::uint32_t at = column();
    const std::string_view word = TakeWord();
    if (word.empty()) return item;
    const auto [end, error] =
        std::from_chars(word.data(), word.data() + word.size(), item.gbit_per_s);
    const bool whole = error == std::errc() && end + 1 == word.data() + word.size() && *end == 'g';
    if (!whole || item.gbit_per_s == 0 || item.gbit_per_s > kNicGbitMax)
      return RefuseColumn(at, "write the speed of a NIC in Gbit/s, such as 400g");
    return item;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::uint8_t NicGeneration(const SyntheticItem& nic) {
  if (nic.gbit_per_s > 400) return 6;
  return nic.gbit_per_s > 200 ? 5 : 4;
}

/// Returns the fastest PCIe generation at or below an item.
std::uint8_t Generation(const SyntheticItem& item) {
  if (item.kind == ItemKind::kNic) return NicGeneration(item);
  if (item.kind == ItemKind::kGpu) return item.model != nullptr ? item.model->pcie_generation : 4;
  std::uint8_t generation = 4;
  for (const SyntheticItem& below : item.items)
    generation = std::max(generation, Generation(below));
  return generation;
}

class SyntheticBuilder {
 public:
  Result<HostView> Run(const std::vector<SyntheticItem>& items) {
    view_.cpu = {"x86_64", "GenuineIntel", 6, 143, ""};
    const bool hosts = items.front().kind == ItemKind::kHost;
    for (const SyntheticItem& item : items)
      if ((item.kind == ItemKind::kHost) != hosts)
        return RefuseColumn(item.column, "a host may stand only beside other hosts");
    if (hosts) {
      for (const SyntheticItem& item : items)
        for (std::uint32_t i = 0; i < item.count; ++i) RINGLET_TRY(AddHost(item.items));
    } else {
      RINGLET_TRY(AddHost(items));
    }
    for (const auto& [layout, gpus] : joined_) {
      const GpuModel& model = *gpus.front().second;
      std::vector<std::uint32_t> indices;
      for (const auto& [index, other] : gpus) indices.push_back(index);
      const Status linked = LinkGpus(view_, indices, layout.second, model.links,
                                     model.gcn.empty() ? GpuLinkKind::kNvLink : GpuLinkKind::kXgmi);
      if (!linked.ok()) return linked.error();
    }
    RINGLET_TRY(view_.Check());
    return std::move(view_);
  }

 private:
  Status Count(const SyntheticItem& item) {
    if (++parts_ > kSyntheticPartsMax)
      return RefuseColumn(item.column,
                          fmt::format("the machine has more than {} parts", kSyntheticPartsMax));
    return Ok();
  }

  Status AddHost(const std::vector<SyntheticItem>& items) {
    ++host_;
    devices_ = 0;
    cpus_ = 0;
    numa_id_ = 0;
    const bool nodes = items.front().kind == ItemKind::kNuma;
    for (const SyntheticItem& item : items)
      if (item.kind == ItemKind::kHost || (item.kind == ItemKind::kNuma) != nodes)
        return RefuseColumn(item.column, nodes ? "a numa may stand only beside other numas"
                                               : "only switches, GPUs and NICs may stand here");
    if (!nodes) return AddNode(items);
    for (const SyntheticItem& item : items)
      for (std::uint32_t i = 0; i < item.count; ++i) {
        RINGLET_TRY(Count(item));
        RINGLET_TRY(AddNode(item.items));
      }
    return Ok();
  }

  Status AddNode(const std::vector<SyntheticItem>& items) {
    if (cpus_ == kCpusOfAHostMax)
      return RefuseColumn(items.front().column, fmt::format("a host has at most {} NUMA nodes",
                                                            kCpusOfAHostMax / kCpusOfANode));
    NumaNode node;
    node.id = numa_id_++;
    node.cpus = CpuSet::Of(cpus_, cpus_ + kCpusOfANode - 1);
    cpus_ += kCpusOfANode;
    if (host_ > 1) node.host = host_;
    if (host_ == 1) view_.identity = 1;
    view_.numa_nodes.push_back(std::move(node));
    return AddItems(items, {PartKind::kNuma, Last(view_.numa_nodes)});
  }

  template <typename T>
  static std::uint32_t Last(const std::vector<T>& parts) {
    return static_cast<std::uint32_t>(parts.size() - 1);
  }

  Status AddItems(const std::vector<SyntheticItem>& items, Part parent) {
    for (const SyntheticItem& item : items) {
      if (item.kind == ItemKind::kHost || item.kind == ItemKind::kNuma)
        return RefuseColumn(item.column, "only switches, GPUs and NICs may stand here");
      for (std::uint32_t i = 0; i < item.count; ++i) {
        RINGLET_TRY(Count(item));
        RINGLET_TRY(AddOne(item, parent));
      }
    }
    return Ok();
  }

  Status AddOne(const SyntheticItem& item, Part parent) {
    PciDevice pci{.parent = parent, .bus = NextBus()};
    pci.link_speed = PcieSpeed::Of(Generation(item));
    pci.link_width = 16;
    const Part part{PartKind::kPci, static_cast<std::uint32_t>(view_.pci.size())};
    switch (item.kind) {
      case ItemKind::kGpu:
        pci.device_class = PciClass{0x030200};
        if (item.model != nullptr) pci.ids = {item.model->vendor, item.model->device, 0, 0};
        view_.pci.push_back(std::move(pci));
        AddGpu(item, part.index);
        return Ok();
      case ItemKind::kNic:
        pci.device_class = PciClass{0x020000};
        view_.pci.push_back(std::move(pci));
        AddNic(item, part);
        return Ok();
      case ItemKind::kHost:
      case ItemKind::kNuma:
      case ItemKind::kSwitch: break;
    }
    pci.device_class = PciClass{0x060400};
    view_.pci.push_back(std::move(pci));
    return AddItems(item.items, part);
  }

  void AddGpu(const SyntheticItem& item, std::uint32_t pci) {
    Gpu gpu{.pci = pci, .dev = devices_++, .gcn = ""};
    gpu.compute_capability = item.model != nullptr ? item.model->compute_capability : 80;
    if (item.model != nullptr) gpu.gcn = item.model->gcn;
    gpu.rank = static_cast<std::uint32_t>(view_.gpus.size());
    gpu.gdr = true;
    view_.gpus.push_back(std::move(gpu));
    if (item.model != nullptr && item.layout != LinkLayout::kNone)
      joined_[{host_, item.layout}].emplace_back(Last(view_.gpus), item.model);
  }

  void AddNic(const SyntheticItem& item, Part pci) {
    view_.nics.push_back({pci});
    const auto number = static_cast<std::uint32_t>(view_.nets.size());
    NetInterface net{.name = fmt::format("nic{}", number),
                     .speed_mbit_per_s = item.gbit_per_s * 1000,
                     .numa = std::nullopt,
                     .nic = Last(view_.nics)};
    net.numa = view_.numa_nodes.back().id;
    net.dev = number;
    net.port = 1;
    net.guid = number + 1;
    net.gdr = true;
    view_.nets.push_back(std::move(net));
  }

  /// Returns a new bus for each function; 255 buses per domain.
  BusId NextBus() {
    const std::uint32_t number = bus_++;
    return BusId::Of(number / 255, static_cast<std::uint8_t>(number % 255 + 1), 0, 0);
  }

  HostView view_;
  std::uint64_t host_ = 0;
  std::uint32_t numa_id_ = 0;
  std::uint32_t devices_ = 0;  // GPUs of this host
  std::uint32_t cpus_ = 0;
  std::uint32_t bus_ = 0;
  std::size_t parts_ = 0;
  // GPUs with a layout, by host, with their models.
  std::map<std::pair<std::uint64_t, LinkLayout>,
           std::vector<std::pair<std::uint32_t, const GpuModel*>>>
      joined_;
};

}  // namespace

Result<HostView> ParseSynthetic(std::string_view text) {
  if (text.size() > kSyntheticBytesMax)
    return Error{Code::kInvalidArgument,
                 fmt::format("a machine has at most {} characters", kSyntheticBytesMax)};
  RINGLET_TRY_ASSIGN(const std::vector<SyntheticItem> items, SyntheticParser(text).Run());
  return SyntheticBuilder().Run(items);
}

}  // namespace ringlet::topology
