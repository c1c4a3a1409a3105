// Errors of a child that was not formed, in the rank numbers of its parent. The caller knows no
//        other numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::comm {

/// Returns `text` with rank n replaced by numbers[n] after the words "rank" and "ranks", also in
/// lists and ranges. A number that is not below the size of `numbers` stays.
std::string Renumbered(std::string_view text, const std::vector<std::uint32_t>& numbers);

}  // namespace ringlet::comm
