// The faults of a simulation, as one text: "kill:3@10ms,silence:host2@5ms,stop:7@1ms-2s". Pure.
#pragma once
#include <string_view>
#include <vector>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// The target of a fault.
struct Victim {
  enum class Kind : std::uint8_t { kRank, kRoot, kHost };
  Kind kind = Kind::kRank;
  std::uint32_t index = 0;
  bool operator==(const Victim&) const = default;
};

struct Fault {
  enum class Kind : std::uint8_t {
    kKill,     ///< from `begin` on
    kSilence,  ///< from `begin` on
    kStop,     ///< from `begin` to `end`
    kSlow,     ///< `begin` is what one event costs
    kLate,     ///< starts at `begin`
    kAbsent,   ///< never starts
    kCut,      ///< from `victim` to `other`, from `begin` to `end`
  };
  Kind kind = Kind::kKill;
  Victim victim;
  Victim other = {};  ///< kCut: a host
  Instant begin{0};
  Instant end{0};  ///< Instant::max(): for ever
  bool operator==(const Fault&) const = default;
};

struct FaultPlan {
  std::vector<Fault> faults;
  double refuse = 0;   ///< chance that a dial is refused
  double corrupt = 0;  ///< chance that one byte of a message arrives changed

  bool any() const { return !faults.empty() || refuse > 0 || corrupt > 0; }
  /// When the last of them has begun or ended.
  Instant Last() const;
};

/// How faults are written, for --help and for complaints.
inline constexpr std::string_view kFaultsHelp =
    "kill:3@10ms, silence:host2@5ms (also root, and root1), stop:7@1ms-2s, slow:7@1ms (each "
    "event costs that much), late:5@100ms, absent:6, cut:host1-host2@5ms, cut:host1>host2@5ms-1s "
    "(one way, and it heals), refuse:0.1, corrupt:0.001";

/// \param text  several, with commas between them; empty: none
/// Errors  kInvalidArgument  quotes the part that makes no sense.
Result<FaultPlan> ParseFaults(std::string_view text);

/// Errors  kInvalidArgument  names a victim that is not there.
struct SimExtent {
  std::uint32_t ranks = 0, hosts = 0, roots = 0;
};
Status CheckFaults(const FaultPlan& plan, const SimExtent& extent);

}  // namespace ringlet::cli
