// The interface between a communicator and the code that moves its data.
//
// A communicator checks, counts and records each call. Its backend runs the call: through the
// memory of one host (shared_memory.hpp), over links (over_links.hpp), through both among several
// hosts (hierarchy.hpp), or on the channels of an emulated machine (emulated.hpp). MakeBackend
// creates the backend, and the communicator keeps it.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "collective/call/call.hpp"
#include "collective/call/fingerprint.hpp"
#include "collective/call/operation.hpp"
#include "collective/exec/sent_bytes.hpp"
#include "comm/backend/working_memory.hpp"
#include "comm/machine/machine.hpp"
#include "comm/plugin/profiler.hpp"
#include "plan/tuning/tuning.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

/// An operation that has begun. Owns the operation, unless the backend owns it.
class Started {
 public:
  /// Empty.
  Started() = default;
  /// \param operation  outlives this
  explicit Started(collective::Operation& operation) : operation_(&operation) {}
  explicit Started(std::unique_ptr<collective::Operation> operation)
      : operation_(operation.get()), owned_(std::move(operation)) {}

  collective::Operation& operator*() const { return *operation_; }
  collective::Operation* operator->() const { return operation_; }

 private:
  collective::Operation* operation_ = nullptr;
  std::unique_ptr<collective::Operation> owned_;
};
Result<Started> StartedBy(Result<std::unique_ptr<collective::Operation>> made);
/// Does the same, but stores the result in `started`.
Status StartBy(Result<std::unique_ptr<collective::Operation>> made, Started& started);

/// Belongs to the thread that runs the communicator's operations. One operation runs at a time.
class Backend {
 public:
  struct Traits {
    /// True if the first step never waits for a rank. The recorder may then write after it.
    bool begins_without_waiting = false;
    /// True if Can may refuse calls that name no algorithms.
    bool refuses_any = false;
  };
  Backend(collective::CallPlace place, Traits its) : traits(its), place_(place) {}
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  const Traits traits;

  /// Succeeds if an algorithm that the call allows can run it.
  /// Errors  kInvalidArgument  no allowed algorithm can; names the call
  virtual Status Can(const collective::Call& call) const = 0;

  /// Begins the call. \pre  Can; it has elements or is a barrier; the last operation is done
  /// \param fingerprint  the call's form on the wire; lives as long as the operation
  /// \param started  output, because a Result<Started> costs 10 ns of an operation of 200
  /// Errors  those of making links, which have failed the communicator
  virtual Status Start(const collective::Call& call, const collective::Fingerprint& fingerprint,
                       Started& started) = 0;
  /// Counts a call without elements. No rank waits for such a call.
  virtual void CountEmptyCall(const collective::Fingerprint& /*call*/) {}

  /// Returns an operation that detects ranks with a different call. It runs before messages that
  /// all ranks exchange. Null if the messages themselves detect the difference.
  virtual std::unique_ptr<collective::Operation> CheckCalls(collective::CallKind /*kind*/,
                                                            std::uint64_t /*number*/) {
    return nullptr;
  }
  /// Counts the beginning of a message. \return  the counter of its bytes, or null
  virtual collective::SentBytes* CountMessage(Rank /*to*/, std::size_t /*bytes*/,
                                              collective::CallKind /*kind*/) {
    return nullptr;
  }

  // Facts for plug-ins.
  /// Describes how the call runs, in NCCL's terms.
  virtual Profile::AlgorithmNames AlgorithmNamesOf(const collective::Call& call) const = 0;
  /// Returns true if the backend can choose between rings and trees.
  virtual bool HasChannels() const { return true; }
  /// Returns the predicted times of all algorithms that could run the call. \pre  HasChannels
  virtual plan::TimeTable TimesOf(const collective::Call& call) const = 0;
  /// Returns the call, changed to run as a tuner has chosen. \pre  HasChannels; the choice is set
  virtual collective::Call Choose(const collective::Call& call,
                                  const collective::TunerChoice& choice) const = 0;
  /// Returns the emulated machine. Null if the ranks are in CPU memory.
  virtual const GpuMachine* machine() const { return nullptr; }

  /// Returns the bytes that operations use in addition to the caller's buffers. Any thread.
  std::uint64_t working_bytes() const { return memory_.bytes(); }
  /// Frees that memory and the programs that were built for calls. \pre  no operation runs
  virtual void FreeWorkingMemory() { memory_.Free(); }

  /// Ends the participation of this rank, which makes no further calls.
  virtual void Leave() {}
  /// Ends running operations on all ranks that share memory with this one. Any thread, any time.
  virtual void GiveUp() {}

 protected:
  const collective::CallPlace place_;
  WorkingMemory memory_;
};

}  // namespace ringlet::comm
