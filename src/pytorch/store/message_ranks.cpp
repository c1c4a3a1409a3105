#include "pytorch/store/message_ranks.hpp"

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

std::string InRanksOfGroup(std::string_view sentence, const MessageRanks& message_ranks) {
  const std::size_t quoted = sentence.find(kQuotes);
  std::string said;
  std::size_t done = 0;
  for (std::size_t at = sentence.find(kWord); at != std::string_view::npos;
       at = sentence.find(kWord, at + 1)) {
    if (at > quoted) break;
    const std::size_t pair_rank = at + kWord.size();
    const bool whole = (at == 0 || !IsPartOf(sentence, at - 1, std::isalnum)) &&
                       !IsPartOf(sentence, pair_rank + 1, std::isdigit);
    if (!whole || pair_rank >= sentence.size() ||
        (sentence[pair_rank] != '0' && sentence[pair_rank] != '1'))
      continue;
    said += sentence.substr(done, pair_rank - done);
    said +=
        fmt::to_string(sentence[pair_rank] == '0' ? message_ranks.sender : message_ranks.receiver);
    done = pair_rank + 1;
  }
  return said.append(sentence.substr(done));
}

}  // namespace ringlet::torch_api
