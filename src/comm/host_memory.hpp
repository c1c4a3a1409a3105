// What the ranks of a communicator that all run on one host share: an arena, made by their first
// collective, and the engine that runs collectives through it.
//
//   kNever   they do not all run on one host, or do not want to, or somebody could not: over links
//   kUnmade  nobody has called a collective yet
//   kHere    the arena is there, on all ranks
//
// Whether it is made and whether that worked is decided by all ranks together, so that never one
// uses the arena while another uses links.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "collective/host_engine.hpp"
#include "comm/census.hpp"
#include "comm/config.hpp"
#include "comm/control.hpp"

namespace ringlet::comm {

class HostMemory {
 public:
  enum class State { kNever, kUnmade, kHere };

  /// Pure: kUnmade where the ranks of `census` are on one host, meet in one network namespace, and
  /// no setting has them do without.
  /// \param patience  how this rank waits for the others
  HostMemory(const Origin& origin, const Census& census, collective::Patience patience);

  State state() const { return state_; }
  /// With kHere. The rank's thread's.
  collective::HostEngine& engine() { return *engine_; }

  /// Where this rank's registered memory is, whatever the state. Any thread.
  transport::SharedBuffers& buffers() { return *buffers_; }

  /// Makes the arena and hands it to all, or finds out together that it cannot be. Blocks; called
  /// by all ranks, on a thread of its own. Rank 0 warns when it cannot be. Errors  those of the
  /// control network: the communicator has failed
  /// \param timeout  of each of its steps: longer than that of the operation, which knows more
  Status Make(const Origin& origin, Control& control, std::chrono::milliseconds timeout,
              const std::stop_token& stop);
  /// On the rank's thread, after Make has succeeded: the state is kHere or kNever.
  void Take();

  /// Lets the others know that this rank calls no more.
  void Leave();
  /// Ends what runs on all ranks. Any thread, any time.
  void GiveUp();

 private:
  State state_ = State::kNever;
  std::uint32_t self_ = 0, ranks_ = 0;
  collective::Patience patience_;
  std::shared_ptr<transport::Arena> made_;  // by Make, for Take, as are
  std::vector<std::int32_t> processes_;     // those whose memory can be read
  std::mutex mutex_;                        // of the pointer `engine_`, which is written once
  std::shared_ptr<transport::SharedBuffers> buffers_;
  collective::HostReach reach_;  // for the engine
  std::unique_ptr<collective::HostEngine> engine_;
};

/// The operation that the engine was started with last.
class HostRun final : public collective::Operation {
 public:
  explicit HostRun(collective::HostEngine& engine) : engine_(engine) {}
  /// The buffers are the caller's again, also when the operation has not come to its end.
  ~HostRun() override { engine_.Withdraw(); }
  Result<bool> Advance() override { return engine_.Advance(); }
  bool moved() const override { return engine_.moved(); }
  std::string WaitingFor() const override { return engine_.WaitingFor(); }
  std::optional<Rank> Awaits() const override { return engine_.Awaits(); }
  const collective::WaitingPlace* place() const override { return engine_.place(); }

 private:
  collective::HostEngine& engine_;
};

}  // namespace ringlet::comm
