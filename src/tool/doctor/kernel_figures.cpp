#include "tool/doctor/kernel_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/value/text.hpp"
#include "doctor/facts.hpp"

namespace ringlet::cli {
namespace {

constexpr std::uint64_t kWholePercent = 100;
constexpr std::uint64_t kHugeQuota = 100'000;  // a thousand cores, which is no limit in practice
constexpr std::uint64_t kNoLimitBeyond = 1ull << 62;  // version 1 uses a number near 2^63

std::optional<std::uint32_t> Percent(std::optional<std::uint64_t> quota,
                                     std::optional<std::uint64_t> period) {
  if (!quota || !period || *period == 0 || *quota > kNoLimitBeyond / kWholePercent)
    return std::nullopt;
  const std::uint64_t percent = *quota * kWholePercent / *period;
  if (percent > kHugeQuota) return std::nullopt;
  return static_cast<std::uint32_t>(percent);
}

}  // namespace

std::optional<std::uint32_t> QuotaPercent(std::string_view cpu_max) {
  const auto parts = Split(Trim(cpu_max), ' ');
  if (parts.size() != 2) return std::nullopt;
  return Percent(ParseDecimal(parts[0]), ParseDecimal(parts[1]));
}

std::optional<std::uint32_t> QuotaPercent(std::string_view quota_us, std::string_view period_us) {
  return Percent(ParseDecimal(Trim(quota_us)), ParseDecimal(Trim(period_us)));
}

std::uint64_t LimitOf(std::string_view text) {
  const auto number = ParseDecimal(Trim(text));
  return !number || *number > kNoLimitBeyond ? doctor::kUnlimited : *number;
}

std::vector<std::string> ControlGroups(std::string_view proc_self_cgroup,
                                       std::string_view controller) {
  std::string root, path;
  for (const std::string_view line : Split(proc_self_cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    const auto parts = Split(names, ',');
    const bool is_it = std::find(parts.begin(), parts.end(), controller) != parts.end();
    if (!is_it && !(names.empty() && root.empty())) continue;
    root = is_it ? fmt::format("/sys/fs/cgroup/{}", names) : "/sys/fs/cgroup";
    path = line.substr(second + 1);
  }
  std::vector<std::string> folders;
  if (root.empty()) return folders;
  while (path.size() > 1 && path.find("..") == std::string::npos) {
    folders.push_back(root + path);
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  folders.push_back(root);
  return folders;
}

void MarkPorts(std::string_view proc_net, std::vector<bool>& seen) {
  constexpr int kHex = 16;
  for (const std::string_view line : Split(proc_net, '\n')) {
    // In "   0: 0100007F:1F90 00000000:0000 0A ...", the local address follows the first colon.
    const std::size_t number = line.find(": ");
    if (number == std::string_view::npos) continue;
    const std::string_view rest = line.substr(number + 2);
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view digits = rest.substr(colon + 1, 4);
    std::uint32_t port = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), port, kHex);
    if (error == std::errc() && port < seen.size()) seen[port] = true;
  }
}

std::uint64_t MeminfoBytes(std::string_view meminfo, std::string_view name) {
  constexpr std::uint64_t kKiB = 1024;
  for (const std::string_view line : Split(meminfo, '\n')) {
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    std::string_view value = Trim(line.substr(name.size() + 1));
    const bool kib = value.ends_with("kB");
    if (kib) value = Trim(value.substr(0, value.size() - 2));
    return ParseDecimal(value).value_or(0) * (kib ? kKiB : 1);
  }
  return 0;
}

std::string ChosenWord(std::string_view text) {
  const std::size_t open = text.find('['), close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return "";
  return std::string(text.substr(open + 1, close - open - 1));
}

}  // namespace ringlet::cli
