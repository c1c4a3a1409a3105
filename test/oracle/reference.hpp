// The reference: what a call must give, by the definition of the operation and nothing else.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "program.hpp"

namespace oracle {

/// Compares what rank `self` of `n` got with what it should have got.
///
/// Integers and copies must be equal, and so must be floats where every order of adding gives the
/// same; others lie within the bound of sums of n terms in any order, (n - 1) u times the sum of
/// magnitudes (Jeannerod and Rump, 2013), where u is half a unit in the last place of 1.
///
/// \param output  OutputCount(call, n, self) elements, however aligned
/// \return nothing if all is right; else the first wrong element, and how many there are
std::optional<std::string> Compare(std::uint64_t seed, const Call& call, int n, int self,
                                   const std::byte* output);

}  // namespace oracle
