// Matches the commands of RAS in upper and lower case.
#pragma once
#include <algorithm>
#include <string_view>

namespace ringlet::watch {

/// \param lower  in lower case
inline bool IsWord(std::string_view text, std::string_view lower) {
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  };
  return std::ranges::equal(text, lower, same);
}

/// Removes `lower` and a space from the beginning of `text`. Returns false if they are missing.
inline bool TakeWord(std::string_view& text, std::string_view lower) {
  if (text.size() <= lower.size() || !IsWord(text.substr(0, lower.size()), lower)) return false;
  if (text[lower.size()] != ' ') return false;
  text.remove_prefix(lower.size() + 1);
  return true;
}

}  // namespace ringlet::watch
