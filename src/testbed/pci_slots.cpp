#include "testbed/pci_slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ringlet::testbed {
namespace {

using topology::BusId;
using topology::HostView;
using topology::PartKind;

constexpr std::uint32_t kBusMax = 255;
/// Domains above those of real host bridges. They supply buses to a full domain.
constexpr std::uint32_t kSpareDomain = 0x10000;

using Bus = std::pair<std::uint32_t, std::uint32_t>;

Bus BusOf(BusId id) {
  return {id.domain(), id.bus()};
}

class PciPlacer {
 public:
  PciPlacer(const HostView& view, const std::set<BusId>& taken)
      : view_(view), taken_(taken), below_(view.pci.size()), last_(view.pci.size()) {
    for (std::uint32_t i = 0; i < view.pci.size(); ++i) {
      const topology::PciDevice& device = view.pci[i];
      taken_.insert(device.bus);
      used_.insert(BusOf(device.bus));
      if (device.parent.kind == PartKind::kPci) below_[device.parent.index].push_back(i);
    }
    // Parents come before children.
    for (std::size_t i = view.pci.size(); i-- > 0;) {
      const topology::PciDevice& device = view.pci[i];
      last_[i] = std::max<std::uint32_t>(last_[i], device.bus.bus());
      if (device.parent.kind != PartKind::kPci) continue;
      const std::uint32_t parent = device.parent.index;
      if (view.pci[parent].bus.domain() == device.bus.domain())
        last_[parent] = std::max(last_[parent], last_[i]);
    }
    for (const topology::Nic& nic : view.nics) AddCard(nic);
  }

  PciLayout Place() {
    std::map<std::pair<Bus, std::uint32_t>, std::vector<std::uint32_t>> roots;  // by bus and node
    for (std::uint32_t i = 0; i < view_.pci.size(); ++i) {
      if (view_.pci[i].parent.kind == PartKind::kPci) continue;
      const Bus bus = BusOf(view_.pci[i].bus);
      roots[{bus, view_.pci[i].parent.index}].push_back(i);
      for (std::uint32_t inside = bus.second; inside <= last_[i]; ++inside)
        inside_.insert({bus.first, inside});
    }
    for (const auto& [key, devices] : roots) PlaceRoots(key.first, key.second, devices);
    return std::move(layout_);
  }

 private:
  /// A card shows one function per network device.
  void AddCard(const topology::Nic& nic) {
    if (nic.parent.kind != PartKind::kPci) return;
    const auto index = static_cast<std::uint32_t>(&nic - view_.nics.data());
    std::set<std::string> names;
    for (const topology::NetInterface& net : view_.nets)
      if (net.nic == index) names.insert(net.name.substr(0, net.name.find(':')));
    cards_[nic.parent.index] = static_cast<std::uint32_t>(names.size());
  }

  void PlaceRoots(Bus bus, std::uint32_t numa, const std::vector<std::uint32_t>& devices) {
    const std::optional<std::uint32_t> host = HostBus(bus, numa);
    const Bus top{bus.first, host.value_or(bus.second)};
    const std::string path = fmt::format("/sys/devices/pci{:04x}:{:02x}", top.first, top.second);
    if (bridges_.insert(top).second)
      layout_.buses.push_back({top.first, static_cast<std::uint8_t>(top.second), path, numa});
    if (!host) return PlaceDevices(devices, path, numa);
    PlaceBelowPort({.level = PciSlot::Level::kRootPort, .numa = numa}, top, path, devices);
  }

  /// Returns the nearest free bus below, for root ports. A host bridge belongs to one NUMA node.
  std::optional<std::uint32_t> HostBus(Bus bus, std::uint32_t numa) {
    for (std::uint32_t host = bus.second; host-- > 0;) {
      const Bus here{bus.first, host};
      if (used_.count(here) != 0 || inside_.count(here) != 0) continue;
      const auto [claim, is_new] = claims_.emplace(here, numa);
      if (is_new || claim->second == numa) return host;
    }
    return std::nullopt;
  }

  /// Returns a bus for the inside of a switch. The file leaves the buses between the switch's own
  /// and the first one below it free.
  Bus InnerBus(std::uint32_t device) {
    const Bus own = BusOf(view_.pci[device].bus);
    std::uint32_t first = kBusMax + 1;
    for (const std::uint32_t child : below_[device])
      first = std::min<std::uint32_t>(first, view_.pci[child].bus.bus());
    for (std::uint32_t bus = own.second + 1; bus < first; ++bus)
      if (Claim({own.first, bus})) return {own.first, bus};
    for (std::uint32_t domain = own.first;; domain += kSpareDomain)
      for (std::uint32_t bus = kBusMax; bus > 0; --bus)
        if (Claim({domain, bus})) return {domain, bus};
  }

  bool Claim(Bus bus) {
    return claims_.count(bus) == 0 && bridges_.count(bus) == 0 && used_.insert(bus).second;
  }

