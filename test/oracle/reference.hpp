// The reference: the result of a call, by the definition of the operation and nothing else.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "program.hpp"

namespace oracle {

/// Compares the output of rank `self` of `n` with the expected one.
///
/// Integers and copies must be equal. So must floats if every order of adding gives the same value.
/// Other floats lie within the bound of sums of n terms in any order, (n - 1) u times the sum of
/// magnitudes (Jeannerod and Rump, 2013), with u as half a unit in the last place of 1.
///
/// \param output  OutputCount(call, n, self) elements, however aligned
/// \return empty if all is right; otherwise the first wrong element, and the number of them
std::optional<std::string> Compare(std::uint64_t seed, const Call& call, int n, int self,
                                   const std::byte* output);

}  // namespace oracle
