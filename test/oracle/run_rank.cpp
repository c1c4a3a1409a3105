#include "run_rank.hpp"

#include <fmt/format.h>
#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <list>
#include <memory>
#include <system_error>
#include <thread>

#include "dice.hpp"
#include "lanes.hpp"
#include "memory.hpp"
#include "prepared.hpp"
#include "verdicts.hpp"

namespace oracle {

void Must(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  throw Refusal(fmt::format("{} returned {} ({}): {}", what, static_cast<int>(result),
                            ncclGetErrorString(result), ncclGetLastError(nullptr)));
}

namespace {

void Wait(int us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
}

}  // namespace

ncclResult_t Settle(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (true) {
    Must(ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError");
    if (state != ncclInProgress) return state;
    Wait(20);
  }
}

namespace {

/// A rank's part of a communicator's window: its puts, and behind them the puts of another rank.
struct PutWindow {
  std::byte* memory = nullptr;
  bool of_nccl = false;
  ncclWindow_t window = nullptr;

  std::byte* source() const { return memory; }
  std::byte* target() const { return memory + kPutBytesMax; }
};

/// The buffers and streams of one thread for the calls of one rank.
struct Tools {
  Tools(int slot, std::span<std::byte> stack, std::uint64_t seed_)
      : heap(slot, stack), seed(seed_) {}

  Heap heap;
  Lanes lanes;
  std::uint64_t seed;  ///< selects the kinds of streams
};

/// A rank of this thread.
struct Member {
  int world = 0;
  int slot = 0;  ///< number of the rank in its process
  std::map<int, ncclComm_t> comms = {};
  std::map<int, PutWindow> windows = {};
  std::unique_ptr<Tools> tools = {};
  std::map<int, std::unique_ptr<Tools>> apart = {};  ///< by communicator, for its thread
  std::set<int> left = {};                           ///< communicators aborted by it
  std::map<int, std::string> errors = {};            ///< the first error on each communicator
};

/// Runs `body`, and writes the reason of an early end to the page.
/// \return an ExitCode
template <typename Body>
int Guard(const std::string& where, bool may_refuse, Page& page, Body body) {
  const auto refuse = [&](const std::string& why) -> int {
    if (may_refuse) {
      page.Refuse(where + why);
      return kExitRefused;
    }
    page.RecordFailure(where + why);
    return kExitFailed;
  };
  try {
    try {
      body();
      return kExitPassed;
    } catch (const Failure& failure) {
      page.RecordFailure(where + failure.what());
      return kExitFailed;
    } catch (const Refusal& refusal) {
      return refuse(refusal.what());
    } catch (const std::system_error& error) {
      return refuse(fmt::format("no thread for the oracle itself: {}", error.what()));
    }
  } catch (const std::bad_alloc&) {
    page.Refuse("no memory for the oracle's own buffers and texts");
    return kExitRefused;
  }
}

/// The ranks of one thread and their actions.
class Actor {
 public:
  Actor(const Program& program, Page& page, const std::vector<int>& ranks, int first_slot,
        bool may_refuse, std::span<std::byte> stack)
      : program_(program), page_(page), may_refuse_(may_refuse) {
    const std::size_t share = stack.size() / ranks.size();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      Member& member = members_.emplace_back();
      member.world = ranks[i];
      member.slot = first_slot + static_cast<int>(i);
      member.tools = std::make_unique<Tools>(member.slot, stack.subspan(i * share, share / 64 * 64),
                                             StreamSeed(member));
    }
  }

  void Run() {
    for (const Step& step : program_.steps) {
      if (dying_) Pause();
      ++steps_;
      for (const Member& member : members_) PageOf(member).step = steps_;
      Do(step);
      Apply(step, world_);
      if (step.what == What::kAbort) aborters_.insert({step.comm, step.rank});
    }
    Finish();
    for (const Member& member : members_) PageOf(member).state = State::kPassed;
  }

 private:
  struct Part {
    Member* member;
    int rank;  ///< in the communicator
  };

  Page::Rank& PageOf(const Member& member) {
    return page_.ranks[static_cast<std::size_t>(member.world)];
  }

  /// Waits until every living rank has finished all earlier steps, because the next step may end
  /// operations that a slower rank is still in.
  void Meet() {
    for (int rank = 0; rank < program_.ranks(); ++rank) {
      const Page::Rank& its = page_.ranks[static_cast<std::size_t>(rank)];
      while (its.step < steps_ && world_.dead.count(rank) == 0) Await();
    }
  }

  void Do(const Step& step) {
    if (IsFault(step)) Meet();
    switch (step.what) {
      case What::kForm: return Form(step);
      case What::kSplit: return Split(step);
      case What::kShrink: return Shrink(step);
      case What::kGrow: return Grow(step);
      case What::kPut: return Put(step);
      case What::kRun: return RunCalls(step);
      case What::kChild: return ForkChild(step);
      case What::kDestroy: return Destroy(step);
      case What::kKill: return Kill(step);
      case What::kAbort: return Abort(step);
      case What::kRevoke: return Revoke(step);
    }
  }

  /// Returns this thread's ranks of a communicator that still take part.
  std::vector<Part> PartsOf(const std::vector<int>& ranks) {
    std::vector<Part> parts;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      for (Member& member : members_)
        if (member.world == ranks[r]) parts.push_back({&member, static_cast<int>(r)});
    return parts;
  }
  std::vector<Part> PartsOf(int comm) {
    auto parts = PartsOf(world_.members.at(comm));
    std::erase_if(parts, [&](const Part& part) { return part.member->left.count(comm) > 0; });
    return parts;
  }
  bool Nonblocking(int comm) const {
    const auto found = world_.nonblocking.find(comm);
    return found != world_.nonblocking.end() && found->second;
  }

  // Waits a moment for another rank, which may have ended.
  void Await() {
    if (page_.refused == 2 || page_.told == 2) throw Refusal("another rank has ended");
    Wait(20);
  }

  // ---- Communicators ----

  ncclUniqueId IdOf(int comm, int which, bool lead, ncclComm_t parent = nullptr) {
    Page::Id& slot = page_.ids[static_cast<std::size_t>(comm)][static_cast<std::size_t>(which)];
    if (lead && slot.ready == 0) {
      Must(parent ? ncclCommGetUniqueId(parent, &slot.id) : ncclGetUniqueId(&slot.id),
           "ncclGetUniqueId");
      slot.ready = 1;
    }
    while (slot.ready == 0) Await();
    return slot.id;
  }

  /// Calls `begin` for each part, in a group if needed or requested.
  template <typename Begin>
  void ForEach(const std::vector<Part>& parts, bool group, const char* what, Begin begin) {
    if (parts.empty()) return;
    group = group || parts.size() > 1;
    if (group) Must(ncclGroupStart(), "ncclGroupStart");
    for (const Part& part : parts) Tolerate(begin(part), what);
    if (group) Tolerate(ncclGroupEnd(), "ncclGroupEnd");
  }

  // A nonblocking call may still be running; Settle waits for it.
  static void Tolerate(ncclResult_t result, const char* what) {
    if (result != ncclInProgress) Must(result, what);
  }

  void Form(const Step& step) {
    const std::vector<Part> parts = PartsOf(step.ranks);
    if (parts.empty()) return;
    const int n = static_cast<int>(step.ranks.size());
    if (step.all && parts.size() == step.ranks.size()) return FormAll(step, parts);
    const bool lead = parts.front().rank == 0;
    ncclUniqueId ids[kIdsOfComm] = {IdOf(step.comm, 0, lead)};
    if (step.scalable) ids[1] = IdOf(step.comm, 1, lead);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = step.nonblocking ? 0 : 1;
    ForEach(parts, step.depth > 0, "joining", [&](const Part& part) {
      ncclComm_t* comm = &part.member->comms[step.comm];
      if (step.scalable)
        return ncclCommInitRankScalable(comm, n, part.rank, kIdsOfComm, ids, &config);
      if (step.nonblocking) return ncclCommInitRankConfig(comm, n, ids[0], part.rank, &config);
      return ncclCommInitRank(comm, n, ids[0], part.rank);
    });
    CheckFormed(step.comm, parts, n, step.nonblocking);
  }

  void FormAll(const Step& step, const std::vector<Part>& parts) {
    std::vector<ncclComm_t> comms(parts.size());
    Must(ncclCommInitAll(comms.data(), static_cast<int>(parts.size()), nullptr), "ncclCommInitAll");
    for (const Part& part : parts)
      part.member->comms[step.comm] = comms[static_cast<std::size_t>(part.rank)];
    CheckFormed(step.comm, parts, static_cast<int>(parts.size()), false);
  }

  void CheckFormed(int comm, const std::vector<Part>& parts, int n, bool nonblocking) {
    for (const Part& part : parts) {
      const ncclComm_t handle = part.member->comms.at(comm);
      if (!handle) throw Failure(fmt::format("communicator {} is null after success", comm));
      if (nonblocking) Must(Settle(handle), "a non-blocking communicator");
      int count = -1, rank = -1;
      Must(ncclCommCount(handle, &count), "ncclCommCount");
      Must(ncclCommUserRank(handle, &rank), "ncclCommUserRank");
      if (count != n || rank != part.rank)
        throw Failure(fmt::format("communicator {}: rank {} of {} in place of {} of {}", comm, rank,
                                  count, part.rank, n));
      OpenWindow(*part.member, comm);
    }
  }

  /// Checks the communicators of a split or shrink.
  void CheckMade(const Step& step, const std::vector<Part>& parts) {
    if (Nonblocking(step.comm) && !step.broken)
      for (const Part& part : parts)
        Must(Settle(part.member->comms.at(step.comm)), "the parent of a new communicator");
    World next = world_;
    Apply(step, next);
    for (const auto& [comm, ranks] : next.members)
      if (world_.members.count(comm) == 0)
        CheckFormed(comm, PartsOf(ranks), static_cast<int>(ranks.size()), Nonblocking(step.comm));
  }

  void Split(const Step& step) {
    const std::vector<Part> parts = PartsOf(step.comm);
    std::list<ncclComm_t> none;
    ForEach(parts, step.depth > 0, "ncclCommSplit", [&](const Part& part) {
      const auto r = static_cast<std::size_t>(part.rank);
      const int color = step.colors[r];
      ncclComm_t* made = color < 0 ? &none.emplace_back(part.member->comms.at(step.comm))
                                   : &part.member->comms[step.made + color];
      return ncclCommSplit(part.member->comms.at(step.comm), color < 0 ? NCCL_SPLIT_NOCOLOR : color,
                           step.keys[r], made, nullptr);
    });
    CheckMade(step, parts);
    for (const ncclComm_t comm : none)
      if (comm) throw Failure("a split without a color gave a communicator");
  }

  void Shrink(const Step& step) {
    std::vector<Part> parts = PartsOf(step.comm);
    std::erase_if(parts, [&](const Part& part) {
      return std::count(step.ranks.begin(), step.ranks.end(), part.rank) > 0;
    });
    std::vector<int> without = step.ranks;
    ForEach(parts, step.depth > 0, "ncclCommShrink", [&](const Part& part) {
      return ncclCommShrink(part.member->comms.at(step.comm), without.data(),
                            static_cast<int>(without.size()), &part.member->comms[step.made],
                            nullptr, step.broken ? NCCL_SHRINK_ABORT : NCCL_SHRINK_DEFAULT);
    });
    if (!parts.empty()) CheckMade(step, parts);
  }

  void Grow(const Step& step) {
    const std::vector<Part> old = PartsOf(step.comm);
    std::vector<Part> parts = old;
    const int before = static_cast<int>(world_.members.at(step.comm).size());
    for (const Part& part : PartsOf(step.ranks)) parts.push_back({part.member, before + part.rank});
    if (parts.empty()) return;
    const int n = before + static_cast<int>(step.ranks.size());
    const bool lead = parts.front().rank == 0;
    const ncclUniqueId id =
        IdOf(step.made, 0, lead, lead ? parts.front().member->comms.at(step.comm) : nullptr);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = Nonblocking(step.comm) ? 0 : 1;
    ForEach(parts, step.depth > 0, "ncclCommGrow", [&](const Part& part) {
      ncclComm_t* const made = &part.member->comms[step.made];
      if (part.rank >= before) return ncclCommGrow(nullptr, n, &id, part.rank, made, &config);
      // The rank that created the id may pass it or not.
      const ncclUniqueId* const its = part.rank == 0 && step.made % 2 == 0 ? &id : nullptr;
      return ncclCommGrow(part.member->comms.at(step.comm), n, its, -1, made, nullptr);
    });
    CheckMade(step, old);
  }

  /// Returns a byte of the `m`-th put of `rank` in this step.
  std::byte PutByte(int rank, int m, std::size_t at) const {
    const std::uint64_t word = Mix(program_.seed + steps_ * kGolden + at / 8);
    return static_cast<std::byte>((word >> at % 8 * 8) + static_cast<std::uint64_t>(31 * rank + m));
  }

  void Put(const Step& step) {
    const std::vector<Part> parts = PartsOf(step.comm);
    if (parts.empty()) return;
    const int n = static_cast<int>(world_.members.at(step.comm).size());
    const auto bytes = static_cast<std::size_t>(step.bytes);
    const bool group = parts.size() > 1 || step.depth > 0 || Nonblocking(step.comm);
    for (const Part& part : parts)
      for (int m = 0; m < step.repeat; ++m)
        for (std::size_t at = 0; at < bytes; ++at)
          part.member->windows.at(step.comm).source()[static_cast<std::size_t>(m) * bytes + at] =
              PutByte(part.rank, m, at);
    for (const Part& part : parts)
      if (step.streams > 0) part.member->tools->lanes.Use(step.streams, program_.seed);
    const auto on = [&](const Member& member, int m) -> cudaStream_t {
      return step.streams > 0 ? StreamOf(*member.tools, m % step.streams) : nullptr;
    };
    ForEach(parts, group, "ncclPutSignal", [&](const Part& part) {
      const PutWindow& window = part.member->windows.at(step.comm);
      const ncclComm_t comm = part.member->comms.at(step.comm);
      ncclResult_t first = ncclSuccess;
      for (int m = 0; m < step.repeat; ++m)
        Note(first, ncclPutSignal(window.source() + static_cast<std::size_t>(m) * bytes, bytes,
                                  ncclUint8, (part.rank + step.shift) % n, window.window,
                                  kPutBytesMax + static_cast<std::size_t>(m) * bytes, 0, 0, 0, comm,
                                  on(*part.member, m)));
      ncclWaitSignalDesc_t wait = {
          .opCnt = step.repeat, .peer = (part.rank + n - step.shift) % n, .sigIdx = 0, .ctx = 0};
      Note(first, ncclWaitSignal(1, &wait, comm, on(*part.member, step.repeat)));
      return first;
    });
    for (const Part& part : parts) {
      const ncclComm_t comm = part.member->comms.at(step.comm);
      if (Nonblocking(step.comm)) Must(Settle(comm), "a put that does not block");
      if (const std::string failed = part.member->tools->lanes.Synchronize(); !failed.empty())
        throw Refusal("a put on a stream failed: " + failed);
      for (int m = 0; m < step.repeat; ++m)
        CheckPut(step, part, (part.rank + n - step.shift) % n, m);
      ++PageOf(*part.member).calls;
    }
    AwaitReaders(step, parts);
  }

  void CheckPut(const Step& step, const Part& part, int from, int m) {
    const auto bytes = static_cast<std::size_t>(step.bytes);
    const std::byte* const came =
        part.member->windows.at(step.comm).target() + static_cast<std::size_t>(m) * bytes;
    for (std::size_t at = 0; at < bytes; ++at)
      if (came[at] != PutByte(from, m, at))
        throw Failure(
            fmt::format("byte {} of put {} of {} bytes from rank {} to rank {} of "
                        "communicator {} is wrong",
                        at, m, bytes, from, part.rank, step.comm));
  }

  /// A rank puts again only after the others have read the last put.
  void AwaitReaders(const Step& step, const std::vector<Part>& parts) {
    std::vector<int> ones(parts.size(), 1);
    std::size_t next = 0;
    ForEach(parts, false, "an all-reduce after puts", [&](const Part& part) {
      int* const one = &ones[next++];
      return ncclAllReduce(one, one, 1, ncclInt32, ncclSum, part.member->comms.at(step.comm),
                           nullptr);
    });
    for (const Part& part : parts)
      if (Nonblocking(step.comm))
        Must(Settle(part.member->comms.at(step.comm)), "an all-reduce after puts");
  }

  /// Opens the first window of a communicator on each of its ranks, and so the same one.
  void OpenWindow(Member& member, int comm) {
    constexpr std::size_t kBytes = 2 * static_cast<std::size_t>(kPutBytesMax);
    PutWindow& window = member.windows[comm];
    window.of_nccl = (program_.seed + static_cast<std::uint64_t>(comm + member.world)) % 2 == 0;
    void* memory = nullptr;
    if (window.of_nccl) {
      Must(ncclMemAlloc(&memory, kBytes), "ncclMemAlloc for a window");
    } else if (!(memory = std::aligned_alloc(NCCL_WIN_REQUIRED_ALIGNMENT, kBytes))) {
      throw std::bad_alloc();
    }
    window.memory = static_cast<std::byte*>(memory);
    Must(ncclCommWindowRegister(member.comms.at(comm), memory, kBytes, &window.window,
                                NCCL_WIN_COLL_SYMMETRIC),
         "ncclCommWindowRegister of a window for puts");
  }

  /// Call it before `comm` of this rank ends.
  static void ForgetBuffers(Member& member, int comm, bool deregister) {
    member.tools->heap.Forget(member.comms.at(comm), deregister);
    if (const auto found = member.apart.find(comm); found != member.apart.end())
      found->second->heap.Forget(member.comms.at(comm), deregister);
  }

  /// Forgets a destroyed or aborted communicator.
  static void Drop(Member& member, int comm) {
    member.comms.erase(comm);
    member.apart.erase(comm);
    const auto found = member.windows.find(comm);
    if (found == member.windows.end()) return;
    if (found->second.of_nccl)
      Must(ncclMemFree(found->second.memory), "ncclMemFree of a window");
    else
      std::free(found->second.memory);
    member.windows.erase(found);
  }

  void Destroy(const Step& step) { End(step.comm, step.finalize, step.depth > 0, step.made % 2); }

  void End(int comm, bool finalize, bool group, bool deregister) {
    const std::vector<Part> parts = PartsOf(comm);
    for (const Part& part : parts) {
      ForgetBuffers(*part.member, comm, deregister);
      if (deregister)
        Must(ncclCommWindowDeregister(part.member->comms.at(comm),
                                      part.member->windows.at(comm).window),
             "ncclCommWindowDeregister of a window for puts");
    }
    if (finalize) {
      ForEach(parts, group, "ncclCommFinalize",
              [&](const Part& part) { return ncclCommFinalize(part.member->comms.at(comm)); });
      if (Nonblocking(comm))
        for (const Part& part : parts) Must(Settle(part.member->comms.at(comm)), "finalizing");
    }
    ForEach(parts, group, "ncclCommDestroy",
            [&](const Part& part) { return ncclCommDestroy(part.member->comms.at(comm)); });
    for (const Part& part : parts) Drop(*part.member, comm);
  }

  // ---- Faults ----

  void Kill(const Step& step) {
    for (const Member& member : members_) {
      if (member.world != step.rank) continue;
      if (step.us == 0) kill(getpid(), SIGKILL);
      std::thread([us = step.us] {
        Wait(us);
        kill(getpid(), SIGKILL);
      }).detach();
      kills_ = true;
    }
  }

  [[noreturn]] static void Pause() {
    while (true) pause();
  }

  void Abort(const Step& step) {
    for (const Part& part : PartsOf(step.comm)) {
      if (part.member->world != step.rank) continue;
      const ncclComm_t comm = part.member->comms.at(step.comm);
      ForgetBuffers(*part.member, step.comm, false);
      GiveUp(step, part, [&] { Must(ncclCommAbort(comm), "ncclCommAbort"); });
      Drop(*part.member, step.comm);
      part.member->left.insert(step.comm);
    }
  }

  /// Calls `gives_up` while streams have the step's calls, which other ranks do not make.
  template <typename GivesUp>
  void GiveUp(const Step& step, const Part& part, GivesUp gives_up) {
    if (step.streams == 0) return gives_up();
    Member& member = *part.member;
    Tools& tools = *member.tools;
    const int n = static_cast<int>(world_.members.at(step.comm).size());
    std::list<Issued> issued;
    Gate gate;  // blocks until the streams have passed it
    tools.lanes.Use(step.streams, tools.seed);
    for (int i = 0; i < step.streams; ++i) gate.Hold(tools.lanes[i]);
    if (step.launches > 0) tools.lanes.BeginCapture();
    for (const Call& call : step.calls) {
      issued.push_back(
          {Prepared(program_.seed, call, n, part.rank, member.comms.at(step.comm), tools.heap),
           &member, &tools});
      const ncclResult_t result = IssueToStream(issued.back(), false);
      if (result != ncclInProgress) Must(result, "a call on a stream");
    }
    if (step.launches > 0) tools.lanes.EndCaptureAndLaunch(step.launches);
    if (step.us > 0) {
      gate.Open();
      Wait(step.us);
    }
    gives_up();
    gate.Open();
    // A failure due to this communicator does not block its streams.
    if (const std::string failed = tools.lanes.Synchronize(); !failed.empty())
      throw Failure(fmt::format("streams of a communicator that was given up fail: {}", failed));
    for (const Issued& one : issued) Look(one, false);
    tools.heap.Release();
  }

  void Revoke(const Step& step) {
    for (const Part& part : PartsOf(step.comm))
      if (part.member->world == step.rank)
        GiveUp(step, part, [&] {
          Must(ncclCommRevoke(part.member->comms.at(step.comm), NCCL_REVOKE_DEFAULT),
               "ncclCommRevoke");
        });
  }

  /// Returns the rank numbers in `comm` of killed or aborting ranks.
  std::vector<int> LostOf(int comm) const {
    std::vector<int> lost;
    const std::vector<int>& ranks = world_.members.at(comm);
    for (std::size_t r = 0; r < ranks.size(); ++r)
      if (world_.dead.count(ranks[r]) || aborters_.count({comm, ranks[r]}))
        lost.push_back(static_cast<int>(r));
    return lost;
  }

  static bool Names(const std::string& text, int rank) {
    const std::string name = fmt::format("rank {}", rank);
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const std::size_t next = at + name.size();
      if (next == text.size() || !std::isdigit(static_cast<unsigned char>(text[next]))) return true;
    }
    return false;
  }

  // ---- Calls ----

  struct Issued {
    Prepared prepared;
    Member* member;
    Tools* tools;
  };

  /// The kinds of streams are those of the rank, in every step.
  std::uint64_t StreamSeed(const Member& member) const {
    return program_.seed + static_cast<std::uint64_t>(member.world);
  }

  void RunCalls(const Step& step) {
    if (kills_) dying_ = true;  // after this step
    if (step.apart) return RunApart(step);
    Run(step, step.calls, [](Member& member, int) { return member.tools.get(); });
    for (Member& member : members_) member.tools->heap.Release();
  }

  /// Runs the calls of each communicator, on a thread of its own.
  void RunApart(const Step& step) {
    std::map<int, std::vector<Call>> calls;
    for (const Call& call : step.calls) {
      const std::vector<Part> parts = PartsOf(call.comm);
      if (!parts.empty()) calls[call.comm].push_back(call);
      for (const Part& part : parts) MakeToolsApart(*part.member, call.comm);
    }
    const auto run = [&](const std::vector<Call>& its, const std::string& where) {
      const auto tools = [](Member& member, int of) { return member.apart.at(of).get(); };
      const int code = Guard(where, may_refuse_, page_, [&] { Run(step, its, tools); });
      if (code != kExitPassed) _exit(code);  // the other threads of this process would wait in vain
    };
    std::vector<std::thread> threads;
    const int code = Guard("", may_refuse_, page_, [&] {
      for (const auto& [comm, its] : calls)
        threads.emplace_back(run, std::cref(its),
                             fmt::format("world rank {}, the thread of communicator {}: ",
                                         members_.front().world, comm));
    });
    if (code != kExitPassed) _exit(code);
    for (std::thread& thread : threads) thread.join();
    for (Member& member : members_)
      for (const auto& [comm, tools] : member.apart) tools->heap.Release();
  }

  void MakeToolsApart(Member& member, int comm) {
    // Other processes use the same slots for this communicator, so addresses are equal.
    constexpr int kSlots = 8;
    std::unique_ptr<Tools>& tools = member.apart[comm];
    if (!tools)
      tools = std::make_unique<Tools>(member.slot + kSlots * (1 + comm), std::span<std::byte>{},
                                      StreamSeed(member));
  }

  /// \param tools_of  the tools of a rank of this thread for a communicator
  template <typename ToolsOf>
  void Run(const Step& step, const std::vector<Call>& calls, ToolsOf tools_of) {
    std::list<Issued> issued;
    for (const Call& call : calls) {
      const int n = static_cast<int>(world_.members.at(call.comm).size());
      for (const Part& part : PartsOf(call.comm)) {
        Tools* const tools = tools_of(*part.member, call.comm);
        issued.push_back({Prepared(program_.seed, call, n, part.rank,
                                   part.member->comms.at(call.comm), tools->heap),
                          part.member, tools});
      }
    }
    for (const Member& member : members_)
      if (member.world == step.rank) Wait(step.us);
    if (step.streams > 0 && !step.simulate) {
      RunOnStreams(step, issued);
    } else if (step.depth > 0) {
      IssueGroup(step, issued);
    } else {
      for (auto first = issued.begin(); first != issued.end();) first = IssueOne(first, issued);
    }
  }

  /// The child has all open resources of the rank. It ends with the process that starts the ranks.
  void ForkChild(const Step& step) {
    for (const Member& member : members_) {
      if (member.world != step.rank) continue;
      const pid_t leader = getpgrp();
      const pid_t child = fork();
      while (child == 0 && (kill(leader, 0) == 0 || errno == EPERM)) Wait(200'000);
      if (child == 0) _exit(0);
      if (child < 0) throw Refusal("no process for a child of a rank");
    }
  }

  /// Makes a call of this thread's ranks by itself; returns the next one.
  std::list<Issued>::iterator IssueOne(std::list<Issued>::iterator first,
                                       std::list<Issued>& issued) {
    auto end = first;
    std::vector<Issued*> same;
    const std::uint32_t id = first->prepared.call().id;
    while (end != issued.end() && end->prepared.call().id == id) same.push_back(&*end++);
    const bool group = same.size() > 1;
    if (group) Must(ncclGroupStart(), "ncclGroupStart");
    ncclResult_t result = ncclSuccess;
    for (Issued* one : same) Note(result, one->prepared.Issue(group));
    if (group) {
      for (Issued* one : same) one->prepared.BeforeEnd();
      Note(result, ncclGroupEnd());
    }
    Conclude(result, same);
    return end;
  }

  void IssueGroup(const Step& step, std::list<Issued>& issued) {
    std::vector<Issued*> order;
    for (Issued& one : issued) order.push_back(&one);
    if (step.shuffled) Shuffle(order);
    for (int d = 0; d < step.depth; ++d) Must(ncclGroupStart(), "ncclGroupStart");
    ncclResult_t result = ncclSuccess;
    for (Issued* one : order) Note(result, one->prepared.Issue(true));
    for (Issued* one : order) one->prepared.BeforeEnd();
    for (int d = 1; d < step.depth; ++d) Note(result, ncclGroupEnd());
    if (step.simulate) return Simulate(result, order);
    Note(result, ncclGroupEnd());
    Conclude(result, order);
  }

  /// Chooses for this thread's ranks, each by itself.
  std::uint64_t Choice(const Issued& one, std::uint64_t which) const {
    return Mix(program_.seed + one.prepared.call().id * kGolden) ^
           Mix(static_cast<std::uint64_t>(one.member->world) * 8 + which);
  }

  static cudaStream_t StreamOf(const Tools& tools, int lane) {
    return reinterpret_cast<cudaStream_t>(tools.lanes[lane]);
  }

  ncclResult_t IssueToStream(Issued& one, bool grouped) {
    const Lanes& lanes = one.tools->lanes;
    const auto count = static_cast<std::uint64_t>(lanes.count());
    const auto lane = static_cast<int>(Choice(one, 1) % count);
    if (Choice(one, 2) % 2 == 0) lanes.Order(static_cast<int>(Choice(one, 3) % count), lane);
    one.prepared.On(StreamOf(*one.tools, lane));
    return one.prepared.Issue(grouped);
  }

  /// Issues all calls before the first can begin, then waits for them together. A call on the null
  /// stream waits for earlier calls. With such calls in a step, the gate opens when the group ends,
  /// or does not block the streams at all.
  void RunOnStreams(const Step& step, std::list<Issued>& issued) {
    const bool grouped = step.depth > 0;
    Gate gate;
    std::jthread opener;
    std::vector<Issued*> order;
    std::vector<Tools*> tools;  // of this thread's ranks with a part
    for (Issued& one : issued) {
      order.push_back(&one);
      if (std::count(tools.begin(), tools.end(), one.tools) == 0) tools.push_back(one.tools);
    }
    if (step.shuffled && grouped) Shuffle(order);
    if (step.null_too && !grouped) {
      gate.Open();
      for (Issued* one : order) one->prepared.BeforeEnd();
    }
    for (Tools* its : tools) {
      its->lanes.Use(step.streams, its->seed);
      for (int i = 0; i < step.streams; ++i) gate.Hold(its->lanes[i]);
      if (step.launches > 0) its->lanes.BeginCapture();
    }
    ncclResult_t result = ncclSuccess;
    for (int d = 0; d < step.depth; ++d) Must(ncclGroupStart(), "ncclGroupStart");
    Note(result, IssueMixed(step, order));
    if (step.null_too && grouped) {
      for (Issued* one : order) one->prepared.BeforeEnd();
      opener = std::jthread([&gate, us = static_cast<int>(Mix(program_.seed + steps_) % 300)] {
        Wait(us);
        gate.Open();
      });
    }
    for (int d = 0; d < step.depth; ++d) Note(result, ncclGroupEnd());
    for (Issued* one : order) one->prepared.BeforeEnd();
    FinishStreams(step, tools, gate, result, order);
  }

  /// Without a surrounding group, calls on the null stream return when they are complete. Then this
  /// thread's ranks make each call in a group.
  ncclResult_t IssueMixed(const Step& step, const std::vector<Issued*>& order) {
    ncclResult_t result = ncclSuccess;
    for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
      end = first + 1;
      if (step.null_too && step.depth == 0)
        while (end < order.size() &&
               order[end]->prepared.call().id == order[first]->prepared.call().id)
          ++end;
      const bool own_group = end - first > 1;
      const bool grouped = own_group || step.depth > 0;
      if (own_group) Must(ncclGroupStart(), "ncclGroupStart");
      for (std::size_t i = first; i < end; ++i) {
        Issued& one = *order[i];
        const bool null = step.null_too && Choice(one, 4) % 2 == 0;
        Note(result, null ? one.prepared.Issue(grouped) : IssueToStream(one, grouped));
      }
      if (own_group) Note(result, ncclGroupEnd());
    }
    return result;
  }

  void FinishStreams(const Step& step, const std::vector<Tools*>& tools, Gate& gate,
                     ncclResult_t result, const std::vector<Issued*>& order) {
    // An in-place output on any rank would be another input the next time.
    const bool once = std::any_of(step.calls.begin(), step.calls.end(),
                                  [](const Call& call) { return call.in_place; });
    if (step.launches > 0)
      for (Tools* its : tools) its->lanes.EndCaptureAndLaunch(once ? 1 : step.launches);
    gate.Open();
    std::string failed;
    for (Tools* its : tools) {
      const std::string sentence = its->lanes.Synchronize();
      if (failed.empty()) failed = sentence;
    }
    if (!failed.empty()) Note(result, ncclRemoteError);
    Conclude(result, order, failed);
  }

  /// Orders communicators by this rank's choice; the calls of each keep their order.
  void Shuffle(std::vector<Issued*>& order) const {
    const auto key = [&](const Issued* one) {
      return Mix(
          static_cast<std::uint64_t>(one->prepared.call().comm * 64 + members_.front().world + 1) *
          kGolden);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](const Issued* a, const Issued* b) { return key(a) < key(b); });
  }

