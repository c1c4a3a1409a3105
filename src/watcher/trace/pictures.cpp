#include "watcher/trace/pictures.hpp"

#include <algorithm>
#include <map>

namespace ringlet::watch {
namespace {

// Maximum number of ranks in a dump's list of a process group, because the list is text.
constexpr std::uint32_t kListedRanksMax = 1 << 16;

double Microseconds(Instant time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

/// Begin and end of an operation, measured or between those of its neighbours.
struct Interval {
  Instant begin{0}, end{0};
  bool measured = false;
};

// Missing times in a row divide the interval between the two known ones.
std::vector<Interval> IntervalsOf(const RankTrace& trace) {
  std::vector<Instant> times;  // begin and end of each, alternating
  for (const RecordedOperation& operation : trace.operations) {
    times.push_back(operation.began);
    times.push_back(operation.ended);
  }
  if (!trace.operations.empty() && trace.operations.back().progress != OperationState::kDone)
    times.back() = trace.taken;
  times.push_back(trace.taken);
  Instant before{0};
  for (std::size_t i = 0; i < times.size();) {
    if (times[i] > Instant(0)) {
      before = times[i] = std::max(times[i], before);
      ++i;
      continue;
    }
    std::size_t until = i;
    while (until + 1 < times.size() && times[until] == Instant(0)) ++until;
    const Instant after = std::max(times[until], before);
    if (before == Instant(0)) before = after;
    const auto missing = static_cast<std::int64_t>(until - i);
    for (std::int64_t k = 0; k < missing; ++k)
      times[i + static_cast<std::size_t>(k)] = before + (after - before) / (missing + 1) * (k + 1);
    i = std::max(until, i + 1);
  }
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < trace.operations.size(); ++i)
    intervals.push_back({.begin = times[2 * i],
                         .end = times[2 * i + 1],
                         .measured = trace.operations[i].began > Instant(0) &&
                                     trace.operations[i].ended > Instant(0)});
  return intervals;
}

Json ArgumentsOf(const RecordedOperation& operation, const Interval& interval) {
  Json arguments = OperationJson(operation);
  arguments.erase("enqueued_ns");
  arguments.erase("began_ns");
  arguments.erase("ended_ns");
  arguments["measured"] = interval.measured;
  if (operation.enqueued > Instant(0))
    arguments["waited_us"] =
        Microseconds(std::max(interval.begin - operation.enqueued, Instant(0)));
  return arguments;
}

void AddRows(const RankTrace& trace, std::size_t process, Json& events) {
  events.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", process},
                    {"args", {{"name", "communicator " + trace.communicator}}}});
  events.push_back({{"ph", "M"},
                    {"name", "thread_name"},
                    {"pid", process},
                    {"tid", trace.rank},
                    {"args", {{"name", Describe(trace)}}}});
}

}  // namespace

