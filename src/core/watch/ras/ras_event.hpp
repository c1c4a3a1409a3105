// Changes among the processes of a job, as NCCL's RAS reports them to monitors. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "watch/ras/ras_report.hpp"

namespace ringlet::watch {

/// The groups of events that a client can request, as bits.
enum RasEvents : std::uint8_t { kNoEvents = 0, kLifecycleEvents = 1, kTraceEvents = 2 };
/// Parses "lifecycle,trace", "all"; empty: lifecycle. \param wrong  receives the unknown word, else
/// unchanged. Empty result: there is an unknown word.
std::optional<RasEvents> ParseRasEvents(std::string_view words, std::string& wrong);

struct RasEvent {
  RasEvents group = kLifecycleEvents;
  std::string name = {};  ///< "PEER_DEAD"
  RasPeer peer = {};
  std::string details = {};  ///< may be empty
  bool operator==(const RasEvent&) const = default;
};

/// Returns the events between two looks at the job. A process that leaves its communicators in good
/// order causes no event. \param before, now  from RasPeersOf
std::vector<RasEvent> RasEventsBetween(const std::vector<RasPeer>& before,
                                       const std::vector<RasPeer>& now);

/// Returns one line. \param timestamp  local time
std::string RasText(const RasEvent& event, std::string_view timestamp);
/// Returns an object of several lines.
std::string RasJson(const RasEvent& event, std::string_view timestamp);

}  // namespace ringlet::watch
