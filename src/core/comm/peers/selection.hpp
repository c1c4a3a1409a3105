// The algorithms that a caller selects for one call.
#pragma once
#include <string_view>

#include "collective/algorithm/algorithm.hpp"
#include "collective/select/select.hpp"
#include "plan/tuning/tuning.hpp"

namespace ringlet::comm {

/// Reads `list`: names separated by commas, or ^ and the names to exclude. Names are those of
/// collective::Algorithm and of NCCL. "ring" and "tree" select the rings and trees over links, and
/// all algorithms through shared memory, which has neither. Names that need a GPU select no
/// algorithm. Empty: all. Errors  kInvalidArgument  quotes the word and lists the valid ones
Result<collective::AlgorithmSet> ReadSelection(std::string_view list);

/// Returns the algorithms over links that are rings, or trees. Empty for other kinds.
collective::AlgorithmSet OverLinksLike(plan::NcclAlgorithm algorithm);

/// Returns the model's time of the fastest allowed algorithm of each kind. The table lacks all
/// other entries, and all protocols but Simple.
/// \pre  !SharesMemory(layout)
plan::TimeTable TimesOverLinks(const collective::Call& call, const collective::Layout& layout,
                               const collective::Tuner& tuner);

/// Returns `tuner` for a call that only some algorithms may run.
collective::Tuner Restricted(collective::Tuner tuner, const collective::Call& call);

/// Returns true if an allowed algorithm can run the call with this layout.
bool CanRun(const collective::Call& call, const collective::Layout& layout,
            const collective::Tuner& tuner);

}  // namespace ringlet::comm
