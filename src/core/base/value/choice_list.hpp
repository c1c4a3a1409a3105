// Parses settings that allow and forbid names, like NCCL_ALGO: `[subject:]list[;subject:list...]`.
// A list is a comma list of names, or ^ and the forbidden names.
#pragma once
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet {

struct ChoiceEntry {
  std::string_view subject;  ///< empty: all subjects; possible for the first entry only
  std::string_view list;     ///< as written, without the subject
  bool all_but = false;
  std::vector<std::string_view> names;
};

/// The entries of `text`, which must outlive them. Empty for an empty text.
/// Errors  kInvalidArgument  a later entry lacks a subject
Result<std::vector<ChoiceEntry>> ParseChoiceList(std::string_view text, std::string_view setting);

/// The error "NCCL_ALGO has "wheel", but it must be one of ...".
Error BadChoice(std::string_view setting, std::string_view word, std::string_view why);

/// The subset of `kCount` items that an entry allows. `number_of` returns the Result for a name.
template <std::size_t kCount, class NumberOf>
Result<std::bitset<kCount>> AllowedBy(const ChoiceEntry& entry, NumberOf number_of) {
  std::bitset<kCount> named;
  for (const std::string_view name : entry.names) {
    RINGLET_TRY_ASSIGN(const std::size_t number, number_of(name));
    named.set(number);
  }
  return entry.all_but ? ~named : named;
}

}  // namespace ringlet
