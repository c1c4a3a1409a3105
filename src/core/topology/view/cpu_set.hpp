// A set of CPU numbers, as the kernel writes it: "0-15,32-47".
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
  static constexpr std::uint32_t kCpuMax = 65'535;  // NR_CPUS is 8192 at most today
  static constexpr std::size_t kRangesMax = 8'192;
  static constexpr std::size_t kMaskBytesMax = 2'304;  // 8192 CPUs, nine characters for 32

  CpuSet() = default;

  /// Reads a kernel list; space at the ends is ignored, an empty text is the empty set, ranges may
  /// come in any order and overlap.
  /// Errors  kInvalidArgument  quotes the text
  static Result<CpuSet> Parse(std::string_view list);
  /// Reads a mask as /sys/devices/system/node/node0/cpumap has it: comma-separated groups of 32
  /// bits in hex, the highest first. An empty text is the empty set. Errors  kInvalidArgument
  /// quotes the text
  static Result<CpuSet> ParseMask(std::string_view mask);
  static CpuSet Of(std::uint32_t first, std::uint32_t last) {
    CpuSet set;
    set.ranges_.push_back({first, last});
    return set;
  }

  /// \param ascending  each at most once
  static CpuSet OfCpus(std::span<const std::uint32_t> ascending) {
    CpuSet set;
    for (const std::uint32_t cpu : ascending) set.Append(cpu);
    return set;
  }

  bool empty() const { return ranges_.empty(); }
  std::size_t Count() const;
  bool Contains(std::uint32_t cpu) const;
  /// How many CPUs are in both.
  std::size_t CountCommon(const CpuSet& other) const;
  CpuSet CommonWith(const CpuSet& other) const;
  CpuSet JoinedWith(const CpuSet& other) const;
  const std::vector<CpuRange>& ranges() const { return ranges_; }

  bool operator==(const CpuSet&) const = default;

 private:
  static CpuSet OfRanges(std::vector<CpuRange> ranges);  // in any order
  void Append(std::uint32_t cpu);                        // above all that are in

  std::vector<CpuRange> ranges_;  // ascending, apart by at least one CPU
};

/// The form that Parse reads; "" for the empty set.
std::string ToString(const CpuSet& set);

/// The form that ParseMask reads, in groups of eight digits; "" for the empty set.
std::string ToMask(const CpuSet& set);

void Encode(Writer& out, const CpuSet& set);
CpuSet DecodeCpuSet(Reader& in);  ///< fails `in` on ranges that are not ascending and apart

}  // namespace ringlet::topology
