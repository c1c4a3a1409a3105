#include "base/wire/callers.hpp"

#include <algorithm>

namespace ringlet {

std::optional<LineId> Callers::Expired(Instant now) const {
  for (const Arrivals* arrivals : {&unproven_, &proven_})
    if (arrivals->size() > 0 && now - arrivals->Oldest().first >= patience_)
      return arrivals->Oldest().second;
  return std::nullopt;
}

std::optional<Instant> Callers::Deadline(Instant now) const {
  std::optional<Instant> deadline;
  const auto include = [&](Instant when) {
    deadline = deadline ? std::min(*deadline, when) : when;
  };
  for (const Arrivals* arrivals : {&unproven_, &proven_})
    if (arrivals->size() > 0) include(arrivals->Oldest().first + patience_);
  if (!HasRoom(now)) include(unproven_.Oldest().first + kHurry);
  return deadline;
}

}  // namespace ringlet
