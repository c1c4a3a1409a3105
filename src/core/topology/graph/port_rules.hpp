// The ports that plans for GPUs use: those that the user selects. Several ports of a device count
// as one, as in NCCL.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/settings.hpp"
#include "ringlet/status.hpp"
#include "topology/graph/merge_nics.hpp"

namespace ringlet::topology {

/// NCCL_IB_HCA: at most 32 names with commas between, each with an optional :port (and :rail:plane,
/// ignored here). Names are prefixes, or whole names after "=". A leading "^" excludes them.
class HcaRule {
 public:
  /// \param ignored  receives the invalid entries; null: invalid entries are errors
  /// Errors  kInvalidArgument  quotes the invalid entry
  static Result<HcaRule> Parse(std::string_view text, std::vector<std::string>* ignored = nullptr);

  /// \param name  of the device or, in files, of the port
  bool Allows(std::string_view name, std::uint32_t port) const;
  bool empty() const { return names_.empty(); }

 private:
  struct HcaName {
    std::string name;
    std::optional<std::uint64_t> port;
  };
  bool exclude_ = false;
  bool exact_ = false;
  std::vector<HcaName> names_;
};

/// The defaults are NCCL's.
struct PortRules {
  NicMerge merge = {};  ///< NCCL_NET_MERGE_LEVEL, NCCL_NET_MERGE_POLICY, NCCL_NET_FORCE_MERGE
  HcaRule hca = {};     ///< NCCL_IB_HCA, for RDMA ports only
  std::vector<std::string> notes = {};  ///< sentences about ignored parts of NCCL's variables
};

/// Errors  kInvalidArgument  contains the variable, its value and the allowed values
Result<PortRules> ReadPortRules(const Settings& settings);

struct PlannedPorts {
  HostView view;                   ///< unused ports are no longer networks (`net="0"`)
  std::vector<std::string> notes;  ///< a sentence about merged ports, and one about dropped ports
};

/// \pre the view passed Check()
/// Errors  kInvalidArgument  as MergeNics
/// Cost    as MergeNics
Result<PlannedPorts> ApplyPortRules(HostView view, const PortRules& rules);

}  // namespace ringlet::topology
