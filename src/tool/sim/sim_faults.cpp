#include "tool/sim/sim_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/value/text.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/quantity.hpp"

namespace ringlet::cli {
namespace {

using Kind = Fault::Kind;

struct Manner {
  std::string_view name;
  Kind kind;
  bool ends;  // accepts "-END"
};
constexpr std::array kManners{
    Manner{"kill", Kind::kKill, false}, Manner{"silence", Kind::kSilence, false},
    Manner{"stop", Kind::kStop, true},  Manner{"slow", Kind::kSlow, false},
    Manner{"late", Kind::kLate, false}, Manner{"absent", Kind::kAbsent, false},
    Manner{"cut", Kind::kCut, true}};

Error Nonsense(std::string_view part, std::string_view why) {
  return {Code::kInvalidArgument,
          fmt::format("the fault {} is invalid: {}; examples: {}", Quoted(part), why, kFaultsHelp)};
}

std::optional<FaultTarget> FaultTargetOf(std::string_view text) {
  FaultTarget victim;
  if (text == "root") return FaultTarget{FaultTarget::Kind::kRoot, 0};
  if (text.starts_with("root")) {
    victim.kind = FaultTarget::Kind::kRoot;
    text.remove_prefix(4);
  } else if (text.starts_with("host")) {
    victim.kind = FaultTarget::Kind::kHost;
    text.remove_prefix(4);
  }
  const auto index = ParseDecimal(text);
  if (!index || *index > 0xffffffff) return std::nullopt;
  victim.index = static_cast<std::uint32_t>(*index);
  return victim;
}

// Parses "10ms", or "10ms-2s" for faults that end.
Status ParseTimes(std::string_view text, Fault& fault, bool ends) {
  const std::size_t dash = ends ? text.find('-') : std::string_view::npos;
  RINGLET_TRY_ASSIGN(fault.begin, ParseDuration(text.substr(0, dash)));
  fault.end = Instant::max();
  if (dash == std::string_view::npos) return Ok();
  RINGLET_TRY_ASSIGN(fault.end, ParseDuration(text.substr(dash + 1)));
  if (fault.end < fault.begin) return Error{Code::kInvalidArgument, "it ends before it begins"};
  return Ok();
}

Status ParseFaultTargets(std::string_view text, Fault& fault, bool& both_ways) {
  const std::size_t sign = text.find_first_of("->");
  const bool is_cut = fault.kind == Kind::kCut;
  if (is_cut != (sign != std::string_view::npos))
    return Error{Code::kInvalidArgument, "only a cut takes two hosts, host1-host2 or host1>host2"};
  const auto victim = FaultTargetOf(text.substr(0, sign));
  if (!victim)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is not a rank, root or host", Quoted(text.substr(0, sign)))};
  fault.victim = *victim;
  if (!is_cut) return Ok();
  const auto other = FaultTargetOf(text.substr(sign + 1));
  if (!other || other->kind != FaultTarget::Kind::kHost || victim->kind != FaultTarget::Kind::kHost)
    return Error{Code::kInvalidArgument, "a cut needs two hosts"};
  fault.other = *other;
  both_ways = text[sign] == '-';
  return Ok();
}

Status CheckKind(const Fault& fault) {
  const bool is_rank = fault.victim.kind == FaultTarget::Kind::kRank;
  const bool is_host = fault.victim.kind == FaultTarget::Kind::kHost;
  const bool of_process = fault.kind == Kind::kStop || fault.kind == Kind::kSlow;
  if (of_process && is_host)
    return Error{Code::kInvalidArgument, "it applies to a rank or a root, not to a host"};
  if ((fault.kind == Kind::kLate || fault.kind == Kind::kAbsent) && !is_rank)
    return Error{Code::kInvalidArgument, "it applies to a rank"};
  if (fault.kind == Kind::kStop && fault.end == Instant::max())
    return Error{Code::kInvalidArgument, "it needs an end, as in stop:7@1ms-2s"};
  return Ok();
}

Status ParseFault(std::string_view name, std::string_view rest, FaultPlan& plan) {
  const auto* manner = std::ranges::find(kManners, name, &Manner::name);
  if (manner == kManners.end())
    return Error{Code::kInvalidArgument, fmt::format("unknown fault {}", Quoted(name))};
  Fault fault{.kind = manner->kind, .victim = {}};
  const std::size_t at = rest.find('@');
  bool both_ways = false;
  RINGLET_TRY(ParseFaultTargets(rest.substr(0, at), fault, both_ways));
  if ((at == std::string_view::npos) != (fault.kind == Kind::kAbsent))
    return Error{Code::kInvalidArgument, fault.kind == Kind::kAbsent
                                             ? "an absent rank stays absent"
                                             : "it needs a time, as in kill:3@10ms"};
  if (at != std::string_view::npos)
    RINGLET_TRY(ParseTimes(rest.substr(at + 1), fault, manner->ends));
  RINGLET_TRY(CheckKind(fault));
  plan.faults.push_back(fault);
  if (both_ways) {
    std::swap(fault.victim, fault.other);
    plan.faults.push_back(fault);
  }
  return Ok();
}

Status ParsePart(std::string_view part, FaultPlan& plan) {
  const std::size_t colon = part.find(':');
  if (colon == std::string_view::npos) return Error{Code::kInvalidArgument, "a colon is missing"};
  const std::string_view name = part.substr(0, colon), rest = part.substr(colon + 1);
  if (name == "refuse") {
    RINGLET_TRY_ASSIGN(plan.refuse, ParseProbability(rest));
    return Ok();
  }
  if (name == "corrupt") {
    RINGLET_TRY_ASSIGN(plan.corrupt, ParseProbability(rest));
    return Ok();
  }
  return ParseFault(name, rest, plan);
}

std::string_view NameOf(FaultTarget::Kind kind) {
  return kind == FaultTarget::Kind::kRank   ? "rank"
         : kind == FaultTarget::Kind::kRoot ? "root"
                                            : "host";
}

Status CheckFaultTarget(const FaultTarget& victim, const SimExtent& extent) {
  const std::uint32_t count = victim.kind == FaultTarget::Kind::kRank   ? extent.ranks
                              : victim.kind == FaultTarget::Kind::kRoot ? extent.roots
                                                                        : extent.hosts;
  if (victim.index < count) return Ok();
  return Error{
      Code::kInvalidArgument,
      fmt::format("--faults names {0} {1}, but there {2} {3}, from 0", NameOf(victim.kind),
                  victim.index, count == 1 ? "is" : "are", Counted(count, NameOf(victim.kind)))};
}

}  // namespace

Instant FaultPlan::Last() const {
  Instant last{0};
  for (const Fault& fault : faults) {
    if (fault.kind != Kind::kSlow) last = std::max(last, fault.begin);
    if (fault.end != Instant::max()) last = std::max(last, fault.end);
  }
  return last;
}

Result<FaultPlan> ParseFaults(std::string_view text) {
  FaultPlan plan;
  if (Trim(text).empty()) return plan;
  for (const std::string_view part : Split(text, ','))
    if (const Status status = ParsePart(Trim(part), plan); !status.ok())
      return Nonsense(Trim(part), status.error().message);
  return plan;
}

Status CheckFaults(const FaultPlan& plan, const SimExtent& extent) {
  for (const Fault& fault : plan.faults) {
    RINGLET_TRY(CheckFaultTarget(fault.victim, extent));
    if (fault.kind == Kind::kCut) RINGLET_TRY(CheckFaultTarget(fault.other, extent));
  }
  return Ok();
}

}  // namespace ringlet::cli
