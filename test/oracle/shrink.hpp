// Makes a failing program short.
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
  int failed = 0, tried = 0;  ///< how often the program as drawn failed when it was run again
};

/// Drops steps, calls, ranks and settings, makes counts small and buffers plain, as long as the
/// program goes on failing in the same way. A program that fails now and then is run several times
/// before it counts as passing.
///
/// \param timeout  see Running
/// \param budget    stops looking for a shorter one after so long
Shrunk Shrink(const Program& program, const Verdict& verdict, std::chrono::seconds timeout,
              std::chrono::seconds budget);

/// The program without its last world rank; at least one must be left.
Program WithoutLastRank(const Program& program);

/// Every program that is one simplification simpler, as functions that make it; in an order that
/// drops much first. Exposed for its test.
using Simpler = std::function<bool(Program&)>;
std::vector<Simpler> Simplifications(const Program& program);

}  // namespace oracle
