#include "watch/ras/ras_event.hpp"

#include <fmt/format.h>

#include <map>

#include "base/value/json_object.hpp"
#include "base/value/text.hpp"
#include "watch/ras/ras_words.hpp"

namespace ringlet::watch {
namespace {

using Reach = RankState::Reach;

bool IsSilent(const RasPeer& peer) {
  return peer.reach == Reach::kSilent || peer.reach == Reach::kUnknown;
}

}  // namespace

std::optional<RasEvents> ParseRasEvents(std::string_view words, std::string& wrong) {
  if (words.empty()) return kLifecycleEvents;
  unsigned events = kNoEvents;
  for (const std::string_view word : Split(words, ',')) {
    if (IsWord(word, "lifecycle"))
      events |= kLifecycleEvents;
    else if (IsWord(word, "trace"))
      events |= kTraceEvents;
    else if (IsWord(word, "all"))
      events |= kLifecycleEvents | kTraceEvents;
    else
      return wrong = word, std::nullopt;
  }
  return static_cast<RasEvents>(events);
}

std::vector<RasEvent> RasEventsBetween(const std::vector<RasPeer>& before,
                                       const std::vector<RasPeer>& now) {
  std::map<std::pair<std::string, std::uint32_t>, const RasPeer*> known;
  for (const RasPeer& peer : before) known.emplace(std::pair(peer.host, peer.pid), &peer);
  std::vector<RasEvent> events;
  const auto add = [&](RasEvents group, const char* name, const RasPeer& peer,
                       const char* details) {
    events.push_back({.group = group, .name = name, .peer = peer, .details = details});
  };
  for (const RasPeer& peer : now) {
    const auto it = known.find({peer.host, peer.pid});
    const bool is_new = it == known.end();
    const bool was_silent = !is_new && IsSilent(*it->second);
    const bool was_gone = !is_new && it->second->reach == Reach::kGone;
    if (is_new) add(kLifecycleEvents, "PEER_NEW", peer, "");
    if (peer.reach == Reach::kGone && !was_gone)
      add(kLifecycleEvents, "PEER_DEAD", peer, "");
    else if (IsSilent(peer) && !was_silent)
      add(kTraceEvents, "PEER_UNRESPONSIVE", peer, "it is stopped or cut off");
    else if (was_silent && peer.reach == Reach::kHere)
      add(kTraceEvents, "PEER_RECOVERED", peer, "peer responding again");
  }
  return events;
}

std::string RasText(const RasEvent& event, std::string_view timestamp) {
  return fmt::format("[{}] {}: {} {}\n", timestamp, event.name, ToText(event.peer), event.details);
}

std::string RasJson(const RasEvent& event, std::string_view timestamp) {
  const Json json = {{"timestamp", timestamp},
                     {"group", event.group == kLifecycleEvents ? "LIFECYCLE" : "TRACE"},
                     {"event", event.name},
                     {"peer",
                      {{"host", event.peer.host},
                       {"pid", event.peer.pid},
                       {"cuda_devs", event.peer.devices},
                       {"nvml_devs", event.peer.devices}}},
                     {"details", event.details}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ringlet::watch