std::string ToChromeTrace(const std::vector<RankTrace>& traces,
                          const std::vector<ClockShift>& shifts) {
  std::vector<std::vector<Interval>> intervals;
  Instant origin = Instant::max();
  for (std::size_t i = 0; i < traces.size(); ++i) {
    intervals.push_back(IntervalsOf(traces[i]));
    if (!intervals.back().empty())
      origin = std::min(origin, intervals.back().front().begin + shifts[i].shift);
  }
  std::map<std::string, std::size_t> processes;  // one per communicator
  Json events = Json::array();
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const RankTrace& trace = traces[i];
    const std::size_t process =
        processes.emplace(trace.communicator, processes.size()).first->second;
    AddRows(trace, process, events);
    for (std::size_t k = 0; k < trace.operations.size(); ++k) {
      const RecordedOperation& operation = trace.operations[k];
      const Interval& interval = intervals[i][k];
      events.push_back({{"ph", "X"},
                        {"name", operation.call},
                        {"cat", Name(operation.progress)},
                        {"pid", process},
                        {"tid", trace.rank},
                        {"ts", Microseconds(interval.begin + shifts[i].shift - origin)},
                        {"dur", Microseconds(interval.end - interval.begin)},
                        {"args", ArgumentsOf(operation, interval)}});
    }
  }
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump(
             -1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

// ---- PyTorch ------------------------------------------------------------------------------------

namespace {

// PyTorch's analyzer refuses the names of other backends.
constexpr std::string_view kBackend = "nccl:";

std::string TypeName(const std::string& type) {
  static const std::map<std::string, std::string> kNames = {
      {"float", "Float"},   {"double", "Double"}, {"half", "Half"}, {"bfloat16", "BFloat16"},
      {"int8", "Char"},     {"uint8", "Byte"},    {"int32", "Int"}, {"int64", "Long"},
      {"uint32", "UInt32"}, {"uint64", "UInt64"}, {"bool", "Bool"}, {"int16", "Short"}};
  const auto it = kNames.find(type);
  return it == kNames.end() ? type : it->second;
}

std::string ProfilingName(const RankTrace& trace, const RecordedOperation& operation) {
  if (!IsMessage(operation)) return std::string(kBackend) + operation.call;
  if (operation.messages > 1 || !operation.peer) return std::string(kBackend) + "coalesced";
  const bool receives = operation.root == trace.rank;
  return fmt::format("{}{} {}{}{}", kBackend, receives ? "recv" : "send", trace.rank,
                     receives ? "<-" : "->", *operation.peer);
}

/// Returns the elements of input and output in PyTorch's form: one tensor each.
std::pair<std::uint64_t, std::uint64_t> CountsOf(const RankTrace& trace,
                                                 const RecordedOperation& operation) {
  const std::uint64_t all = operation.count * trace.ranks;
  if (operation.call == "all_gather" || operation.call == "gather") return {operation.count, all};
  if (operation.call == "reduce_scatter" || operation.call == "scatter")
    return {all, operation.count};
  if (operation.call == "all_to_all") return {all, all};
  return {operation.count, operation.count};
}

Json EntryOf(const RankTrace& trace, const RecordedOperation& operation, std::size_t group,
             std::uint64_t messages_before) {
  const Instant to_unix = trace.taken_unix - trace.taken;
  const auto unix_ns = [&](Instant time) {
    return time > Instant(0) ? Json((time + to_unix).count()) : Json(nullptr);
  };
  const auto [input, output] = CountsOf(trace, operation);
  const bool done = operation.progress == OperationState::kDone;
  Json entry = {{"record_id", operation.number},
                {"pg_id", group},
                {"process_group", {trace.communicator, "ringlet"}},
                {"collective_seq_id", operation.sequence + (IsMessage(operation) ? 0 : 1)},
                {"p2p_seq_id", messages_before},
                {"op_id", operation.number + 1},
                {"profiling_name", ProfilingName(trace, operation)},
                {"time_created_ns",
                 unix_ns(operation.enqueued > Instant(0) ? operation.enqueued : operation.began)},
                {"input_sizes", {{input}}},
                {"input_dtypes", {TypeName(operation.type)}},
                {"output_sizes", {{output}}},
                {"output_dtypes", {TypeName(operation.type)}},
                {"state", done ? "completed" : "started"},
                {"time_discovered_started_ns", unix_ns(operation.began)},
                {"time_discovered_completed_ns", done ? unix_ns(operation.ended) : Json(nullptr)},
                {"retired", done},
                {"timeout_ms", 0},
                {"is_p2p", IsMessage(operation)},
                {"frames", Json::array()}};
  if (done && operation.began > Instant(0) && operation.ended > Instant(0))
    entry["duration_ms"] = Microseconds(operation.ended - operation.began) / 1000;
  return entry;
}

std::string RankList(std::uint32_t ranks) {
  std::string text = "[";
  for (std::uint32_t rank = 0; rank < std::min(ranks, kListedRanksMax); ++rank)
    text += fmt::format("{}{}", rank == 0 ? "" : ", ", rank);
  return text + "]";
}

}  // namespace

std::string ToFlightRecorder(const std::vector<RankTrace>& traces) {
  Json groups = Json::object(), status = Json::object(), entries = Json::array();
  for (std::size_t group = 0; group < traces.size(); ++group) {
    const RankTrace& trace = traces[group];
    groups[trace.communicator] = {
        {"name", trace.communicator}, {"desc", "ringlet"}, {"ranks", RankList(trace.ranks)}};
    std::uint64_t messages = 0, last = 0;
    for (const RecordedOperation& operation : trace.operations) {
      messages += IsMessage(operation) ? 1u : 0u;
      last = operation.sequence + (IsMessage(operation) ? 0 : 1);
      entries.push_back(EntryOf(trace, operation, group, messages));
    }
    status[fmt::format("{}", group)] = {
        {"last_enqueued_collective", last},
        {"last_started_collective", last},
        {"last_completed_collective", trace.begun > trace.done ? last - 1 : last}};
  }
  return Json{{"version", "2.10"},
              {"pg_config", std::move(groups)},
              {"pg_status", std::move(status)},
              {"entries", std::move(entries)}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace ringlet::watch
