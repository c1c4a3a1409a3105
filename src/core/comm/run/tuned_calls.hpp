// The choices of a tuner plug-in for the calls of one communicator.
#pragma once
#include <memory>

#include "comm/backend/backend.hpp"
#include "comm/plugin/tuner.hpp"
#include "comm/process/config.hpp"

namespace ringlet::comm {

/// Belongs to the thread that runs the operations.
class TunedCalls {
 public:
  /// Returns null if the plug-in cannot choose: without a session, or if all ranks share the memory
  /// of one host, which is logged. \param origin, backend  outlive this
  static std::unique_ptr<TunedCalls> Begin(std::unique_ptr<TunerSession> session,
                                           const Origin& origin, const Backend& backend);

  /// Returns the call, changed to run as the plug-in has chosen.
  collective::Call Apply(const collective::Call& call);

 private:
  TunedCalls(std::unique_ptr<TunerSession> session, const Origin& origin, const Backend& backend)
      : session_(std::move(session)), origin_(origin), backend_(backend) {}
  void Log(plan::Function function, const collective::Call& tuned) const;

  const std::unique_ptr<TunerSession> session_;
  const Origin& origin_;
  const Backend& backend_;
};

}  // namespace ringlet::comm
