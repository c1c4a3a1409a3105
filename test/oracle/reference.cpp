#include "reference.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "content.hpp"
#include "numbers.hpp"

namespace oracle {
namespace {

/// A run of the output: `count` elements from `begin`, of `rank` or reduced over all.
struct Block {
  int rank = 0;
  std::size_t begin = 0;
};

Block BlockAt(const Call& call, int n, int self, std::size_t block) {
  const std::size_t own = static_cast<std::size_t>(self) * call.count;
  switch (call.kind) {
    case Kind::kReduceScatter: return {0, own};
    case Kind::kBroadcast:
    case Kind::kBcast: return {call.root, 0};
    case Kind::kAllGather:
    case Kind::kGather: return {static_cast<int>(block), 0};
    case Kind::kAllToAll: return {static_cast<int>(block), own};
    case Kind::kScatter: return {call.root, own};
    case Kind::kSendRecv: return {((self - call.shift) % n + n) % n, block * call.count};
    default: return {};
  }
}

std::uint64_t ReduceIntegers(const Content& content, const Call& call, int n, std::size_t index) {
  std::uint64_t result = 0;
  for (int rank = 0; rank < n; ++rank) {
    std::uint64_t x = Widen(call.type, content.Element(rank, index));
    if (call.op == Op::kPreMulSum) x *= content.Scalar(rank);
    const bool less = IsSigned(call.type)
                          ? static_cast<std::int64_t>(x) < static_cast<std::int64_t>(result)
                          : x < result;
    if (rank == 0) {
      result = x;
    } else if (call.op == Op::kProd) {
      result *= x;
    } else if (call.op == Op::kMax) {
      result = less ? result : x;
    } else if (call.op == Op::kMin) {
      result = less ? x : result;
    } else {
      result += x;
    }
  }
  if (call.op != Op::kAvg) return result;
  const std::uint64_t sum = Widen(call.type, result);
  const auto ranks = static_cast<std::uint64_t>(n);
  if (!IsSigned(call.type)) return sum / ranks;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(sum) / n);
}

struct Real {
  long double value = 0;
  long double bound = 0;
};

Real ReduceFloats(const Content& content, const Call& call, int n, std::size_t index) {
  long double result = 0, magnitudes = 0;
  for (int rank = 0; rank < n; ++rank) {
    long double x = Decode(call.type, content.Element(rank, index));
    if (call.op == Op::kPreMulSum) x *= Decode(call.type, content.Scalar(rank));
    magnitudes += std::fabs(x);
    if (rank == 0) {
      result = x;
    } else if (call.op == Op::kProd) {
      result *= x;
    } else if (call.op == Op::kMax || call.op == Op::kMin) {
      const bool better = call.op == Op::kMax ? x > result : x < result;
      if (std::isnan(x) || better) result = x;
      if (std::isnan(x)) return {x, 0};
    } else {
      result += x;
    }
  }
  const long double u = std::ldexp(1.0L, -FormatOf(call.type).digits());
  const long double local_host =
      std::ldexp(static_cast<long double>(n), -63);  // error of this function itself
  const long double terms = n - 1;
  if (call.op == Op::kAvg) {
    // A narrow sum is divided before it is rounded. For a wide one the last addition rounds, too.
    const long double sums = content.exact()         ? 0
                             : SizeOf(call.type) < 4 ? std::max(0.0L, terms - 1)
                                                     : terms;
    const long double mean = result / n;
    const long double ulp = std::isfinite(mean) && n > 1 ? UlpAt(call.type, mean) : 0;
    return {mean, (sums * u + local_host) * magnitudes / n + ulp};
  }
  if (content.exact()) return {result, 0};
  if (call.op == Op::kProd)
    return {result, std::fabs(result) * (std::pow(1 + u, terms) - 1 + local_host)};
  if (call.op == Op::kPreMulSum)
    return {result, (n * u * (1 + u) + local_host) * magnitudes + n * UlpAt(call.type, 0)};
  return {result, (terms * u + local_host) * magnitudes};
}

bool Within(long double got, const Real& real) {
  if (std::isnan(real.value)) return std::isnan(got);
  if (std::isinf(real.value)) return got == real.value;
  return std::fabs(got - real.value) <= real.bound;
}

class Comparison {
 public:
  Comparison(std::uint64_t seed, const Call& call, int n, int self)
      : content_(seed, call, n), call_(call), n_(n), self_(self), size_(SizeOf(call.type)) {}

  std::optional<std::string> Run(const std::byte* output) {
    const std::size_t count = OutputCount(call_, n_, self_);
    const std::size_t blocks = call_.count ? count / call_.count : 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      const Block block = BlockAt(call_, n_, self_, b);
      for (std::size_t i = 0; i < call_.count; ++i) {
        std::uint64_t got = 0;
        std::memcpy(&got, output + (b * call_.count + i) * size_, size_);
        Element(block, b * call_.count + i, block.begin + i, got);
      }
    }
    if (wrong_ == 0) return std::nullopt;
    return fmt::format("{} of {} elements are wrong, the first one is {}", wrong_, count, first_);
  }

 private:
  void Element(const Block& block, std::size_t at, std::size_t index, std::uint64_t got) {
    if (Reduces(call_.kind) && IsFloat(call_.type)) {
      const Real real = ReduceFloats(content_, call_, n_, index);
      const long double value = Decode(call_.type, got);
      if (!Within(value, real))
        Note([&] {
          return fmt::format("{}: {} (0x{:x}) in place of {}, bound {}", at,
                             static_cast<double>(value), got, static_cast<double>(real.value),
                             static_cast<double>(real.bound));
        });
      return;
    }
    const std::uint64_t want = Reduces(call_.kind) ? ReduceIntegers(content_, call_, n_, index)
                                                   : content_.Element(block.rank, index);
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * size_);
    if (got != (want & mask))
      Note([&] { return fmt::format("{}: 0x{:x} in place of 0x{:x}", at, got, want & mask); });
  }

  template <typename Text>
  void Note(Text text) {
    if (wrong_++ == 0) first_ = text();
  }

  Content content_;
  Call call_;
  int n_, self_;
  std::size_t size_;
  std::size_t wrong_ = 0;
  std::string first_;
};

}  // namespace

std::optional<std::string> Compare(std::uint64_t seed, const Call& call, int n, int self,
                                   const std::byte* output) {
  return Comparison(seed, call, n, self).Run(output);
}

}  // namespace oracle