  void Simulate(ncclResult_t result, const std::vector<Issued*>& calls) {
    ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
    Note(result, ncclGroupSimulateEnd(&info));
    if (result != ncclInvalidUsage) Must(result, "a simulated group");
    for (const Issued* one : calls)
      if (const auto wrong = one->prepared.Check(false))
        throw Failure(
            fmt::format("{} was only simulated: {}", ToText(one->prepared.call()), *wrong));
  }

  static void Note(ncclResult_t& first, ncclResult_t next) {
    if (first == ncclSuccess || (first == ncclInProgress && next != ncclSuccess)) first = next;
  }

  /// Checks the results of calls that have all returned.
  /// \param failed  the message of their streams, if those have failed
  void Conclude(ncclResult_t result, const std::vector<Issued*>& calls,
                const std::string& failed = "") {
    bool doomed = false;
    for (const Issued* one : calls) {
      const Call& call = one->prepared.call();
      doomed = doomed || call.odd != Odd::kNone || world_.doomed.count(call.comm) > 0;
      if (result != ncclInProgress) continue;
      const ncclResult_t state = Settle(one->prepared.comm());
      if (state != ncclSuccess) result = state;
    }
    if (result == ncclInProgress) result = ncclSuccess;
    if (!doomed && !failed.empty()) throw Refusal("a stream failed: " + failed);
    if (!doomed) Must(result, calls.empty() ? "a group without calls" : "a group or call");
    const std::string sentence = result == ncclSuccess ? ""
                                 : failed.empty()      ? ncclGetLastError(nullptr)
                                                       : failed;
    for (const Issued* one : calls) {
      const int comm = one->prepared.call().comm;
      if (result != ncclSuccess) one->member->errors.try_emplace(comm, sentence);
      const bool right = result == ncclSuccess && !one->prepared.odd();
      Look(*one, right);
    }
    if (doomed && !calls.empty()) ++doomed_runs_[calls.front()->prepared.call().comm];
  }

