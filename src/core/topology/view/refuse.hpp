// Creates this layer's errors for invalid arguments.
#pragma once
#include <string>
#include <utility>

#include "ringlet/status.hpp"

namespace ringlet::topology {

inline Error Refuse(std::string why) {
  return {Code::kInvalidArgument, std::move(why)};
}

}  // namespace ringlet::topology
