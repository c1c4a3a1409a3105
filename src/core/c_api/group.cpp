#include "c_api/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stop_token>
#include <vector>

#include "c_api/stream_call.hpp"
#include "comm/establish/form_together.hpp"
#include "comm/service/fork_guard.hpp"
#include "os/fs/gpu_driver.hpp"
#include "os/process/per_thread.hpp"
#include "stream/current_device.hpp"

namespace ringlet::c_api {
namespace {

struct OpenCallGroup {
  int depth = 0;
  std::optional<Error> spoiled;
  std::vector<InitJob> inits;
  /// A non-blocking communicator. The caller already has its handle.
  struct Begun {
    std::shared_ptr<Forming> forming;
    ncclComm_t handle;  // null: the rank gets no handle
    ncclComm_t* out;
  };
  std::vector<Begun> begun;
  std::vector<comm::GroupedCall> calls;  // on null streams
  /// An event of a call on a null stream.
  struct Beginning {
    std::size_t place;
    ringletEvent_t event;
  };
  std::vector<Beginning> begins;
  std::vector<ncclComm_t> unblocked;  // handles of `calls` on non-blocking communicators
  /// A call on a stream.
  struct Streamed {
    std::size_t place;  // number of earlier calls in `calls`
    StreamCall call;
    bool blocking;
  };
  std::vector<Streamed> streamed;
  /// Messages of one communicator that precede all `calls`: most groups consist of nothing else.
  std::vector<comm::Transfer> messages;
  std::shared_ptr<comm::Communicator> messages_of;  // their communicator; null without messages
  comm::ForkGuard fork_guard;