  void Look(const Issued& one, bool succeeded) {
    const Call& call = one.prepared.call();
    if (const auto wrong = one.prepared.Check(succeeded))
      throw Failure(fmt::format("{}, rank {}: {}", ToText(call), one.prepared.self(), *wrong));
    ++PageOf(*one.member).calls;
    if (!succeeded || call.kind != Kind::kAllReduce || !IsFloat(call.type)) return;
    if (call.odd != Odd::kNone || call.id >= kCallsMax || call.op == Op::kMax ||
        call.op == Op::kMin || call.values == Values::kSpecial)
      return;
    const std::uint64_t mine = one.prepared.Digest();
    std::uint64_t others = 0;
    if (!page_.digests[call.id].compare_exchange_strong(others, mine) && others != mine)
      throw Failure(fmt::format("{}: rank {} has other bits than another rank", ToText(call),
                                one.prepared.self()));
  }

  // ---- The end ----

  void Finish() {
    if (dying_ || kills_) Pause();
    for (const int comm : world_.doomed) CheckReportsLoss(comm);
    std::vector<int> alive;
    for (const auto& [comm, ranks] : world_.members) alive.push_back(comm);
    for (const int comm : alive) {
      if (world_.doomed.count(comm)) {
        AbortAll(comm);
      } else {
        End(comm, false, false, program_.seed % 2);
      }
    }
  }

