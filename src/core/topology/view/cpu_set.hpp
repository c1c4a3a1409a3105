// A set of CPU numbers in the kernel's notation: "0-15,32-47".
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/value/bytes.hpp"
#include "base/value/cpu_range.hpp"
#include "ringlet/status.hpp"

namespace ringlet::topology {

class CpuSet {
 public:
  static constexpr std::uint32_t kCpuMax = 65'535;  // NR_CPUS is at most 8192 today
  static constexpr std::size_t kRangesMax = 8'192;
  static constexpr std::size_t kMaskBytesMax = 2'304;  // 8192 CPUs, nine characters for 32

  CpuSet() = default;

  /// Parses a kernel list. Ignores space at the ends. Empty text is the empty set. Ranges may have
  /// any order and may overlap.
  /// Errors  kInvalidArgument  quotes the text
  static Result<CpuSet> Parse(std::string_view list);
  /// Parses a mask as in /sys/devices/system/node/node0/cpumap: comma-separated groups of 32 bits
  /// in hex, the highest first. Empty text is the empty set.
  /// Errors  kInvalidArgument  quotes the text
  static Result<CpuSet> ParseMask(std::string_view mask);
  /// Joins ranges of any order. \pre  each is within bounds and does not end before it begins
  static CpuSet OfRanges(std::vector<CpuRange> ranges);
  static CpuSet Of(std::uint32_t first, std::uint32_t last) {
    CpuSet set;
    set.ranges_.push_back({first, last});
    return set;
  }

  /// \param ascending  each CPU at most once
  static CpuSet OfCpus(std::span<const std::uint32_t> ascending) {
    CpuSet set;
    for (const std::uint32_t cpu : ascending) set.Append(cpu);
    return set;
  }

  bool empty() const { return ranges_.empty(); }
  std::size_t Count() const;
  bool Contains(std::uint32_t cpu) const;
  /// The number of CPUs in both sets.
  std::size_t CountCommon(const CpuSet& other) const;
  CpuSet CommonWith(const CpuSet& other) const;
  CpuSet JoinedWith(const CpuSet& other) const;
  const std::vector<CpuRange>& ranges() const { return ranges_; }

  bool operator==(const CpuSet&) const = default;

 private:
  void Append(std::uint32_t cpu);  // \pre `cpu` is above all members

  std::vector<CpuRange> ranges_;  // ascending, with gaps between
};

/// The form that Parse() accepts. "" for the empty set.
std::string ToString(const CpuSet& set);

/// The form that ParseMask() accepts, in groups of eight digits. "" for the empty set.
std::string ToMask(const CpuSet& set);

void Encode(Writer& out, const CpuSet& set);
CpuSet DecodeCpuSet(Reader& in);  ///< fails `in` if ranges are unsorted or touch

}  // namespace ringlet::topology
