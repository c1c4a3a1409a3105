// Aliases of operations, from nccl-tests and MPI. Commands accept both and print the first.
#pragma once
#include <array>
#include <string_view>

namespace ringlet::cli {

struct OperationAlias {
  std::string_view name;
  std::string_view alias;
};
inline constexpr std::array kOperationAliases = {
    OperationAlias{"all_to_all", "alltoall"}, OperationAlias{"send_receive", "sendrecv"},
    OperationAlias{"all_reduce", "allreduce"}, OperationAlias{"all_gather", "allgather"},
    OperationAlias{"reduce_scatter", "reducescatter"}};

/// Returns the name for the alias `word`; else `word`.
constexpr std::string_view OperationNamed(std::string_view word) {
  for (const OperationAlias& one : kOperationAliases)
    if (one.alias == word) return one.name;
  return word;
}

}  // namespace ringlet::cli
