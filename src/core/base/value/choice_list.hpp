// Reads settings that allow and forbid things by name, as NCCL_ALGO does:
// `[subject:]list[;subject:list...]`, where a list is names with commas between, or ^ and the names
// that are not allowed.
#pragma once
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet {

struct ChoiceEntry {
  std::string_view subject;  ///< empty: for all; only of the first entry
  std::string_view list;     ///< as written, without the subject
  bool all_but = false;
  std::vector<std::string_view> names;
};

/// The entries of `text`, whose views they are; none for an empty text.
/// Errors  kInvalidArgument  an entry after the first is without a subject
Result<std::vector<ChoiceEntry>> ParseChoiceList(std::string_view text, std::string_view setting);

/// "NCCL_ALGO has "wheel", but it must be one of ...".
Error BadChoice(std::string_view setting, std::string_view word, std::string_view why);

/// Those of `kCount` things that an entry allows. `number_of` gives the Result of a name.
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
