// The shared state of the linter's rules.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

class LintContext {
 public:
  LintContext(const HostView& view, const Positions& positions, std::string_view file);

  const HostView& view() const { return view_; }

  /// \param attribute the position of the finding; empty: the element
  void AddFinding(Severity severity, std::string_view rule, Part part, std::string_view attribute,
                  std::string reason, std::string cure);
  /// Returns "FILE:LINE" or the path of a part, for use in a sentence.
  std::string Where(Part part) const;

  std::uint64_t HostOf(Part part) const;
  /// Returns the PCI functions of a host with this address, in order.
  const std::vector<std::uint32_t>& PciAt(std::uint64_t host, BusId bus) const;
  /// Returns the first GPU at an address of a host.
  std::optional<std::uint32_t> GpuAt(std::uint64_t host, BusId bus) const;
  /// Returns the GPUs on a PCI function, in order.
  const std::vector<std::uint32_t>& GpusOf(std::uint32_t pci) const { return gpus_of_[pci]; }

  std::vector<Finding> Take() { return findings_.Take(); }

 private:
  const HostView& view_;
  const Positions& positions_;
  std::string file_;
  std::map<std::pair<std::uint64_t, BusId>, std::vector<std::uint32_t>> pci_at_;
  std::map<std::pair<std::uint64_t, BusId>, std::uint32_t> gpu_at_;
  std::vector<std::vector<std::uint32_t>> gpus_of_;
  Findings findings_;
};

/// The rules, by subject.
void LintSystem(LintContext& context);
void LintCpus(LintContext& context);
void LintPci(LintContext& context);
void LintBusOrder(LintContext& context);
void LintGpus(LintContext& context);
void LintLinks(LintContext& context);
void LintNets(LintContext& context);

}  // namespace ringlet::topology
