// The answers of this layer to arguments that it cannot take.
#pragma once
#include <string>
#include <utility>

#include "ringlet/status.hpp"

namespace ringlet::topology {

inline Error Refuse(std::string why) {
  return {Code::kInvalidArgument, std::move(why)};
}

}  // namespace ringlet::topology
