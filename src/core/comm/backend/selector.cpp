#include "comm/backend/selector.hpp"

#include <fmt/format.h>

namespace ringlet::comm {

Status Selector::Can(const collective::Call& call) const {
  if (call.algorithms == 0 || CanRun(call, layout_, tuner_)) [[likely]]
    return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("none of the selected algorithms can run {} here", ToText(call))};
}

collective::Call Selector::Choose(const collective::Call& call,
                                  const collective::TunerChoice& choice) {
  const auto alike = static_cast<std::uint32_t>(
      OverLinksLike(static_cast<plan::NcclAlgorithm>(choice.algorithm)).to_ulong());
  collective::Call chosen = call;
  chosen.tuner = choice;
  chosen.tuner.channels = 0;
  chosen.algorithms = call.algorithms == 0 ? alike : alike & call.algorithms;
  return chosen;
}

}  // namespace ringlet::comm
