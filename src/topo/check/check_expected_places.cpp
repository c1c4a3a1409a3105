// Rules that compare the places of a machine's devices with their expected places.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "topo/check/check_context.hpp"

namespace ringlet::topology {
namespace {

std::string NumaText(std::uint32_t numa) {
  return numa == kUnknownNuma ? "none" : fmt::format("{}", numa);
}

/// A GPU or a NIC by its address.
struct ComparedPlace {
  std::uint32_t pci = 0;
  bool is_gpu = false;
  std::string name = {};
  std::optional<std::uint32_t> dev = {};  ///< of a GPU
};
using ComparedPlaces = std::map<BusId, ComparedPlace>;

ComparedPlaces PlacesOf(const CheckContext& context) {
  ComparedPlaces places;
  for (const CheckedNic& nic : context.nics())
    places[context.At(nic).bus] = {nic.pci, false, context.NameOf(nic), {}};
  for (const CheckedGpu& gpu : context.gpus())
    places[context.At(gpu).bus] = {
        gpu.pci, true, context.NameOf(gpu),
        gpu.gpu ? context.view().gpus[*gpu.gpu].dev : std::optional<std::uint32_t>()};
  return places;
}

class PlaceComparison {
 public:
  PlaceComparison(CheckContext& context, const CheckContext& expected, std::string_view name)
      : context_(context),
        expected_(expected),
        name_(name),
        here_(PlacesOf(context)),
        there_(PlacesOf(expected)) {}

  void RunByAddress() {
    for (const auto& [bus, place] : here_) {
      const auto other = there_.find(bus);
      if (other != there_.end()) Compare(bus, place, other->second);
    }
  }

  /// Compares the numbers of GPUs per NUMA node, the best evidence if addresses differ.
  void RunBySpread() {
    const std::vector<std::size_t> have = Spread(context_), wanted = Spread(expected_);
    if (have == wanted || have.empty() || wanted.empty() ||
        context_.gpus().size() != expected_.gpus().size())
      return;
    context_.Add("gpu-numa", {}, fmt::format("{} GPUs", context_.gpus().size()),
                 fmt::format("their counts per NUMA node are {}; in {} they are {}",
                             fmt::join(have, ", "), name_, fmt::join(wanted, ", ")),
                 "cat /sys/bus/pci/devices/ADDRESS/numa_node shows the node of each: correct the "
                 "file, or the NUMA setting of the firmware",
                 {});
  }

 private:
  void Compare(BusId bus, const ComparedPlace& place, const ComparedPlace& other) {
    if (place.is_gpu != other.is_gpu)
      return Report("moved", place,
                    fmt::format("{} is here; in {} it is {}", place.is_gpu ? "a GPU" : "a NIC",
                                name_, other.name));
    const std::uint32_t numa = context_.NumaOf(place.pci), wanted = expected_.NumaOf(other.pci);
    if (numa != wanted)
      return Report(place.is_gpu ? "gpu-numa" : "nic-numa", place,
                    fmt::format("it is at NUMA node {}; in {} it is at {}", NumaText(numa), name_,
                                NumaText(wanted)));
    const std::set<BusId> beside = Beside(context_, here_, bus, there_);
    const std::set<BusId> expected = Beside(expected_, there_, bus, here_);
    if (beside != expected)
      return Report("moved", place,
                    fmt::format("it shares a switch with {}; in {} with {}", ListText(beside),
                                name_, ListText(expected)));
    if (place.dev && other.dev && place.dev != other.dev && AllGpusAreHere())
      Report("moved", place,
             fmt::format("it is device {}; in {} it is device {}", *place.dev, name_, *other.dev));
  }

  /// Returns the devices below the same top function of a NUMA node, if both machines have them.
  static std::set<BusId> Beside(const CheckContext& context, const ComparedPlaces& places,
                                BusId bus, const ComparedPlaces& known) {
    std::set<BusId> beside;
    const std::uint32_t root = context.RootOf(places.at(bus).pci);
    for (const auto& [other, place] : places)
      if (other != bus && context.RootOf(place.pci) == root && known.contains(other))
        beside.insert(other);
    return beside;
  }

  static std::string ListText(const std::set<BusId>& list) {
    std::string text;
    for (const BusId bus : list) text += (text.empty() ? "" : ", ") + ToString(bus);
    return text.empty() ? "none" : text;
  }

  bool AllGpusAreHere() const {
    return std::ranges::all_of(there_, [&](const auto& entry) {
      return !entry.second.is_gpu || here_.contains(entry.first);
    });
  }

  static std::vector<std::size_t> Spread(const CheckContext& context) {
    std::map<std::uint32_t, std::size_t> nodes;
    for (const CheckedGpu& gpu : context.gpus()) ++nodes[context.NumaOf(gpu.pci)];
    if (nodes.contains(kUnknownNuma)) return {};
    std::vector<std::size_t> counts;
    for (const auto& [node, count] : nodes) counts.push_back(count);
    std::ranges::sort(counts);
    return counts;
  }

  void Report(std::string_view rule, const ComparedPlace& place, std::string reason) {
    context_.Add(
        rule, {PartKind::kPci, place.pci}, place.name, std::move(reason),
        rule == "moved"
            ? "compare with lspci -tv; bus ids of the file may be swapped, or a card is in "
              "another slot"
            : "cat /sys/bus/pci/devices/ADDRESS/numa_node shows its node: correct the file, or the "
              "NUMA setting of the firmware",
        {});
  }

  CheckContext& context_;
  const CheckContext& expected_;
  std::string_view name_;
  const ComparedPlaces here_, there_;
};

}  // namespace

void CheckExpectedPlaces(CheckContext& context, const CheckContext& expected,
                         std::string_view name) {
  PlaceComparison comparison(context, expected, name);
  if (HaveSameAddresses(context, expected))
    comparison.RunByAddress();
  else
    comparison.RunBySpread();
}

}  // namespace ringlet::topology
