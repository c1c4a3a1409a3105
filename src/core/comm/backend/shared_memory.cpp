#include "comm/backend/shared_memory.hpp"

namespace ringlet::comm {

collective::ScoreTable ScoresOf(const collective::ShmCollective& engine,
                                const collective::Tuner& tuner) {
  const transport::ArenaShape& shape = engine.arena().shape();
  return {collective::LayoutOnHost(shape.ranks, shape.slot_bytes), tuner};
}

SharedMemory::SharedMemory(collective::CallPlace place, Selector selector, HostMemory& memory)
    : SelectingBackend(place, {.begins_without_waiting = true}, std::move(selector)),
      scores_(ScoresOf(*memory.engine(), selector_.tuner())),
      host_memory_(memory),
      engine_(*memory.engine()) {}

Status SharedMemory::Start(const collective::Call& call, const collective::Fingerprint& fingerprint,
                           Started& started) {
  if (call.kind == collective::CallKind::kBarrier) {  // ignores the call's other members
    engine_.Start({.kind = call.kind}, scores_.For(call.kind, 0), fingerprint.sequence);
    started = Started(engine_);
    return Ok();
  }
  if (!WorkingMemory::MayStage(call)) [[likely]] {
    engine_.StartPart(call, AlgorithmOf(call), fingerprint);
  } else {
    collective::Call staged = call;
    staged.input = memory_.Staged(call, place_);
    engine_.StartPart(staged, AlgorithmOf(staged), fingerprint);
  }
  started = Started(engine_);
  return Ok();
}

// Collectives use the memory, so a rank that calls one instead is found there, not on the links.
std::unique_ptr<collective::Operation> SharedMemory::CheckCalls(collective::CallKind kind,
                                                                std::uint64_t number) {
  engine_.Start({.kind = kind}, scores_.For(kind, 0), number);
  return std::make_unique<HostRun>(engine_);
}

}  // namespace ringlet::comm
