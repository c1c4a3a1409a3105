// Draws programs from seeds.
#pragma once
#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "layouts.hpp"
#include "program.hpp"

namespace oracle {

struct Taste {
  int calls = 40;     ///< of a program, about
  bool huge = false;  ///< counts beyond 2^31 bytes now and then
  /// The operations that are not drawn, since a known defect would hide all others: see kWithout.
  std::set<std::string> without = {};
  bool streamed = false;  ///< all calls that can go to streams do
  int fault_one_in = 12;  ///< of so many programs one has a fault at its end; 0: none
};

/// The names for Taste::without.
inline constexpr auto kWithout = std::to_array<const char*>(
    {"empty",       "simulate", "late_scalar", "shrink",   "split",    "form",
     "nonblocking", "scalable", "destroy",     "grow",     "put",      "selection",
     "kill",        "abort",    "revoke",      "mismatch", "settings", "group",
     "streams",     "graphs",   "null_too",    "apart",    "child"});

/// The same seed, layout and taste give the same program.
Program Draw(std::uint64_t seed, const Layout& layout, const Taste& taste);

}  // namespace oracle