  void AbortAll(int comm) {
    for (const Part& part : PartsOf(comm)) {
      ForgetBuffers(*part.member, comm, false);
      Must(ncclCommAbort(part.member->comms.at(comm)), "ncclCommAbort");
      Drop(*part.member, comm);
    }
  }

  /// Checks that every remaining rank knows of the broken `comm`, and of the cause.
  void CheckReportsLoss(int comm) {
    const auto found = world_.members.find(comm);
    if (found == world_.members.end()) return;
    const std::vector<int> lost = LostOf(comm);
    if (doomed_runs_[comm] < 2) return;  // the first one may end before the fault takes effect
    for (const Part& part : PartsOf(comm)) {
      const auto error = part.member->errors.find(comm);
      if (error == part.member->errors.end())
        throw Failure(fmt::format("rank {} of communicator {} saw no error although it is broken",
                                  part.rank, comm));
      if (!lost.empty() && std::none_of(lost.begin(), lost.end(),
                                        [&](int rank) { return Names(error->second, rank); }))
        throw Failure(fmt::format("rank {} of communicator {} is not told that rank {} is lost: {}",
                                  part.rank, comm, lost.front(), error->second));
    }
  }

  const Program& program_;
  Page& page_;
  bool may_refuse_;
  std::list<Member> members_;
  World world_;
  std::uint32_t steps_ = 0;
  bool kills_ = false;  ///< this process is about to die
  bool dying_ = false;  ///< it does not take part any more
  std::map<int, int> doomed_runs_;
  std::set<std::pair<int, int>> aborters_;  ///< communicator and world rank
};

