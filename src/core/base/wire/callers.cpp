#include "base/wire/callers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet {

std::optional<LineId> CallerQueue::Expired(Instant now) const {
  for (const Arrivals* arrivals : {&unproven_, &proven_})
    if (arrivals->size() > 0 && now - arrivals->Oldest().first >= timeout_)
      return arrivals->Oldest().second;
  return std::nullopt;
}

std::optional<Instant> CallerQueue::Deadline(Instant now) const {
  std::optional<Instant> deadline;
  const auto include = [&](Instant when) {
    deadline = deadline ? std::min(*deadline, when) : when;
  };
  for (const Arrivals* arrivals : {&unproven_, &proven_})
    if (arrivals->size() > 0) include(arrivals->Oldest().first + timeout_);
  if (!HasRoom(now)) include(unproven_.Oldest().first + kHurry);
  return deadline;
}

std::optional<Note> RejectionLog::NoteRejection(const Address& from, const std::string& why) {
  last_ = fmt::format("{}: {}", ToString(from), why);
  if (++turned_away_ > noted_max_) return std::nullopt;
  return Note{LogLevel::kWarn, fmt::format("{}turned away a caller from {}", prefix_, last_)};
}

std::optional<Note> RejectionLog::NoteHangup(const Address& from) {
  if (++left_ > noted_max_) return std::nullopt;
  return Note{LogLevel::kInfo, fmt::format("{}a caller from {} left before it introduced itself",
                                           prefix_, ToString(from))};
}

std::optional<Note> RejectionLog::Summary() const {
  if (turned_away_ <= noted_max_) return std::nullopt;
  return Note{LogLevel::kWarn,
              fmt::format("{}{} strangers were turned away in all", prefix_, turned_away_)};
}

}  // namespace ringlet
