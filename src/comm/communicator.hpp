// A formed communicator, as one rank holds it.
#pragma once
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "collective/executor.hpp"
#include "comm/census.hpp"
#include "comm/config.hpp"
#include "comm/control.hpp"
#include "plan/channel_plan.hpp"
#include "transport/links.hpp"

namespace ringlet::comm {

struct Identity {
  Rank rank{};
  std::uint32_t size = 0;
  std::uint32_t device = 0;
  std::uint64_t magic = 0;  ///< public name of the communicator, the same on all ranks
};

/// One call of a collective, before it runs.
struct Call {
  View input;
  std::span<std::byte> output;
  std::size_t count = 0;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
};

class Communicator {
 public:
  Communicator(Origin origin, std::unique_ptr<Control> control, Census census,
               plan::ChannelPlan plan, std::unique_ptr<transport::Links> links,
               std::chrono::milliseconds timeout);
  /// Leaves in good order, unless it has failed or was aborted.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const Identity& identity() const { return identity_; }
  const Origin& origin() const { return origin_; }
  const plan::ChannelPlan& plan() const { return plan_; }
  const Census& census() const { return census_; }
  Control& control() const { return *control_; }
  transport::Links& links() { return *links_; }
  std::chrono::milliseconds timeout() const { return timeout_; }

  /// Reduces over all ranks; blocks until this rank's output is complete. `count` elements each;
  /// input and output are the same memory or do not overlap. One thread at a time.
  /// Errors  kInvalidArgument  nothing happened; else the communicator has failed on all ranks.
  Status AllReduce(const Call& call);

  // What AllReduce is made of, for several ranks on one thread (group.hpp).
  /// The call made ready to run, as this communicator's next operation.
  Result<std::unique_ptr<collective::Execution>> Prepare(const Call& call);
  /// Ok while it is worth going on: not failed, not aborted, in time.
  Status Check(Instant deadline, const collective::Execution& running);
  /// The run has come to its end.
  void Finished();
  /// Makes of a failed run the communicator's failure, on all ranks, and gives its best reason.
  Error Conclude(const Error& error);

  /// Fails the communicator on all ranks. Any thread, also while another is inside AllReduce.
  void Abort(const std::string& why);
  /// The reason why it has failed, if it has. Any thread.
  std::optional<Error> failure() const { return control_->failure(); }

 private:
  std::string WhoIsMissing(const collective::Execution& running);
  std::shared_ptr<const collective::Flow> FlowFor(std::size_t count);

  Origin origin_;  // its process's service thread serves the rest: it goes last
  Identity identity_;
  std::unique_ptr<Control> control_;
  Census census_;
  plan::ChannelPlan plan_;
  std::unique_ptr<transport::Links> links_;
  std::chrono::milliseconds timeout_;
  std::uint64_t sequence_ = 0;
  static constexpr std::size_t kFlowsMax = 64;
  std::map<std::size_t, std::shared_ptr<const collective::Flow>> flows_;  // by count
};

}  // namespace ringlet::comm