  BusId PortAddress(Bus bus) {
    constexpr std::uint32_t kDevices = 32, kFunctions = 8, kNumbers = kDevices * kFunctions;
    for (std::uint32_t number = 0; number < kNumbers; ++number) {
      const BusId id = BusId::Of(bus.first, static_cast<std::uint8_t>(bus.second),
                                 static_cast<std::uint8_t>(number % kDevices),
                                 static_cast<std::uint8_t>(number / kDevices));
      // Device 0 is a host bridge, so a root port is at another one.
      if ((bridges_.count(bus) != 0 && id.device() == 0) || !taken_.insert(id).second) continue;
      return id;
    }
    return PortAddress({bus.first + kSpareDomain, bus.second});
  }

  void PlaceBelowPort(PciSlot port, Bus bus, const std::string& folder,
                      const std::vector<std::uint32_t>& devices) {
    const Bus below = BusOf(view_.pci[devices.front()].bus);
    port.bus = PortAddress(bus);
    port.path = fmt::format("{}/{}", folder, ToString(port.bus));
    port.device = devices.front();
    port.primary = static_cast<std::uint8_t>(bus.second);
    port.secondary = static_cast<std::uint8_t>(below.second);
    std::uint32_t last = 0;
    for (const std::uint32_t device : devices) last = std::max(last, last_[device]);
    port.subordinate = static_cast<std::uint8_t>(last);
    layout_.slots.push_back(port);
    layout_.buses.push_back({below.first, port.secondary, port.path, port.numa});
    PlaceDevices(devices, port.path, port.numa);
  }

  void PlaceDevices(const std::vector<std::uint32_t>& devices, const std::string& folder,
                    std::uint32_t numa) {
    for (const std::uint32_t device : devices) {
      if (!placed_.insert(view_.pci[device].bus).second) continue;  // a file may repeat a bus
      PciSlot slot{.bus = view_.pci[device].bus, .path = {}, .device = device, .numa = numa};
      slot.path = fmt::format("{}/{}", folder, ToString(slot.bus));
      slot.primary = slot.bus.bus();
      const std::string path = slot.path;
      const std::size_t at = layout_.slots.size();
      layout_.slots.push_back(std::move(slot));
      AddFunctions(device, folder, numa);
      if (below_[device].empty()) continue;
      const Bus inner = InnerBus(device);
      layout_.slots[at].secondary = static_cast<std::uint8_t>(inner.second);
      layout_.slots[at].subordinate =
          static_cast<std::uint8_t>(std::max(last_[device], inner.second));
      layout_.buses.push_back({inner.first, static_cast<std::uint8_t>(inner.second), path, numa});
      PlaceChildren(device, inner, path, numa);
    }
  }

  void PlaceChildren(std::uint32_t device, Bus inner, const std::string& path, std::uint32_t numa) {
    std::map<Bus, std::vector<std::uint32_t>> groups;
    for (const std::uint32_t child : below_[device])
      groups[BusOf(view_.pci[child].bus)].push_back(child);
    for (const auto& [bus, devices] : groups)
      PlaceBelowPort({.level = PciSlot::Level::kDownstreamPort, .above = device, .numa = numa},
                     inner, path, devices);
  }

  void AddFunctions(std::uint32_t device, const std::string& folder, std::uint32_t numa) {
    constexpr std::uint32_t kFunctionsMax = 8;
    const auto card = cards_.find(device);
    if (card == cards_.end()) return;
    const BusId first = view_.pci[device].bus;
    for (std::uint32_t i = 1; i < card->second && first.function() + i < kFunctionsMax; ++i) {
      const BusId bus{first.value + i};
      if (!taken_.insert(bus).second) continue;
      layout_.slots.push_back({.bus = bus,
                               .path = fmt::format("{}/{}", folder, ToString(bus)),
                               .device = device,
                               .numa = numa,
                               .primary = bus.bus(),
                               .function_of_card = i});
    }
  }

  const HostView& view_;
  std::set<BusId> taken_, placed_ = {};
  std::vector<std::vector<std::uint32_t>> below_;      // of each device
  std::vector<std::uint32_t> last_;                    // last bus in its domain, with children
  std::map<std::uint32_t, std::uint32_t> cards_ = {};  // number of network devices, by device
  std::set<Bus> used_ = {};                            // by devices, and within switches
  std::set<Bus> inside_ = {};                          // between a root and the last below it
  std::map<Bus, std::uint32_t> claims_ = {};           // NUMA nodes of host bridges
  std::set<Bus> bridges_ = {};                         // host bridges in the layout
  PciLayout layout_ = {};
};

}  // namespace

PciLayout LayOutPci(const HostView& view, const std::set<BusId>& taken) {
  return PciPlacer(view, taken).Place();
}

}  // namespace ringlet::testbed
