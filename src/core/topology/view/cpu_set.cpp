#include "topology/view/cpu_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

std::optional<CpuRange> ParseRange(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = ParseDecimal(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : ParseDecimal(text.substr(dash + 1));
  if (!first || !last || *first > *last || *last > CpuSet::kCpuMax) return std::nullopt;
  return CpuRange{static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last)};
}

}  // namespace

Result<CpuSet> CpuSet::Parse(std::string_view list) {
  const std::string_view trimmed = Trim(list);
  if (trimmed.empty()) return CpuSet();
  std::vector<CpuRange> ranges;
  for (const std::string_view part : Split(trimmed, ',')) {
    const std::optional<CpuRange> range = ParseRange(Trim(part));
    if (!range || ranges.size() == kRangesMax) {
      return Error{
          Code::kInvalidArgument,
          fmt::format("\"{}\" is not a list of CPUs such as 0-15,32-47", Printable(trimmed, 100))};
    }
    ranges.push_back(*range);
  }
  return OfRanges(std::move(ranges));
}

CpuSet CpuSet::OfRanges(std::vector<CpuRange> ranges) {
  CpuSet set;
  std::sort(ranges.begin(), ranges.end(),
            [](const CpuRange& a, const CpuRange& b) { return a.first < b.first; });
  for (const CpuRange& range : ranges) {
    if (!set.ranges_.empty() && range.first <= set.ranges_.back().last + 1) {
      set.ranges_.back().last = std::max(set.ranges_.back().last, range.last);
    } else {
      set.ranges_.push_back(range);
    }
  }
  return set;
}

Result<CpuSet> CpuSet::ParseMask(std::string_view mask) {
  CpuSet set;
  const std::string_view trimmed = Trim(mask);
  if (trimmed.empty()) return set;
  const Error refused{Code::kInvalidArgument,
                      fmt::format("\"{}\" is not a mask of CPUs such as 0000ffff,0000ffff",
                                  Printable(trimmed, 100))};
  if (trimmed.size() > kMaskBytesMax) return refused;
  const std::vector<std::string_view> groups = Split(trimmed, ',');
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string_view group = groups[groups.size() - 1 - i];
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), bits, 16);
    if (error != std::errc() || end != group.data() + group.size() || group.size() > 8)
      return refused;
    for (std::uint32_t bit = 0; bit < 32; ++bit)
      if ((bits >> bit & 1u) != 0) set.Append(static_cast<std::uint32_t>(32 * i + bit));
  }
  return set;
}

void CpuSet::Append(std::uint32_t cpu) {
  if (!ranges_.empty() && ranges_.back().last + 1 == cpu) {
    ranges_.back().last = cpu;
  } else {
    ranges_.push_back({cpu, cpu});
  }
}

std::size_t CpuSet::Count() const {
  std::size_t count = 0;
  for (const CpuRange& range : ranges_) count += range.last - range.first + 1;
  return count;
}

bool CpuSet::Contains(std::uint32_t cpu) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const CpuRange& range) {
    return range.first <= cpu && cpu <= range.last;
  });
}

std::size_t CpuSet::CountCommon(const CpuSet& other) const {
  return CommonWith(other).Count();
}

CpuSet CpuSet::CommonWith(const CpuSet& other) const {
  CpuSet common;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const std::uint32_t first = std::max(a->first, b->first);
    const std::uint32_t last = std::min(a->last, b->last);
    if (first <= last) common.ranges_.push_back({first, last});
    if (a->last < b->last) {
      ++a;
    } else {
      ++b;
    }
  }
  return common;
}

CpuSet CpuSet::JoinedWith(const CpuSet& other) const {
  std::vector<CpuRange> all = ranges_;
  all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
  return OfRanges(std::move(all));
}

std::string ToMask(const CpuSet& set) {
  if (set.empty()) return "";
  std::vector<std::uint32_t> groups(set.ranges().back().last / 32 + 1, 0);
  for (const CpuRange& range : set.ranges())
    for (std::uint32_t cpu = range.first; cpu <= range.last; ++cpu)
      groups[cpu / 32] |= std::uint32_t{1} << (cpu % 32);
  std::string text;
  for (std::size_t i = groups.size(); i > 0; --i)
    text += fmt::format("{}{:08x}", text.empty() ? "" : ",", groups[i - 1]);
  return text;
}

std::string ToString(const CpuSet& set) {
  std::string text;
  for (const CpuRange& range : set.ranges()) {
    if (!text.empty()) text += ',';
    text += range.first == range.last ? fmt::format("{}", range.first)
                                      : fmt::format("{}-{}", range.first, range.last);
  }
  return text;
}

void Encode(Writer& out, const CpuSet& set) {
  out.U16(static_cast<std::uint16_t>(set.ranges().size()));
  for (const CpuRange& range : set.ranges())
    out.U16(static_cast<std::uint16_t>(range.first)).U16(static_cast<std::uint16_t>(range.last));
}

CpuSet DecodeCpuSet(Reader& in) {
  const std::size_t count = in.U16();
  if (count > CpuSet::kRangesMax) in.Fail();
  std::vector<CpuRange> ranges;
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const std::uint32_t first = in.U16();
    const std::uint32_t last = in.U16();
    if (first > last || (i > 0 && first <= ranges.back().last + 1)) in.Fail();
    ranges.push_back({first, last});
  }
  return in.ok() ? CpuSet::OfRanges(std::move(ranges)) : CpuSet();
}

}  // namespace ringlet::topology
