// The algorithms that a caller selects for one call.
#pragma once
#include <string_view>

#include "collective/algorithm/algorithm.hpp"
#include "collective/select/select.hpp"
#include "plan/tuning/tuning.hpp"

namespace ringlet::comm {

/// Reads `list`: names with commas between, or ^ and those that are not to be used. Names are those
/// of collective::Algorithm and NCCL's: "ring" and "tree" are the rings and trees over links, and
/// every way through shared memory, which has neither; of those that need a GPU nothing is left.
/// Empty: all. Errors  kInvalidArgument  quotes the word and says what it may be
Result<collective::AlgorithmSet> ReadSelection(std::string_view list);

/// The algorithms over links that are rings, or trees. Empty: there are none of that kind.
collective::AlgorithmSet OverLinksLike(plan::NcclAlgorithm algorithm);

/// The times of these by the model, of the fastest one each that is allowed: a table in which all
/// others are missing, and of protocols all but Simple.
/// \pre  !SharesMemory(layout)
plan::TimeTable TimesOverLinks(const collective::Call& call, const collective::Layout& layout,
                               const collective::Tuner& tuner);

/// `tuner` for a call that only some algorithms may run.
collective::Tuner Restricted(collective::Tuner tuner, const collective::Call& call);

/// Whether one of those that may run the call can, where the ranks lie so.
bool CanRun(const collective::Call& call, const collective::Layout& layout,
            const collective::Tuner& tuner);

}  // namespace ringlet::comm
