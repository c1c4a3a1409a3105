// Faults of a simulation, parsed from text: "kill:3@10ms,silence:host2@5ms,stop:7@1ms-2s". Pure.
#pragma once
#include <string_view>
#include <vector>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// The target of a fault.
struct FaultTarget {
  enum class Kind : std::uint8_t { kRank, kRoot, kHost };
  Kind kind = Kind::kRank;
  std::uint32_t index = 0;
  bool operator==(const FaultTarget&) const = default;
};

struct Fault {
  enum class Kind : std::uint8_t {
    kKill,     ///< starts at `begin`
    kSilence,  ///< starts at `begin`
    kStop,     ///< lasts from `begin` to `end`
    kSlow,     ///< `begin` is the cost of each event
    kLate,     ///< the rank starts at `begin`
    kAbsent,   ///< the rank never starts
    kCut,      ///< affects `victim` to `other`, from `begin` to `end`
  };
  Kind kind = Kind::kKill;
  FaultTarget victim;
  FaultTarget other = {};  ///< for kCut: a host
  Instant begin{0};
  Instant end{0};  ///< Instant::max(): never ends
  bool operator==(const Fault&) const = default;
};

struct FaultPlan {
  std::vector<Fault> faults;
  double refuse = 0;   ///< probability that a dial is refused
  double corrupt = 0;  ///< probability that one byte of a message is changed

  bool any() const { return !faults.empty() || refuse > 0 || corrupt > 0; }
  /// Returns the time at which the last fault begins or ends.
  Instant Last() const;
};

/// The syntax of faults, for --help and error messages.
inline constexpr std::string_view kFaultsHelp =
    "kill:3@10ms, silence:host2@5ms (also root, and root1), stop:7@1ms-2s, slow:7@1ms (time per "
    "event), late:5@100ms, absent:6, cut:host1-host2@5ms, cut:host1>host2@5ms-1s (one way, until "
    "1s), refuse:0.1, corrupt:0.001";

/// \param text  faults separated by commas; empty: no fault
/// Errors  kInvalidArgument  quotes the part that does not parse.
Result<FaultPlan> ParseFaults(std::string_view text);

/// Errors  kInvalidArgument  names a victim that does not exist.
struct SimExtent {
  std::uint32_t ranks = 0, hosts = 0, roots = 0;
};
Status CheckFaults(const FaultPlan& plan, const SimExtent& extent);

}  // namespace ringlet::cli
