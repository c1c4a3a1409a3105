// Shortens a failing program.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>

#include "program.hpp"
#include "supervise.hpp"

namespace oracle {

struct Shrunk {
  Program program;
  Verdict verdict;
  std::size_t runs = 0;
  int failed = 0, tried = 0;  ///< failures of the drawn program in repeated runs
};

/// Drops steps, calls, ranks and settings, and makes counts small and buffers plain, while the
/// program fails in the same way. An occasionally failing program runs several times before it
/// counts as passing.
///
/// \param timeout  see Running
/// \param budget    ends the search after this time
Shrunk Shrink(const Program& program, const Verdict& verdict, std::chrono::seconds timeout,
              std::chrono::seconds budget);

/// Returns the program without its last world rank; at least one must be left.
Program WithoutLastRank(const Program& program);

/// Returns every program that is one simplification simpler, as functions that create it; the
/// largest removals first. Exposed for its test.
using Simpler = std::function<bool(Program&)>;
std::vector<Simpler> Simplifications(const Program& program);

}  // namespace oracle
