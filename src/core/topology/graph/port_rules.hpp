// Which ports plans for GPUs use, and as what: those that the user names, and several of one device
// as one, as NCCL has it.
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

/// NCCL_IB_HCA: a comma list of at most 32 names with :port (and :rail:plane, which mean nothing
/// here) behind; they are prefixes, or whole names after "="; "^" in front excludes them.
class HcaRule {
 public:
  /// \param ignored  takes the entries that make no sense; null: they are errors
  /// Errors  kInvalidArgument  quotes the entry that makes no sense
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

/// Defaults are NCCL's.
struct PortRules {
  NicMerge merge = {};  ///< NCCL_NET_MERGE_LEVEL, NCCL_NET_MERGE_POLICY, NCCL_NET_FORCE_MERGE
  HcaRule hca = {};     ///< NCCL_IB_HCA: of RDMA ports only
  std::vector<std::string> notes = {};  ///< sentences on what of NCCL's variables is ignored
};

/// Errors  kInvalidArgument  names the variable, its value and what it may be
Result<PortRules> ReadPortRules(const Settings& settings);

struct PlannedPorts {
  HostView view;                   ///< ports that are not used are no networks any more (`net="0"`)
  std::vector<std::string> notes;  ///< a sentence for all that were merged, and for those left out
};

/// \pre the view has passed Check
/// Errors  kInvalidArgument  as MergeNics
/// Cost    as MergeNics
Result<PlannedPorts> ApplyPortRules(HostView view, const PortRules& rules);

}  // namespace ringlet::topology
