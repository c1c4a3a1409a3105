// The arguments common to all operations. Included by module.cpp only.
#pragma once
#include <string>

#include "pytorch/calls/calls.hpp"

namespace ringlet::torch_api {

/// Refers to tensors of the call.
struct OperationInfo {
  c10d::OpType type;
  const char* name;
  at::TensorList inputs;
  at::TensorList outputs;
  Milliseconds timeout;
  bool async;
  std::string detail = {};
};

/// For operations without options.
struct NoOptions {
  Milliseconds timeout = c10d::kUnsetTimeout;
};
/// The options of a one-sided operation.
struct OneSidedOptions {
  Milliseconds timeout;
  bool asyncOp;
};

}  // namespace ringlet::torch_api
