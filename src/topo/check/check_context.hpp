// The shared state of the check's rules: the devices of a view, and the defects found.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topo/check/boards.hpp"
#include "topo/check/check.hpp"
#include "topo/check/defect.hpp"
#include "topology/finding/finding.hpp"
#include "topology/graph/bandwidth.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// A PCI function that is a GPU by its class, or that has a GPU.
struct CheckedGpu {
  std::uint32_t pci = 0;
  std::optional<std::uint32_t> gpu = {};  ///< the first one on it; empty in a skeleton
  std::uint64_t host = 0;
  const GpuBoard* board = nullptr;
};

/// A PCI function that is a NIC.
struct CheckedNic {
  std::uint32_t pci = 0;
  std::optional<std::uint32_t> nic = {};
  std::vector<std::uint32_t> nets = {};  ///< its ports
  std::uint64_t host = 0;
  bool beside_gpu = false;  ///< a GPU is below the same top function of the NUMA node
};

class CheckContext {
 public:
  /// \param positions  of the parts in the view's file; may be empty
  CheckContext(const HostView& view, const Positions& positions);

  const HostView& view() const { return view_; }
  const std::vector<CheckedGpu>& gpus() const { return gpus_; }
  const std::vector<CheckedNic>& nics() const { return nics_; }
  const PciDevice& At(const CheckedGpu& gpu) const { return view_.pci[gpu.pci]; }
  const PciDevice& At(const CheckedNic& nic) const { return view_.pci[nic.pci]; }

  /// Returns the topmost function above `pci`, right below the NUMA node, or `pci` itself.
  std::uint32_t RootOf(std::uint32_t pci) const { return roots_[pci]; }
  std::uint64_t HostOf(Part part) const;
  /// Rate of a port in Mbit/s. Empty if impossible, or NCCL's default on a Wi-Fi card.
  std::optional<std::uint32_t> RateOf(std::uint32_t net) const;
  /// Id of the NUMA node above a function.
  std::uint32_t NumaOf(std::uint32_t pci) const;
  /// Functions with equal keys are peers.
  std::string ModelKey(const CheckedGpu& gpu) const;
  std::string ModelKey(const CheckedNic& nic) const;

  std::string NameOf(const CheckedGpu& gpu) const;      ///< "GPU3 (h100-sxm5)"
  std::string NameOf(const CheckedNic& nic) const;      ///< "NIC mlx5_4"
  std::string NameOfPort(std::uint32_t net) const;      ///< "port mlx5_4"
  std::string NameOfFunction(std::uint32_t pci) const;  ///< of any function

  /// Adds a defect, once per part and rule.
  void Add(std::string_view rule, Part part, std::string name, std::string reason, std::string cure,
           std::vector<Change> repair);
  /// Returns true if the rule has a defect.
  bool Has(std::string_view rule) const;
  bool Has(std::string_view rule, Part part) const;
  std::vector<Defect> Take() { return std::move(defects_); }

 private:
  void AddGpus();
  void AddNics();

  const HostView& view_;
  const Positions& positions_;
  std::vector<std::uint32_t> roots_;
  std::vector<CheckedGpu> gpus_;
  std::vector<CheckedNic> nics_;
  std::vector<Defect> defects_;
};

/// Returns the usual text of a link: "PCIe 3.0 x8". Unknown lanes count as 16.
std::string LinkText(const PciDevice& device);
/// "6 GB/s", "0.2 GB/s".
std::string RateText(Bandwidth bandwidth);
/// Returns a port's rate: "400 Gbit/s".
std::string GigabitText(std::uint64_t mbit_per_s);
/// Returns 0 if the speed is unknown.
Bandwidth LinkOf(const PciDevice& device);
/// Returns the total number of links to neighbours.
std::uint32_t LinkCount(const Gpu& gpu);

/// The rules, by subject.
void CheckGpus(CheckContext& context);
void CheckGpuLinks(CheckContext& context);
void CheckNics(CheckContext& context);
void CheckNarrowLinks(CheckContext& context);
void CheckLinkStates(CheckContext& context, std::span<const LinkState> states);
void CheckExpected(CheckContext& context, const HostView& expected, std::string_view expected_name);
/// Parts of CheckExpected.
void CheckExpectedNics(CheckContext& context, const CheckContext& expected, std::string_view name);
void CheckExpectedPlaces(CheckContext& context, const CheckContext& expected,
                         std::string_view name);

/// Returns true if most GPUs of the machine with fewer of them have the bus ids of the other's
/// GPUs. Then bus ids identify the devices of both.
bool HaveSameAddresses(const CheckContext& a, const CheckContext& b);

/// The most frequent value of a group; of several the greatest.
struct Majority {
  std::uint64_t value = 0;
  std::size_t count = 0;
};
/// \pre  values is not empty
Majority MajorityOf(const std::vector<std::uint64_t>& values);
/// Returns true if the majority is the norm and a lower value a defect: more than half are equal,
/// or exactly two values differ. Otherwise the others may be a second kind.
bool IsNorm(const Majority& majority, std::size_t of);

}  // namespace ringlet::topology
