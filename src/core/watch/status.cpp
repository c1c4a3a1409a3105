#include "watch/status.hpp"

#include "watch/rank_trace.hpp"

namespace ringlet::watch {
namespace {

constexpr std::uint64_t kStatusVersion = 1;

RankState::Reach ReadReach(JsonObject& object) {
  const std::string text = object.Text("reach");
  for (const auto reach :
       {RankState::Reach::kHere, RankState::Reach::kSilent, RankState::Reach::kLeft,
        RankState::Reach::kGone, RankState::Reach::kUnknown})
    if (text == Name(reach)) return reach;
  object.Refuse("reach has an unknown value");
  return RankState::Reach::kUnknown;
}

RecoveryTimes ReadRecovery(JsonObject& object) {
  const auto time = [&](const char* name) {
    return Instant(
        static_cast<std::int64_t>(object.Number(name, std::numeric_limits<std::int64_t>::max())));
  };
  RecoveryTimes times{.called = time("called_ns"),
                      .agreed = time("agreed_ns"),
                      .rebuilt = time("rebuilt_ns"),
                      .first_result = {}};
  if (object.Has("first_result_ns")) times.first_result = time("first_result_ns");
  return times;
}

Json RecoveryJson(const RecoveryTimes& times) {
  Json json = {{"called_ns", times.called.count()},
               {"agreed_ns", times.agreed.count()},
               {"rebuilt_ns", times.rebuilt.count()}};
  if (times.first_result) json["first_result_ns"] = times.first_result->count();
  return json;
}

RankState ReadRankState(JsonObject& object) {
  RankState state{.rank = object.Small("rank"),
                  .host = object.Text("host"),
                  .pid = object.Small("pid"),
                  .reach = ReadReach(object),
                  .process = object.OptionalText("process"),
                  .forming = object.Flag("forming"),
                  .phase = object.OptionalText("phase"),
                  .failure = object.OptionalText("failure"),
                  .result = object.OptionalSmall("result").value_or(0),
                  .operations = object.Number("operations"),
                  .inside = object.Flag("inside"),
                  .waits_for = object.OptionalSmall("waits_for"),
                  .slow_sends = ReadSlowSends(object)};
  if (object.Has("since_ns"))
    state.since = Instant(static_cast<std::int64_t>(
        object.Number("since_ns", std::numeric_limits<std::int64_t>::max())));
  if (object.Has("recovery"))
    object.Within("recovery", [&](JsonObject& times) { state.recovery = ReadRecovery(times); });
  if (object.Has("calls"))
    object.ForEach("calls", [&](JsonObject& tally) {
      state.calls.push_back({.call = tally.Text("call"), .count = tally.Number("count")});
    });
  if (object.Has("last"))
    object.Within("last", [&](JsonObject& last) { state.last = ReadOperation(last); });
  return state;
}

ReportedState ReadReportedState(JsonObject& object) {
  ReportedState told{.communicator = object.Text("communicator"), .ranks = object.Ranks("ranks")};
  object.Within("state", [&](JsonObject& state) { told.state = ReadRankState(state); });
  return told;
}

CommunicatorStatus ReadCommunicator(JsonObject& object) {
  CommunicatorStatus status{.communicator = object.Text("communicator"),
                            .ranks = object.Ranks("ranks")};
  object.Within("self", [&](JsonObject& self) { status.self = ReadRankState(self); });
  object.ForEach("peers", [&](JsonObject& peer) { status.peers.push_back(ReadRankState(peer)); });
  if (object.Has("told"))
    object.ForEach("told",
                   [&](JsonObject& told) { status.told.push_back(ReadReportedState(told)); });
  return status;
}

ProcessStatus ReadStatus(JsonObject& object) {
  if (object.Number("ringlet_status") != kStatusVersion)
    object.Refuse(fmt::format("ringlet_status is not {}", kStatusVersion));
  ProcessStatus status{.host = object.Text("host"), .pid = object.Small("pid")};
  object.ForEach("communicators",
                 [&](JsonObject& one) { status.communicators.push_back(ReadCommunicator(one)); });
  return status;
}

}  // namespace

Json RankStateJson(const RankState& state) {
  Json json = {{"rank", state.rank},       {"host", state.host},
               {"pid", state.pid},         {"reach", Name(state.reach)},
               {"forming", state.forming}, {"operations", state.operations},
               {"inside", state.inside}};
  if (!state.process.empty()) json["process"] = state.process;
  if (!state.phase.empty()) json["phase"] = state.phase;
  if (!state.failure.empty()) json["failure"] = state.failure;
  if (state.result != 0) json["result"] = state.result;
  for (const CallTally& tally : state.calls)
    json["calls"].push_back({{"call", tally.call}, {"count", tally.count}});
  if (state.last) json["last"] = OperationJson(*state.last);
  if (state.waits_for) json["waits_for"] = *state.waits_for;
  AddSlowSends(state.slow_sends, json);
  if (state.since) json["since_ns"] = state.since->count();
  if (state.recovery) json["recovery"] = RecoveryJson(*state.recovery);
  return json;
}

std::string ToJson(const ProcessStatus& status) {
  Json communicators = Json::array();
  for (const CommunicatorStatus& one : status.communicators) {
    Json peers = Json::array();
    for (const RankState& peer : one.peers) peers.push_back(RankStateJson(peer));
    communicators.push_back({{"communicator", one.communicator},
                             {"ranks", one.ranks},
                             {"self", RankStateJson(one.self)},
                             {"peers", std::move(peers)}});
    for (const ReportedState& told : one.told)
      communicators.back()["told"].push_back({{"communicator", told.communicator},
                                              {"ranks", told.ranks},
                                              {"state", RankStateJson(told.state)}});
  }
  return Json{{"ringlet_status", kStatusVersion},
              {"host", status.host},
              {"pid", status.pid},
              {"communicators", std::move(communicators)}}
             .dump(-1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

Result<ProcessStatus> ParseProcessStatus(std::string_view text) {
  return ReadJson(text, {Code::kProtocol, "an answer that is not a status"}, ReadStatus,
                  kStatusBytesMax);
}

}  // namespace ringlet::watch
