// Draws programs from seeds.
#pragma once
#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "layouts.hpp"
#include "program.hpp"

namespace oracle {

struct DrawOptions {
  int calls = 40;     ///< approximate number per program
  bool huge = false;  ///< sometimes counts beyond 2^31 bytes
  /// Operations to leave out, because a known defect would hide all others: see kWithout.
  std::set<std::string> without = {};
  bool streamed = false;  ///< puts calls on streams if possible
  int fault_one_in = 12;  ///< one of this number of programs has a fault at its end; 0: none
};

/// The names for DrawOptions::without.
inline constexpr auto kWithout = std::to_array<const char*>(
    {"empty",       "simulate", "late_scalar", "shrink",   "split",    "form",
     "nonblocking", "scalable", "destroy",     "grow",     "put",      "selection",
     "kill",        "abort",    "revoke",      "mismatch", "settings", "group",
     "streams",     "graphs",   "null_too",    "apart",    "child"});

/// Equal seed, layout and taste give equal programs.
Program Draw(std::uint64_t seed, const Layout& layout, const DrawOptions& taste);

}  // namespace oracle
