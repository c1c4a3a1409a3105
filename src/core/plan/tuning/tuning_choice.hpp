// Which algorithms and protocols may be used: NCCL_ALGO and NCCL_PROTO as a value.
#pragma once
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

std::string_view NameOf(NcclAlgorithm algorithm);  ///< "Ring", as NCCL spells it
std::string_view NameOf(Protocol protocol);        ///< "Simple"
std::string_view NameOf(Function function);        ///< "AllReduce"

/// The choices allowed for each function.
struct TuningChoice {
  std::array<std::bitset<kAlgorithms>, kFunctions> algorithms;
  std::array<std::bitset<kProtocols>, kFunctions> protocols;
  /// The user has named protocols: LL128 is then used even where it would be left out for safety.
  bool protocols_given = false;
  bool operator==(const TuningChoice&) const = default;

  bool Allows(Function function, NcclAlgorithm algorithm, Protocol protocol) const {
    const auto f = static_cast<std::size_t>(function);
    return algorithms[f][static_cast<std::size_t>(algorithm)] &&
           protocols[f][static_cast<std::size_t>(protocol)];
  }
};

/// Reads `[function:]list[;function:list...]`, where a list is names with commas between, or ^ and
/// the names of those that are not allowed. Without a function: for all. Upper and lower case are
/// the same. Empty: everything.
/// Errors  kInvalidArgument  names the variable, the word, and what it may be
Result<TuningChoice> ParseTuningChoice(std::string_view algorithms, std::string_view protocols);

/// The same of settings, whose variables errors name.
Result<TuningChoice> ReadTuningChoice(const Settings& settings);

}  // namespace ringlet::plan
