#include "comm/run/tuned_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/settings/setting_table.hpp"

namespace ringlet::comm {

std::unique_ptr<TunedCalls> TunedCalls::Begin(std::unique_ptr<TunerSession> session,
                                              const Origin& origin, const Backend& backend) {
  if (!session) return nullptr;
  if (backend.HasChannels())
    return std::unique_ptr<TunedCalls>(new TunedCalls(std::move(session), origin, backend));
  origin.process->logger().NoteOnce(
      VariableOf(origin.process->settings(), "TUNER_PLUGIN") +
      " is not used where all ranks share the memory of one host: their collectives use neither "
      "rings nor trees, but do with RINGLET_LINKS=tcp");
  return nullptr;
}

collective::Call TunedCalls::Apply(const collective::Call& call) {
  const auto function = FunctionOf(call.kind);
  const collective::CallPlace place{Rank{origin_.config.rank}, origin_.config.size};
  if (!function || place.ranks == 1) return call;
  const std::size_t bytes = std::max(InputBytes(call, place), OutputBytes(call, place));
  const collective::TunerChoice choice = session_->Ask(*function, bytes, backend_.TimesOf(call));
  if (!choice.given) return call;
  const collective::Call tuned = backend_.Choose(call, choice);
  Log(*function, tuned);
  return tuned;
}

// Logs in NCCL's format, on one rank.
void TunedCalls::Log(plan::Function function, const collective::Call& tuned) const {
  os::Logger& logger = origin_.process->logger();
  if (origin_.config.rank != 0 || !logger.IsWanted(LogLevel::kInfo, Subsystem::kTuning)) return;
  logger.Log(LogLevel::kInfo, Subsystem::kTuning, origin_.config.device,
             fmt::format("{}: {} Bytes -> Algo {} proto {} channel{{Lo..Hi}}={{0..{}}}",
                         NameOf(function), BlockBytes(tuned),
                         NcclName(static_cast<plan::NcclAlgorithm>(tuned.tuner.algorithm)),
                         NcclName(static_cast<plan::Protocol>(tuned.tuner.protocol)),
                         std::max(backend_.AlgorithmNamesOf(tuned).channels, 1u) - 1));
}

}  // namespace ringlet::comm