int RunThread(const Program& program, const std::vector<int>& ranks, int first_slot,
              bool may_refuse, Page& page) {
  alignas(64) std::byte stack[Heap::kStackBytes];
  return Guard(fmt::format("world rank {}: ", ranks.front()), may_refuse, page,
               [&] { Actor(program, page, ranks, first_slot, may_refuse, stack).Run(); });
}

}  // namespace

int RunProcess(const Program& program, int process, bool may_refuse, Page& page) {
  std::map<int, std::vector<int>> threads;
  for (int rank = 0; rank < program.ranks(); ++rank) {
    const Place& place = program.places[static_cast<std::size_t>(rank)];
    if (place.process == process) threads[place.thread].push_back(rank);
  }
  const auto run = [&](const std::vector<int>& ranks, int slot) {
    const int code = RunThread(program, ranks, slot, may_refuse, page);
    if (code != kExitPassed) _exit(code);  // the others of this process would wait for it in vain
  };
  std::vector<std::thread> running;
  int slot = 0;
  const auto first = threads.begin();
  for (auto thread = first; thread != threads.end(); ++thread) {
    const int code = Guard("", may_refuse, page, [&] {
      if (thread != first) running.emplace_back(run, thread->second, slot);
    });
    if (code != kExitPassed) _exit(code);
    slot += static_cast<int>(thread->second.size());
  }
  if (first != threads.end()) run(first->second, 0);
  for (std::thread& thread : running) thread.join();
  return kExitPassed;
}

