#include "tool/doctor/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/value/text.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kHostNameMax = 253;  // limit of DNS
constexpr std::size_t kHostDigitsMax = 9;

Error Wrong(std::string_view name, std::string_view why) {
  return {Code::kInvalidArgument,
          fmt::format("{} is not a list of hosts: {}", Quoted(Printable(name, kHostNameMax)), why)};
}

/// Splits at commas outside brackets.
std::vector<std::string_view> Parts(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    if (c != ',' || (inside && i < text.size())) continue;
    parts.push_back(Trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

Status AddName(std::string_view name, std::vector<std::string>& hosts) {
  if (std::ranges::count(name, ':') == 1) name = name.substr(0, name.find(':'));
  const auto is_bad = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '[' || c == ']' || c == '\'' || c == '"';
  };
  if (name.empty()) return Wrong(name, "a name is empty");
  if (name.size() > kHostNameMax || name.front() == '-' || std::ranges::any_of(name, is_bad))
    return Wrong(name, "that is not the name of a host");
  if (std::ranges::count(hosts, name) > 0) return Ok();
  if (hosts.size() == kDoctorHostsMax)
    return Wrong(name, fmt::format("at most {} hosts at a time", kDoctorHostsMax));
  hosts.emplace_back(name);
  return Ok();
}

Status AddRange(std::string_view part, std::string_view range, std::vector<std::string>& hosts) {
  const std::size_t open = part.find('['), close = part.find(']', open);
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
  const auto from = ParseDecimal(first), to = ParseDecimal(last);
  if (!from || !to || *from > *to || first.size() > kHostDigitsMax || last.size() > kHostDigitsMax)
    return Wrong(part, fmt::format("[{}] is not a range of numbers", range));
  if (*to - *from >= kDoctorHostsMax)
    return Wrong(part, fmt::format("at most {} hosts at a time", kDoctorHostsMax));
  for (std::uint64_t number = *from; number <= *to; ++number)
    RINGLET_TRY(AddName(fmt::format("{}{:0{}}{}", part.substr(0, open), number, first.size(),
                                    part.substr(close + 1)),
                        hosts));
  return Ok();
}

/// Parses an IPv6 address in brackets, with or without a number of slots: "[fe80::1%eth0]",
/// "[::1]:2". Ranges in brackets do not have a colon.
std::optional<std::string_view> BracketedAddress(std::string_view part) {
  const std::size_t close = part.find(']');
  if (!part.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  const std::string_view address = part.substr(1, close - 1), rest = part.substr(close + 1);
  const bool has_slots = rest.starts_with(':') && ParseDecimal(rest.substr(1));
  if (address.find(':') == std::string_view::npos || !(rest.empty() || has_slots))
    return std::nullopt;
  return address;
}

Status AddPart(std::string_view part, std::vector<std::string>& hosts) {
  if (const auto address = BracketedAddress(part)) return AddName(*address, hosts);
  const std::size_t open = part.find('[');
  if (open == std::string_view::npos) return AddName(part, hosts);
  const std::size_t close = part.find(']', open);
  if (close == std::string_view::npos) return Wrong(part, "a bracket is not closed");
  for (const std::string_view range : Split(part.substr(open + 1, close - open - 1), ','))
    RINGLET_TRY(AddRange(part, Trim(range), hosts));
  return Ok();
}

}  // namespace

Result<std::vector<std::string>> ParseHostList(std::string_view text) {
  std::vector<std::string> hosts;
  for (const std::string_view part : Parts(text)) RINGLET_TRY(AddPart(part, hosts));
  return hosts;
}

Result<std::vector<std::string>> ParseHostFile(std::string_view text) {
  std::vector<std::string> hosts;
  for (std::string_view line : Split(text, '\n')) {
    line = Trim(line.substr(0, line.find('#')));
    const std::string_view name = line.substr(0, line.find_first_of(" \t"));
    if (name.empty()) continue;
    for (const std::string_view part : Parts(name)) RINGLET_TRY(AddPart(part, hosts));
  }
  if (hosts.empty()) return Error{Code::kInvalidArgument, "the hostfile does not name a host"};
  return hosts;
}

}  // namespace ringlet::cli
