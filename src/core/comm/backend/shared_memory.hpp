// Collectives of ranks that are all on one host, through the memory that they share.
#pragma once
#include "collective/select/select.hpp"
#include "comm/backend/host_memory.hpp"
#include "comm/backend/selector.hpp"

namespace ringlet::comm {

class SharedMemory final : public SelectingBackend {
 public:
  /// \param memory  outlives this. \pre  memory.IsHere()
  SharedMemory(collective::CallPlace place, Selector selector, HostMemory& memory);

  Status Start(const collective::Call& call, const collective::Fingerprint& fingerprint,
               Started& started) override;
  void CountEmptyCall(const collective::Fingerprint& call) override {
    engine_.CountEmptyCall(call);
  }
  std::unique_ptr<collective::Operation> CheckCalls(collective::CallKind kind,
                                                    std::uint64_t number) override;

  Profile::AlgorithmNames AlgorithmNamesOf(const collective::Call& call) const override {
    return {.algorithm = Name(AlgorithmOf(call)).data(), .protocol = "SIMPLE"};
  }
  /// Shared memory has neither rings nor trees.
  bool HasChannels() const override { return false; }

  void Leave() override { host_memory_.Leave(); }
  void GiveUp() override { host_memory_.GiveUp(); }

 private:
  collective::Algorithm AlgorithmOf(const collective::Call& call) const {
    if (call.algorithms == 0) [[likely]]
      return scores_.For(call.kind, BlockBytes(call));
    return selector_.For(call);
  }

  const collective::ScoreTable scores_;
  HostMemory& host_memory_;
  collective::ShmCollective& engine_;  // of that memory
};

/// Returns the table that selects the algorithm of each call through the memory of `engine`.
collective::ScoreTable ScoresOf(const collective::ShmCollective& engine,
                                const collective::Tuner& tuner);

}  // namespace ringlet::comm
