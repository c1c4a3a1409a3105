// Changes among the processes of a job, as NCCL's RAS tells those who monitor it. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "watch/ras/ras_report.hpp"

namespace ringlet::watch {

/// The groups of events that a client may ask for, as bits.
enum RasEvents : std::uint8_t { kNoEvents = 0, kLifecycleEvents = 1, kTraceEvents = 2 };
/// "lifecycle,trace", "all"; empty: lifecycle. \param wrong  the word that is none, else untouched
/// Empty: there is one.
std::optional<RasEvents> ParseRasEvents(std::string_view words, std::string& wrong);

struct RasEvent {
  RasEvents group = kLifecycleEvents;
  std::string name = {};  ///< "PEER_DEAD"
  RasPeer peer = {};
  std::string details = {};  ///< may be empty
  bool operator==(const RasEvent&) const = default;
};

/// From one look at the job to the next. A process that leaves its communicators in good order is
/// no event. \param before, now  of RasPeersOf
std::vector<RasEvent> RasEventsBetween(const std::vector<RasPeer>& before,
                                       const std::vector<RasPeer>& now);

/// A line. \param timestamp  local time
std::string RasText(const RasEvent& event, std::string_view timestamp);
/// An object, over several lines.
std::string RasJson(const RasEvent& event, std::string_view timestamp);

}  // namespace ringlet::watch
