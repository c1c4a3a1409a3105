// The arguments of an operation that all operations have. Included by module.cpp only.
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

/// The options of operations that have none.
struct NoOptions {
  Milliseconds timeout = c10d::kUnsetTimeout;
};
/// The options of an operation in which the other ranks need not take part.
struct OneSidedOptions {
  Milliseconds timeout;
  bool asyncOp;
};

}  // namespace ringlet::torch_api
