// Reads arbitrary bytes as the trace of a rank. An accepted trace can be written and read again,
// and compared and drawn beside a copy of itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "watch/findings.hpp"
#include "watcher/trace/comparison.hpp"
#include "watcher/trace/pictures.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto trace = ringlet::watch::ParseRankTrace(text);
  if (!trace.ok()) return 0;
  const auto again = ringlet::watch::ParseRankTrace(ToJson(*trace));
  if (!again.ok() || again->operations != trace->operations) std::abort();
  ringlet::watch::RankTrace other = *trace;
  other.host_hash += "2";
  const std::vector<ringlet::watch::RankTrace> traces = {*trace, other};
  const auto shifts = AlignClocks(traces);
  if (FirstDivergence(traces)) std::abort();
  static_cast<void>(LatenessOf(traces, shifts));
  static_cast<void>(StateOf(*trace));
  if (ToChromeTrace(traces, shifts).empty() || ToFlightRecorder(traces).empty()) std::abort();
  return 0;
}
