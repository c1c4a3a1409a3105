// The seam between a communicator and the ways in which it moves data.
//
// A communicator checks each call, counts it and records it. Its backend runs the call: through the
// memory of one host (shared_memory.hpp), over links (over_links.hpp), through both among several
// hosts (hierarchy.hpp), or on the channels of an emulated machine (emulated.hpp). A communicator
// keeps the backend that MakeBackend gives it.
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

/// An operation that has begun. Owns it, unless the backend does.
class Started {
 public:
  /// None yet.
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
/// The same, into `started`.
Status StartBy(Result<std::unique_ptr<collective::Operation>> made, Started& started);

/// Belongs to the thread that runs the communicator's operations. One operation runs at a time.
class Backend {
 public:
  struct Traits {
    /// The first step of each operation waits for no rank, so that the recorder may write after it.
    bool begins_without_waiting = false;
    /// Can may refuse calls that name no algorithms.
    bool refuses_any = false;
  };
  Backend(collective::CallPlace place, Traits its) : traits(its), place_(place) {}
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  const Traits traits;

  /// Whether an algorithm that the call allows can run it.
  /// Errors  kInvalidArgument  none can; names the call
  virtual Status Can(const collective::Call& call) const = 0;

  /// Begins the call. \pre  Can; it has elements or is a barrier; the last operation is done
  /// \param fingerprint  its form on the wire; lives as long as the operation
  /// \param started  filled in, because a Result<Started> costs 10 ns of an operation of 200
  /// Errors  those of making links, which have failed the communicator
  virtual Status Start(const collective::Call& call, const collective::Fingerprint& fingerprint,
                       Started& started) = 0;
  /// Counts a call without elements, for which no rank waits.
  virtual void Skip(const collective::Fingerprint& /*call*/) {}

  /// An operation that finds ranks which called something else, and runs before messages that all
  /// ranks exchange. Null where the messages find that themselves.
  virtual std::unique_ptr<collective::Operation> Meet(collective::CallKind /*kind*/,
                                                      std::uint64_t /*number*/) {
    return nullptr;
  }
  /// Counts the beginning of a message. \return  the counter of its bytes; null: none are counted
  virtual collective::SentBytes* CountMessage(Rank /*to*/, std::size_t /*bytes*/,
                                              collective::CallKind /*kind*/) {
    return nullptr;
  }

  // Facts for plug-ins.
  /// How the call runs, in NCCL's words.
  virtual Profile::Way WayOf(const collective::Call& call) const = 0;
  /// Whether there are rings and trees to choose from.
  virtual bool HasChannels() const { return true; }
  /// The predicted times of the ways in which the call could run. \pre  HasChannels
  virtual plan::TimeTable TimesOf(const collective::Call& call) const = 0;
  /// The call, changed so that it runs as a tuner has chosen. \pre  HasChannels; the choice is
  /// given
  virtual collective::Call Choose(const collective::Call& call,
                                  const collective::TunerChoice& choice) const = 0;
  /// The emulated machine; null: the ranks are in CPU memory.
  virtual const GpuMachine* machine() const { return nullptr; }

  /// Bytes of the memory that operations use beside the caller's. Any thread.
  std::uint64_t working_bytes() const { return memory_.bytes(); }
  /// Frees that memory and the programs that were built for calls. \pre  no operation runs
  virtual void FreeWorkingMemory() { memory_.Free(); }

  /// Ends the part of this rank, which calls no more.
  virtual void Leave() {}
  /// Ends what runs, on all ranks that share memory with this one. Any thread, any time.
  virtual void GiveUp() {}

 protected:
  const collective::CallPlace place_;
  WorkingMemory memory_;
};

}  // namespace ringlet::comm
