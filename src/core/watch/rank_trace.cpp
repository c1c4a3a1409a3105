#include "watch/rank_trace.hpp"

#include <algorithm>

namespace ringlet::watch {
namespace {

constexpr std::uint64_t kVersion = 1;
// Allows sums of times of several traces: 73 years, which includes times since 1970.
constexpr std::uint64_t kNanosecondsMax = std::uint64_t{1} << 61;

std::uint64_t Nanoseconds(Instant time) {
  return static_cast<std::uint64_t>(std::max(time, Instant(0)).count());
}
Instant ReadInstant(JsonObject& object, const char* key) {
  if (!object.Has(key)) return Instant(0);
  return Instant(static_cast<std::int64_t>(object.Number(key, kNanosecondsMax)));
}

OperationState ReadOperationState(JsonObject& object) {
  const std::string text = object.Text("state");
  for (const OperationState progress :
       {OperationState::kBegun, OperationState::kDone, OperationState::kFailed})
    if (text == Name(progress)) return progress;
  object.Refuse("state is neither begun, done nor failed");
  return OperationState::kBegun;
}

void CheckTrace(const RankTrace& trace, JsonObject& object) {
  if (trace.rank >= trace.ranks)
    object.Refuse(fmt::format("rank {} of {} does not exist", trace.rank, trace.ranks));
  if (trace.done > trace.begun) object.Refuse("more operations have ended than begun");
  for (std::size_t i = 1; i < trace.operations.size(); ++i)
    if (trace.operations[i].number != trace.operations[i - 1].number + 1)
      object.Refuse("the operations are not numbered one after the other");
}

RankTrace ReadTrace(JsonObject& object) {
  if (object.Number("ringlet_trace") != kVersion)
    object.Refuse(fmt::format("ringlet_trace is not {}", kVersion));
  RankTrace trace{.communicator = object.Text("communicator"),
                  .rank = object.Small("rank"),
                  .ranks = object.Ranks("ranks"),
                  .host = object.Text("host"),
                  .host_hash = object.Text("host_hash"),
                  .pid = object.Small("pid"),
                  .reason = object.Text("reason"),
                  .failure = object.Text("failure"),
                  .taken = ReadInstant(object, "taken_ns"),
                  .taken_unix = ReadInstant(object, "taken_unix_ns"),
                  .begun = object.Number("begun"),
                  .done = object.Number("done"),
                  .waits_for = object.OptionalSmall("waits_for"),
                  .slow_sends = ReadSlowSends(object)};
  object.ForEach("operations", [&](JsonObject& operation) {
    trace.operations.push_back(ReadOperation(operation));
  });
  CheckTrace(trace, object);
  return trace;
}

}  // namespace

void AddSlowSends(const std::vector<SlowSend>& sends, Json& json) {
  for (const SlowSend& send : sends)
    json["slow_sends"].push_back({{"peer", send.peer},
                                  {"bytes", send.bytes},
                                  {"bytes_per_second", send.bytes_per_second},
                                  {"quiet_ns", Nanoseconds(send.quiet)}});
}

std::vector<SlowSend> ReadSlowSends(JsonObject& object) {
  std::vector<SlowSend> sends;
  if (!object.Has("slow_sends")) return sends;
  object.ForEach("slow_sends", [&](JsonObject& send) {
    sends.push_back({.peer = send.Small("peer"),
                     .bytes = send.Number("bytes"),
                     .bytes_per_second = send.Number("bytes_per_second"),
                     .quiet = ReadInstant(send, "quiet_ns")});
  });
  return sends;
}

Json OperationJson(const RecordedOperation& operation) {
  Json json = {{"number", operation.number},       {"sequence", operation.sequence},
               {"call", operation.call},           {"count", operation.count},
               {"type", operation.type},           {"bytes", operation.bytes},
               {"state", Name(operation.progress)}};
  if (!operation.reduction.empty()) json["reduction"] = operation.reduction;
  if (operation.root) json["root"] = *operation.root;
  if (operation.peer) json["peer"] = *operation.peer;
  if (operation.messages > 0) json["messages"] = operation.messages;
  if (operation.enqueued > Instant(0)) json["enqueued_ns"] = Nanoseconds(operation.enqueued);
  if (operation.began > Instant(0)) json["began_ns"] = Nanoseconds(operation.began);
  if (operation.ended > Instant(0)) json["ended_ns"] = Nanoseconds(operation.ended);
  return json;
}

RecordedOperation ReadOperation(JsonObject& object) {
  return {.number = object.Number("number"),
          .sequence = object.Number("sequence"),
          .call = object.Text("call"),
          .count = object.Number("count"),
          .type = object.Text("type"),
          .reduction = object.OptionalText("reduction"),
          .root = object.OptionalSmall("root"),
          .peer = object.OptionalSmall("peer"),
          .bytes = object.Number("bytes"),
          .messages = object.OptionalSmall("messages").value_or(0),
          .progress = ReadOperationState(object),
          .enqueued = ReadInstant(object, "enqueued_ns"),
          .began = ReadInstant(object, "began_ns"),
          .ended = ReadInstant(object, "ended_ns")};
}

std::string ToJson(const RankTrace& trace) {
  Json json = {{"ringlet_trace", kVersion},
               {"communicator", trace.communicator},
               {"rank", trace.rank},
               {"ranks", trace.ranks},
               {"host", trace.host},
               {"host_hash", trace.host_hash},
               {"pid", trace.pid},
               {"reason", trace.reason},
               {"failure", trace.failure},
               {"taken_ns", Nanoseconds(trace.taken)},
               {"taken_unix_ns", Nanoseconds(trace.taken_unix)},
               {"begun", trace.begun},
               {"done", trace.done}};
  if (trace.waits_for) json["waits_for"] = *trace.waits_for;
  AddSlowSends(trace.slow_sends, json);
  std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace);
  text.resize(text.size() - 2);  // removes "\n}"
  text += ",\n \"operations\": [";
  std::string_view comma = "\n  ";
  for (const RecordedOperation& operation : trace.operations) {
    text += comma;
    text += OperationJson(operation).dump(-1, ' ', false, Json::error_handler_t::replace);
    comma = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

Result<RankTrace> ParseRankTrace(std::string_view text) {
  return ReadJson(text, {Code::kInvalidArgument, "it is not a trace of a rank"}, ReadTrace,
                  kTraceBytesMax);
}

std::string Describe(const RankTrace& trace) {
  return fmt::format("rank {} (host {}, pid {})", trace.rank, trace.host, trace.pid);
}

std::string FileNameOf(const RankTrace& trace) {
  return fmt::format("{}-{}.json", trace.communicator, trace.rank);
}

}  // namespace ringlet::watch
