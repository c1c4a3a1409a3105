// The state that the rules of the check share: the devices of a view, and what was found.
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

/// A PCI function that is a GPU, by its class or because there is a GPU on it.
struct CheckedGpu {
  std::uint32_t pci = 0;
  std::optional<std::uint32_t> gpu = {};  ///< the first one on it; a skeleton has none
  std::uint64_t host = 0;
  const GpuBoard* board = nullptr;
};

/// A PCI function that is a NIC.
struct CheckedNic {
  std::uint32_t pci = 0;
  std::optional<std::uint32_t> nic = {};
  std::vector<std::uint32_t> nets = {};  ///< its ports
  std::uint64_t host = 0;
  bool beside_gpu = false;  ///< a GPU hangs on the same function below the NUMA node
};

class CheckContext {
 public:
  /// \param positions  of the parts, if the view was read from a file; may be empty
  CheckContext(const HostView& view, const Positions& positions);

  const HostView& view() const { return view_; }
  const std::vector<CheckedGpu>& gpus() const { return gpus_; }
  const std::vector<CheckedNic>& nics() const { return nics_; }
  const PciDevice& At(const CheckedGpu& gpu) const { return view_.pci[gpu.pci]; }
  const PciDevice& At(const CheckedNic& nic) const { return view_.pci[nic.pci]; }

  /// The function right below the NUMA node that `pci` hangs on, or `pci` itself.
  std::uint32_t RootOf(std::uint32_t pci) const { return roots_[pci]; }
  std::uint64_t HostOf(Part part) const;
  /// The rate of a port in Mbit/s, where it is one: not a rate that no port has, nor the rate that
  /// NCCL takes for a card that tells none, of a Wi-Fi card.
  std::optional<std::uint32_t> RateOf(std::uint32_t net) const;
  /// Id of the NUMA node above a function.
  std::uint32_t NumaOf(std::uint32_t pci) const;
  /// Functions with the same value of it are peers.
  std::string ModelKey(const CheckedGpu& gpu) const;
  std::string ModelKey(const CheckedNic& nic) const;

  std::string NameOf(const CheckedGpu& gpu) const;      ///< "GPU3 (h100-sxm5)"
  std::string NameOf(const CheckedNic& nic) const;      ///< "NIC mlx5_4"
  std::string NameOfPort(std::uint32_t net) const;      ///< "port mlx5_4"
  std::string NameOfFunction(std::uint32_t pci) const;  ///< of any function

  /// Adds a defect, but not twice of the same part and rule.
  void Add(std::string_view rule, Part part, std::string name, std::string reason, std::string cure,
           std::vector<Change> repair);
  /// Whether there is a defect of that rule.
  bool Has(std::string_view rule) const;
  /// The same, of that part.
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

/// The link of a function as people say it: "PCIe 3.0 x8". Unknown lanes count as 16.
std::string LinkText(const PciDevice& device);
/// "6 GB/s", "0.2 GB/s".
std::string RateText(Bandwidth bandwidth);
/// Of a port: "400 Gbit/s".
std::string GigabitText(std::uint64_t mbit_per_s);
/// 0 where the speed is not known.
Bandwidth LinkOf(const PciDevice& device);
/// Links to neighbours, all together.
std::uint32_t LinkCount(const Gpu& gpu);

/// The rules, by what they look at.
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

/// Whether most GPUs of the machine with fewer of them have the bus ids of GPUs of the other one:
/// then the devices of both can be told apart by their bus ids.
bool HaveSameAddresses(const CheckContext& a, const CheckContext& b);

/// The value that most of a group have: the greatest of those that are most frequent.
struct Majority {
  std::uint64_t value = 0;
  std::size_t count = 0;
};
/// \pre  values is not empty
Majority MajorityOf(const std::vector<std::uint64_t>& values);
/// Whether that what others have less is theirs alone, and not a second kind: two that differ, or
/// more than half that are equal.
bool IsNorm(const Majority& majority, std::size_t of);

}  // namespace ringlet::topology
