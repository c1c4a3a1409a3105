#include "comm/process/parts/fault.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/value/text.hpp"

namespace ringlet::comm {
namespace {

template <typename Number>
bool ReadNumber(std::string_view text, Number& number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && rest == text.data() + text.size();
}

}  // namespace

Result<RankFault> ParseFault(std::string_view text) {
  const std::size_t at = text.find('@'), colon = text.find(':');
  const std::string_view operation =
      at == text.npos ? "" : text.substr(at + 1, colon == text.npos ? colon : colon - at - 1);
  const auto kind = collective::CallKindNamed(operation);
  RankFault fault;
  const bool reads = kind && ReadNumber(text.substr(0, at), fault.rank) &&
                     (colon == text.npos || ReadNumber(text.substr(colon + 1), fault.number));
  if (!reads || fault.number == 0)
    return Error{Code::kInvalidArgument,
                 fmt::format("the fault {} is not RANK@OPERATION or RANK@OPERATION:NUMBER, such as "
                             "3@all_reduce:10; operations are named as `ringlet bench` names them",
                             Quoted(text))};
  fault.kind = *kind;
  return fault;
}

}  // namespace ringlet::comm
