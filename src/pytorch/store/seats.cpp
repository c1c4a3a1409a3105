#include "pytorch/store/seats.hpp"

#include <fmt/format.h>

#include <cctype>

namespace ringlet::torch_api {
namespace {

constexpr std::string_view kWord = "rank ";
// The text after it is from the group and already uses its ranks.
constexpr std::string_view kQuotes = " aborted the communicator: ";

bool IsPartOf(std::string_view sentence, std::size_t at, int (*is)(int)) {
  return at < sentence.size() && is(static_cast<unsigned char>(sentence[at])) != 0;
}

}  // namespace

std::string InRanksOfGroup(std::string_view sentence, const Seats& seats) {
  const std::size_t quoted = sentence.find(kQuotes);
  std::string said;
  std::size_t done = 0;
  for (std::size_t at = sentence.find(kWord); at != std::string_view::npos;
       at = sentence.find(kWord, at + 1)) {
    if (at > quoted) break;
    const std::size_t seat = at + kWord.size();
    const bool whole = (at == 0 || !IsPartOf(sentence, at - 1, std::isalnum)) &&
                       !IsPartOf(sentence, seat + 1, std::isdigit);
    if (!whole || seat >= sentence.size() || (sentence[seat] != '0' && sentence[seat] != '1'))
      continue;
    said += sentence.substr(done, seat - done);
    said += fmt::to_string(sentence[seat] == '0' ? seats.sender : seats.receiver);
    done = seat + 1;
  }
  return said.append(sentence.substr(done));
}

}  // namespace ringlet::torch_api