void UseLibrary() {
  ncclComm_t comms[2] = {};
  Must(ncclCommInitAll(comms, 2, nullptr), "ncclCommInitAll before the fork");
  int in[2] = {1, 2}, out[2] = {};
  Must(ncclGroupStart(), "ncclGroupStart before the fork");
  for (int r = 0; r < 2; ++r)
    Must(ncclAllReduce(&in[r], &out[r], 1, ncclInt32, ncclSum, comms[r], nullptr),
         "ncclAllReduce before the fork");
  Must(ncclGroupEnd(), "ncclGroupEnd before the fork");
  if (out[0] != 3 || out[1] != 3) throw Failure("the all-reduce before the fork is wrong");
  // Also on a stream, with a worker that the child will not have.
  ringletStream_t stream = nullptr;
  MustStream(ringletStreamCreate(&stream, 0, 0, 0), "ringletStreamCreate before the fork");
  Must(ncclGroupStart(), "ncclGroupStart before the fork");
  for (int r = 0; r < 2; ++r)
    Must(ncclAllReduce(&in[r], &out[r], 1, ncclInt32, ncclSum, comms[r],
                       reinterpret_cast<cudaStream_t>(stream)),
         "ncclAllReduce on a stream before the fork");
  Must(ncclGroupEnd(), "ncclGroupEnd before the fork");
  MustStream(ringletStreamSynchronize(stream), "ringletStreamSynchronize before the fork");
  void* memory = nullptr;  // stays, as in a program
  Must(ncclMemAlloc(&memory, 1 << 16), "ncclMemAlloc before the fork");
  for (const ncclComm_t comm : comms)
    Must(ncclCommDestroy(comm), "ncclCommDestroy before the fork");
}

}  // namespace oracle