  /// True if the group consists of calls on null streams, which block.
  bool HasOnlyCalls() const {
    return !spoiled && inits.empty() && begun.empty() && begins.empty() && unblocked.empty() &&
           streamed.empty();
  }
  /// True if a message of this communicator may join `messages`.
  bool TakesMessageOf(const std::shared_ptr<comm::Communicator>& of) const {
    return calls.empty() && streamed.empty() && (!messages_of || messages_of == of);
  }
  /// Turns `messages` into `calls`, because other calls follow.
  void MoveMessages() {
    for (const comm::Transfer& one : messages) calls.push_back({messages_of, one});
    messages.clear();
    messages_of.reset();
  }
};
os::PerThread<OpenCallGroup> groups;

/// The group that collects this thread's calls; null: calls run at once. A child of fork() does not
/// continue its parent's group, because it may not use the parent's communicators.
OpenCallGroup* OpenGroupOfThread() {
  OpenCallGroup* const group = groups.Find();
  if (!group || group->depth == 0) [[likely]]
    return nullptr;
  if (group->fork_guard.IsHere()) [[likely]]
    return group;
  new OpenCallGroup(std::exchange(*group, OpenCallGroup{}));
  return nullptr;
}

/// Refuses a communicator on several hosts if the program requested encryption, because data
/// between hosts are not encrypted.
Status CheckEncryption(comm::Communicator& communicator) {
  const std::size_t hosts = communicator.peer_table().hosts.size();
  if (hosts < 2 || !IsEncryptionWanted()) return Ok();
  Error error{Code::kUnsupported,
              fmt::format("ncclSetEncryption requested encryption, but this communicator has ranks "
                          "on {} hosts: Ringlet encrypts the control network, but not the data "
                          "that collectives send between hosts",
                          hosts)};
  communicator.Abort(error.message);
  return error;
}

/// Wraps `form`: checks the communicator and names it as in `options`.
Form Finished(Form form, const CommOptions& options) {
  return [form = std::move(form), name = options.name](
             const std::stop_token& abort) -> Result<std::unique_ptr<comm::Communicator>> {
    RINGLET_TRY_ASSIGN(auto communicator, form(abort));
    if (!communicator) return communicator;
    RINGLET_TRY(CheckEncryption(*communicator));
    communicator->Announce(name ? name->c_str() : nullptr);
    if (name)
      communicator->origin().process->logger().Log(
          LogLevel::kInfo, Subsystem::kInit, communicator->identity().device,
          fmt::format("commId {:016x} is called {}", communicator->identity().magic, *name));
    return communicator;
  };
}

Status RunInit(const InitJob& job, const std::stop_token& abort) {
  RINGLET_TRY_ASSIGN(std::shared_ptr<comm::Communicator> communicator, job.form(abort));
  *job.out = communicator ? Export(std::move(communicator), job.options) : nullptr;
  return Ok();
}

Status RunInits(const std::vector<InitJob>& jobs) {
  return comm::FormTogether(jobs.size(), [&](std::size_t i, const std::stop_token& abort) {
    return RunInit(jobs[i], abort);
  });
}

void BeginForming(Forming& forming) {
  if (forming.outcome()) return;  // aborted meanwhile
  forming.Start([](const Error& error) { Report("a non-blocking communicator", error); });
}

// Invalidates the handles of communicators that a spoiled group will never form.
void Withdraw(const OpenCallGroup& spoiled) {
  for (const OpenCallGroup::Begun& begun : spoiled.begun) {
    begun.forming->Stop();
    if (begun.handle) static_cast<void>(TakeAborted(begun.handle, ""));
    *begun.out = nullptr;
  }
}

// \pre  all calls are on non-blocking communicators
Result<bool> BeginCalls(std::vector<ncclComm_t> handles, std::vector<comm::GroupedCall> calls) {
  for (const comm::GroupedCall& call : calls) RINGLET_TRY(call.communicator->Validate(call.work));
  std::vector<std::shared_ptr<Issued>> before;  // their operations on streams
  for (const ncclComm_t handle : handles)
    if (auto issued = FindIssued(handle)) before.push_back(std::move(issued));
  RINGLET_TRY(Begin(
      handles, std::make_shared<Running>([calls = std::move(calls), before = std::move(before)] {
        for (const auto& issued : before) issued->Await();
        return comm::RunGroup(calls);
      })));
  return true;
}

/// Validates the call and converts it to a stream call.
Result<StreamCall> StreamCallOf(CallJob job) {
  RINGLET_TRY(job.held.communicator->Validate(job.work));
  const int device = job.held.communicator->origin().config.stream_device;
  const ringletStream_t stream =
      stream::StreamTable::Here().OnDevice(device, reinterpret_cast<ringletStream_t>(job.stream));
  StreamCall call{.call = {std::move(job.held.communicator), std::move(job.work)},
                  .stream = stream,
                  .begins = reinterpret_cast<ringletEvent_t>(job.begins)};
  RINGLET_TRY_ASSIGN(call.issued, IssuedOf(job.handle));
  return call;
}

Result<bool> SubmitToStream(CallJob job) {
  const bool blocking = job.held.options.blocking;
  RINGLET_TRY_ASSIGN(StreamCall call, StreamCallOf(std::move(job)));
  OpenCallGroup* const group = OpenGroupOfThread();
  if (!group) {
    std::vector<StreamCall> calls;
    calls.push_back(std::move(call));
    RINGLET_TRY(IssueCalls(std::move(calls)));
    return !blocking;
  }
  RINGLET_TRY(CheckStream(call.stream));
  group->MoveMessages();
  group->streamed.push_back({group->calls.size(), std::move(call), blocking});
  return false;
}

/// The event of a call on a null stream; null without an event.
ringletEvent_t TakeBeginning(OpenCallGroup& collected, std::size_t place) {
  const auto found = std::ranges::find(collected.begins, place, &OpenCallGroup::Beginning::place);
  if (found == collected.begins.end()) return nullptr;
  const ringletEvent_t event = found->event;
  collected.begins.erase(found);
  return event;
}

/// Collects the calls on streams, and those on null streams if their communicators also have calls
/// on streams: both form one item. Other calls stay in `calls`.
std::vector<StreamCall> TakeStreamCalls(OpenCallGroup& collected) {
  std::vector<StreamCall> calls;
  std::vector<comm::GroupedCall> rest;
  auto next = collected.streamed.begin();
  for (std::size_t i = 0; i <= collected.calls.size(); ++i) {
    for (; next != collected.streamed.end() && next->place == i; ++next)
      calls.push_back(next->call);
    if (i == collected.calls.size()) break;
    comm::GroupedCall& call = collected.calls[i];
    const auto shared = std::find_if(collected.streamed.begin(), collected.streamed.end(),
                                     [&](const OpenCallGroup::Streamed& one) {
                                       return one.call.call.communicator == call.communicator;
                                     });
    if (shared == collected.streamed.end()) {
      rest.push_back(std::move(call));
    } else {
      calls.push_back({.call = std::move(call),
                       .issued = shared->call.issued,
                       .on_stream = false,
                       .begins = TakeBeginning(collected, i)});
    }
  }
  collected.calls = std::move(rest);
  return calls;
}

Status CheckAlike(const OpenCallGroup& collected) {
  if (collected.unblocked.empty() || collected.unblocked.size() == collected.calls.size())
    return Ok();
  return Error{Code::kInvalidArgument,
               "a group has calls on communicators that block and on others that do not"};
}

/// Runs the calls on null streams. \pre  CheckAlike
Result<bool> RunNullCalls(OpenCallGroup collected) {
  for (const OpenCallGroup::Beginning& one : collected.begins) RINGLET_TRY(RecordBegin(one.event));
  if (!collected.unblocked.empty())
    return BeginCalls(std::move(collected.unblocked), std::move(collected.calls));
  RINGLET_TRY(comm::RunGroup(collected.calls));
  return false;
}

Result<bool> RunStreamCalls(OpenCallGroup collected) {
  const bool unblocked =
      std::any_of(collected.streamed.begin(), collected.streamed.end(),
                  [](const OpenCallGroup::Streamed& one) { return !one.blocking; });
  if (unblocked && !collected.calls.empty())
    return Error{Code::kUnsupported,
                 "a group with a communicator that does not block has calls on null streams and on "
                 "others: pass a stream to each call"};
  for (const OpenCallGroup::Streamed& one : collected.streamed)
    if (one.call.issued->closed())
      return Error{Code::kInvalidArgument,
                   "a communicator was destroyed or aborted inside a group that has calls on it: "
                   "none of them was issued; close the group first"};
  for (const comm::GroupedCall& call : collected.calls)
    RINGLET_TRY(call.communicator->Validate(call.work));
  std::vector<StreamCall> calls = TakeStreamCalls(collected);
  RINGLET_TRY(CheckAlike(collected));
  bool goes_on = unblocked;
  RINGLET_TRY(IssueCalls(std::move(calls), [&]() -> Status {
    RINGLET_TRY_ASSIGN(const bool begun, RunNullCalls(std::move(collected)));
    goes_on = goes_on || begun;
    return Ok();
  }));
  return goes_on;
}

/// Runs the messages. Keeps the memory of the vector for the next group of this thread.
Status RunMessages(OpenCallGroup& group) {
  const auto communicator = std::exchange(group.messages_of, nullptr);
  std::vector<comm::Transfer> messages = std::exchange(group.messages, {});
  const Status status = communicator->Run(messages);
  messages.clear();
  group.messages = std::move(messages);
  return status;
}

/// Does the same for other calls.
Status RunPlainCalls(OpenCallGroup& group) {
  group.MoveMessages();
  std::vector<comm::GroupedCall> calls = std::exchange(group.calls, {});
  const Status status = comm::RunGroup(calls);
  calls.clear();
  group.calls = std::move(calls);
  return status;
}

Result<bool> RunCalls(OpenCallGroup collected) {
  if (!collected.streamed.empty()) return RunStreamCalls(std::move(collected));
  RINGLET_TRY(CheckAlike(collected));
  return RunNullCalls(std::move(collected));
}

}  // namespace

Result<CommOptions> OptionsOf(const ncclConfig_t* config, const CommOptions& inherited) {
  RINGLET_TRY_ASSIGN(CommOptions options, ReadConfig(config, inherited));
  const std::vector<std::string> notes = WithoutEffect(config);
  if (notes.empty()) return options;
  RINGLET_TRY_ASSIGN(const auto process, CurrentProcess());
  for (const std::string& note : notes) process->logger().NoteOnce(note);
  return options;
}

Result<bool> SubmitInit(InitJob job) {
  os::DetectGpuDriver();
  job.form = Finished(std::move(job.form), job.options);
  if (FindIssued(job.parent)) {
    // Waits for the parent's stream operations: a communicator runs one operation at a time.
    job.form = [form = std::move(job.form), parent = job.parent](
                   const std::stop_token& abort) -> Result<std::unique_ptr<comm::Communicator>> {
      RINGLET_TRY(AwaitIssued(parent));
      return form(abort);
    };
  }
  OpenCallGroup* const group = OpenGroupOfThread();
  if (!job.options.blocking) {
    auto forming = std::make_shared<Forming>(std::move(job.form));
    const ncclComm_t handle = *job.out =
        job.gives_one ? ExportForming(forming, job.options) : nullptr;
    Occupy(job.parent, forming);
    if (!group) {
      BeginForming(*forming);
    } else {
      group->begun.push_back({std::move(forming), handle, job.out});
    }
    return true;
  }
  if (!group) {
    RINGLET_TRY(RunInits({std::move(job)}));
    return false;
  }
  group->inits.push_back(std::move(job));
  return false;
}

Result<bool> SubmitCall(CallJob job) {
  const auto begins = reinterpret_cast<ringletEvent_t>(job.begins);
  RINGLET_TRY(CheckBegin(begins));
  if (stream::IsStream(job.stream)) return SubmitToStream(std::move(job));
  if (job.held.has_issued && job.held.options.blocking) RINGLET_TRY(AwaitIssued(job.handle));
  comm::GroupedCall call{std::move(job.held.communicator), std::move(job.work)};
  if (OpenCallGroup* const group = OpenGroupOfThread()) {
    group->MoveMessages();
    if (begins) group->begins.push_back({group->calls.size(), begins});
    group->calls.push_back(std::move(call));
    if (!job.held.options.blocking) group->unblocked.push_back(job.handle);
    return false;
  }
  RINGLET_TRY(RecordBegin(begins));
  if (!job.held.options.blocking) return BeginCalls({job.handle}, {std::move(call)});
  RINGLET_TRY(call.communicator->Run(call.work));
  return false;
}

Result<bool> SubmitCollective(ncclComm_t handle, const FormedCommunicator& held,
                              const collective::Call& call, cudaStream_t stream,
                              cudaEvent_t begins) {
  const bool at_once = !OpenGroupOfThread() && begins == nullptr && held.options.blocking;
  if (!at_once || stream::IsStream(stream)) [[unlikely]]
    return SubmitCall({handle, held, call, stream, begins});
  if (held.has_issued) RINGLET_TRY(AwaitIssued(handle));
  RINGLET_TRY(held.communicator->Run(call));
  return false;
}

Result<bool> SubmitTransfer(ncclComm_t handle, FormedCommunicator held,
                            const comm::Transfer& transfer, cudaStream_t stream) {
  if (!held.options.blocking || held.has_issued || stream::IsStream(stream)) [[unlikely]]
    return SubmitCall({handle, std::move(held), transfer, stream});
  OpenCallGroup* const group = OpenGroupOfThread();
  if (!group) {
    RINGLET_TRY(held.communicator->Run({&transfer, 1}));
    return false;
  }
  if (!group->TakesMessageOf(held.communicator)) {
    group->MoveMessages();
    group->calls.push_back({std::move(held.communicator), transfer});
    return false;
  }
  group->messages.push_back(transfer);
  if (!group->messages_of) group->messages_of = std::move(held.communicator);
  return false;
}

void StartGroup() {
  OpenCallGroup* const open = OpenGroupOfThread();
  OpenCallGroup& group = open ? *open : groups.Get();
  if (!open) group.fork_guard = {};
  ++group.depth;
}

void MarkGroupFailed(const Error& error) {
  OpenCallGroup* const group = groups.Find();  // OpenGroupOfThread may allocate memory
  const bool collects = group && group->depth > 0 && group->fork_guard.IsHere();
  if (collects && !group->spoiled) group->spoiled = error;
}

Status DropGroup(const Error& why) {
  OpenCallGroup* const group = OpenGroupOfThread();
  if (!group)
    return Error{Code::kUnsupported, "ncclGroupSimulateEnd without ncclGroupStart on this thread"};
  MarkGroupFailed(why);
  if (--group->depth == 0) Withdraw(std::exchange(*group, OpenCallGroup{}));
  return Ok();
}

Result<bool> EndGroup() {
  OpenCallGroup* const group = OpenGroupOfThread();
  if (!group)
    return Error{Code::kUnsupported, "ncclGroupEnd without ncclGroupStart on this thread"};
  if (--group->depth > 0) return false;
  if (group->HasOnlyCalls()) [[likely]] {
    RINGLET_TRY(group->messages_of && group->calls.empty() ? RunMessages(*group)
                                                           : RunPlainCalls(*group));
    return false;
  }
  group->MoveMessages();
  OpenCallGroup collected = std::exchange(*group, OpenCallGroup{});
  const bool forms = !collected.inits.empty() || !collected.begun.empty();
  const bool runs = !collected.calls.empty() || !collected.streamed.empty();
  if (collected.spoiled || (forms && runs)) Withdraw(collected);
  if (collected.spoiled) return *collected.spoiled;
  if (forms && runs)
    return Error{Code::kUnsupported, "a group forms communicators or runs collectives, not both"};
  if (!forms) return RunCalls(std::move(collected));
  for (const OpenCallGroup::Begun& begun : collected.begun) BeginForming(*begun.forming);
  if (!collected.inits.empty()) RINGLET_TRY(RunInits(collected.inits));
  return !collected.begun.empty();
}

}  // namespace ringlet::c_api
