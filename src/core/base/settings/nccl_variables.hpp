// The environment variables of NCCL that Ringlet does not honour, for warnings about them and about
// unknown names.
#pragma once
#include <string>
#include <string_view>

namespace ringlet {

/// Returns true if NCCL up to 2.30 or PyTorch reads `variable` and Ringlet does not.
/// \param variable  "NCCL_BUFFSIZE"
/// Cost  a binary search.
bool IsUnusedNcclVariable(std::string_view variable);

/// Returns true if such a variable changes the channels that NCCL plans or its predicted times.
/// Cost  a binary search.
bool ChangesNcclPlans(std::string_view variable);

/// The nearest of those names to `variable`, with its prefix, and the number of differing letters.
struct NearestVariable {
  std::string name;
  std::size_t edits = 0;
};
NearestVariable NearestNcclVariable(std::string_view variable);

}  // namespace ringlet
