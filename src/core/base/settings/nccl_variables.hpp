// The environment variables of NCCL that Ringlet does not honour, so that a user is told of those
// and of names that neither of them knows.
#pragma once
#include <string>
#include <string_view>

namespace ringlet {

/// Whether NCCL up to 2.30, or PyTorch beside it, reads `variable` and Ringlet does not.
/// \param variable  "NCCL_BUFFSIZE"
/// Cost  a binary search.
bool IsUnusedNcclVariable(std::string_view variable);

/// Whether such a variable changes which channels NCCL plans, or what its model of times predicts.
/// Cost  a binary search.
bool ChangesNcclPlans(std::string_view variable);

/// The one of those names that is nearest to `variable`, with its prefix, and by how many letters
/// it differs.
struct NearestVariable {
  std::string name;
  std::size_t edits = 0;
};
NearestVariable NearestNcclVariable(std::string_view variable);

}  // namespace ringlet
