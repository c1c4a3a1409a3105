// The algorithms and protocols that NCCL_ALGO and NCCL_PROTO allow, as a value.
#pragma once
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/settings/settings.hpp"
#include "ringlet/status.hpp"

namespace ringlet::plan {

/// The numbers are NCCL's.
enum class NcclAlgorithm : std::uint8_t {
  kTree,
  kRing,
  kCollnetDirect,
  kCollnetChain,
  kNvls,
  kNvlsTree,
  kPat,
};
inline constexpr std::size_t kAlgorithms = 7;
enum class Protocol : std::uint8_t { kLl, kLl128, kSimple };
inline constexpr std::size_t kProtocols = 3;
enum class Function : std::uint8_t { kBroadcast, kReduce, kAllGather, kReduceScatter, kAllReduce };
inline constexpr std::size_t kFunctions = 5;

std::string_view NameOf(NcclAlgorithm algorithm);  ///< "Ring", in NCCL's spelling
std::string_view NameOf(Protocol protocol);        ///< "Simple"
std::string_view NameOf(Function function);        ///< "AllReduce"

/// The algorithms and protocols allowed for each function.
struct TuningChoice {
  std::array<std::bitset<kAlgorithms>, kFunctions> algorithms;
  std::array<std::bitset<kProtocols>, kFunctions> protocols;
  /// True if the user lists protocols. LL128 is then allowed even where it is not known to be safe.
  bool protocols_given = false;
  bool operator==(const TuningChoice&) const = default;

  bool Allows(Function function, NcclAlgorithm algorithm, Protocol protocol) const {
    const auto f = static_cast<std::size_t>(function);
    return algorithms[f][static_cast<std::size_t>(algorithm)] &&
           protocols[f][static_cast<std::size_t>(protocol)];
  }
};

/// Parses `[function:]list[;function:list...]`. A list contains names with commas between them. A
/// leading ^ excludes the names. A list without a function applies to all functions. Upper and
/// lower case are equal. Empty text allows everything.
/// Errors  kInvalidArgument  contains the variable, the word, and the allowed words
Result<TuningChoice> ParseTuningChoice(std::string_view algorithms, std::string_view protocols);

/// Reads both lists from settings. Errors contain the variables of these settings.
Result<TuningChoice> ReadTuningChoice(const Settings& settings);

}  // namespace ringlet::plan
