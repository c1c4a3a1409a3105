#include "pytorch/store/call_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "comm/service/clock.hpp"
#include "pytorch/store/formation.hpp"

namespace ringlet::torch_api {
namespace {

// A rank that failed in the same call publishes its line within moments.
constexpr Instant kTimeout = std::chrono::seconds(1);

struct ReceivedLine {
  std::uint64_t call = 0;
  std::string line;
};
using LinesByRank = std::map<std::uint32_t, ReceivedLine>;
using Ranks = std::vector<std::uint32_t>;

std::string Key(std::uint64_t communicator, std::uint32_t rank) {
  return fmt::format("line:{:016x}:{}", communicator, rank);
}

// Sanitises text of another process: no control characters, limited length.
std::optional<ReceivedLine> TextOf(View bytes) {
  Reader in(bytes);
  ReceivedLine told{.call = in.U64(), .line = {}};
  if (!in.ok()) return std::nullopt;
  told.line = AsText(in.Raw(std::min(in.remaining(), CallLines::kBytesMax)));
  std::ranges::replace_if(
      told.line, [](char letter) { return static_cast<unsigned char>(letter) < 0x20; }, ' ');
  return told;
}

// The lines that the first ranks published in time; fewer if the store does not answer.
LinesByRank Collect(KeyStore& store, std::uint64_t communicator, std::uint32_t ranks,
                    const std::stop_token& ending) {
  LinesByRank found;
  Backoff backoff;
  const Instant end = comm::Now() + kTimeout;
  while (true) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (found.contains(rank)) continue;
      const auto bytes = store.Find(Key(communicator, rank));
      if (!bytes.ok()) return found;
      if (!*bytes) continue;
      if (auto told = TextOf(**bytes)) found.emplace(rank, std::move(*told));
    }
    if (found.size() == ranks || comm::Now() >= end) return found;
    if (!Pause(backoff.Next(), ending)) return found;
  }
}

std::string RankList(const Ranks& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

// Groups ranks with the same line, in order of their first rank.
std::string ToText(const LinesByRank& lines, std::uint64_t call) {
  std::vector<std::pair<std::string, Ranks>> places;
  for (const auto& [rank, told] : lines) {
    const std::string place =
        told.call == call ? told.line
                          : fmt::format("{} (in call {}, not {})", told.line, told.call, call);
    const auto known = std::ranges::find(places, place, &std::pair<std::string, Ranks>::first);
    if (known != places.end()) {
      known->second.push_back(rank);
    } else {
      places.push_back({place, {rank}});
    }
  }
  std::string text;
  for (const auto& [place, ranks] : places) text += fmt::format("\n{}: {}", RankList(ranks), place);
  return text;
}

}  // namespace

std::string CallLines::Exchange(const CallLine& mine) {
  const std::lock_guard lock(mutex_);
  if (!text_) text_ = ExchangeNow(mine);
  return *text_;
}

std::string CallLines::ExchangeNow(const CallLine& mine) const {
  Writer out;
  out.U64(mine.call).Raw(AsView(std::string_view(mine.line).substr(0, kBytesMax)));
  if (!store_->Set(Key(mine.communicator, rank_), out.view()).ok()) return "";
  const std::uint32_t named = std::min(size_, kRanksNamed);
  LinesByRank lines = Collect(*store_, mine.communicator, named, ending_);
  if (lines.empty()) return "";
  lines[rank_] = {mine.call, mine.line.substr(0, kBytesMax)};
  Ranks silent;
  for (std::uint32_t rank = 0; rank < named; ++rank)
    if (!lines.contains(rank)) silent.push_back(rank);
  std::string text = ToText(lines, mine.call);
  if (!silent.empty()) text += fmt::format("\n{}: no line arrived in time", RankList(silent));
  return text;
}

}  // namespace ringlet::torch_api
