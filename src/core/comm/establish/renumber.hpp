// Errors of a communicator that has not come about, in the rank numbers of its parent: its caller
// knows no others.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::comm {

/// `text` with the numbers after the words "rank" and "ranks" replaced, lists and ranges of them
/// too: number n by numbers[n]. A number that is not below the size of `numbers` stays.
std::string Renumbered(std::string_view text, const std::vector<std::uint32_t>& numbers);

}  // namespace ringlet::comm
