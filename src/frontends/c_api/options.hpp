// Structs that a caller fills in, checked field by field.
#pragma once
#include "ringlet/compat/nccl.h"
#include "ringlet/status.hpp"

namespace ringlet::c_api {

/// A null config is in order. Of fields that the caller's version of the struct does not have, and
/// of those left unset, nothing is said.
/// Errors  kInvalidArgument  names the field, its value and what it may be
Status CheckConfig(const ncclConfig_t* config);

/// Whether calls with `config` wait for what they begin; without one, whether the parent's do.
bool Blocks(const ncclConfig_t* config, bool parent_blocks);

/// Errors  kInvalidArgument  null, or not made with NCCL_SIM_INFO_INITIALIZER
Status CheckSimInfo(const ncclSimInfo_t* info);

}  // namespace ringlet::c_api
