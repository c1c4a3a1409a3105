// The differences between versions of PyTorch, from 2.10 on. Included by module.cpp only.
#pragma once
#include <torch/version.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>

// Completion hooks, and functions that report support of hooks. They are newer than the macro
// C10D_BACKEND_HAS_HOOKS of 2.14, which covers only abort hooks.
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 15
#define RINGLET_TORCH_HAS_COMPLETION_HOOKS
#endif

namespace ringlet::torch_api {

template <typename Type = c10d::OpType>
constexpr Type ReduceScatterCoalesced() {
  if constexpr (requires { Type::REDUCE_SCATTER_TENSOR_COALESCED; }) {
    return Type::REDUCE_SCATTER_TENSOR_COALESCED;
  } else {
    return Type::COALESCED;
  }
}

/// True if reconfigure sets the members of a group later.
template <typename Options>
bool EnablesReconfigure(const Options& options) {
  if constexpr (requires { options.enable_reconfigure; }) {
    return options.enable_reconfigure;
  } else {
    return false;
  }
}

template <typename Options>
void SetReconfigure(Options& options, bool enable) {
  if constexpr (requires { options.enable_reconfigure; }) options.enable_reconfigure = enable;
}

/// The description of the group in the options of all backends, if PyTorch has it.
template <typename Options>
std::string GroupNameOf(const Options& options) {
  if constexpr (requires { options.group_name; }) {
    return options.group_name;
  } else {
    return "";
  }
}

template <typename Options>
void SetGroup(Options& options, const std::string& name, const std::vector<std::uint64_t>& ranks) {
  if constexpr (requires { options.group_name; }) {
    options.group_name = name;
    options.global_ranks_in_group = ranks;
  }
}

template <typename Options>
void CopyGroup(const Options& from, Options& to) {
  if constexpr (requires { from.group_name; })
    SetGroup(to, from.group_name, from.global_ranks_in_group);
  if constexpr (requires { from.group_desc; }) to.group_desc = from.group_desc;
}

}  // namespace ringlet::torch_api
