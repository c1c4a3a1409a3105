// One rank for fault tests: a process that reports its progress on standard output.
//
//   fault_rank id                     makes an id and hosts its root until standard input ends
//                                     -> ID text, ADDRESS host:port (each), WAITING
//   fault_rank spoil ID               the same id with another secret           -> ID text
//   fault_rank reroute ID ADDRESS     the same id with another root             -> ID text
//   fault_rank storm MICROSECONDS ... the rest as usual, with a signal at this interval, whose
//                                     handler restarts no call   -> SIGNALS number, at the end
//   fault_rank many ID RANK SIZE COUNT ALIVE
//       forms COUNT communicators one after the other, each with an id of its own, reduces on each
//       and holds the last ALIVE of them     -> HOLDING descriptors, LEFT the remaining resources,
//       DONE
//   fault_rank join ID RANK SIZE [OPERATIONS [COUNT [KIND [registered]]]]
//       forms the communicator, reduces (or runs KIND, as all_gather; send_receive: in a ring)
//       between buffers of its own or in memory that it registers, leaves
//                                               -> JOINED links, OP 1, OP 2, OP 3, DONE, GONE
//       or, if a call fails                     -> ERROR code: message, GONE
//       and then waits until standard input ends
//   fault_rank hang ID RANK SIZE KIND FAULT [COUNT]
//       forms the communicator, calls KIND kCallsBefore times and then once more with a fault:
//       none, skip (does not call it), count (calls it with one element more), stop (stops itself
//       before it), loop (computes for ever in place of it), slow (sends slowly from then on), late
//       (calls it when standard input ends), swap (calls it on another communicator first, which
//       ranks with "order" have as well). half:FAULT: the call is that of a communicator that the
//       rank's half of all ranks splits off       -> JOINED links, AT FAULT, then as join
//
//   fault_rank reform ID RANK SIZE [COUNT]
//       forms the communicator and sums again and again; reforms it after each failure
//                                               -> JOINED links, REFORMED size microseconds, or
//                                                  ERROR as above; the time is from the failure to
//                                                  the first right sum
//
// Settings are from the environment, as for all ranks. Exits with 0 unless there was an error.
#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "base/value/text.hpp"
#include "comm/establish/establish.hpp"
#include "comm/establish/split.hpp"
#include "comm/run/calls.hpp"
#include "os/process/env.hpp"
#include "rendezvous/invitation.hpp"

namespace ringlet {
namespace {

constexpr std::uint64_t kOperationsShown = 3;

std::atomic<std::uint64_t> signals_seen{0};

void Say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void AwaitEndOfInput() {
  char byte = 0;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got == 0 || (got < 0 && errno != EINTR)) return;
  }
}

Status HostId() {
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::Start(os::ReadEnvironment()));
  RINGLET_TRY_ASSIGN(const UniqueId id, comm::CreateUniqueId(process));
  RINGLET_TRY_ASSIGN(const auto invitation, rendezvous::Decode(id));
  Say("ID " + rendezvous::ToText(id));
  for (const Address& root : invitation.roots) Say("ADDRESS " + ToString(root));
  Say("WAITING");
  AwaitEndOfInput();
  return Ok();
}

Status Spoil(const std::string& text) {
  RINGLET_TRY_ASSIGN(const UniqueId id, rendezvous::FromText(text));
  RINGLET_TRY_ASSIGN(auto invitation, rendezvous::Decode(id));
  invitation.credentials.secret[0] ^= std::byte{1};
  RINGLET_TRY_ASSIGN(const UniqueId spoilt, rendezvous::Encode(invitation));
  Say("ID " + rendezvous::ToText(spoilt));
  return Ok();
}

Status Reroute(const std::string& text, const std::string& address) {
  RINGLET_TRY_ASSIGN(const UniqueId id, rendezvous::FromText(text));
  RINGLET_TRY_ASSIGN(auto invitation, rendezvous::Decode(id));
  RINGLET_TRY_ASSIGN(const Address root, ParseAddress(address));
  invitation.roots = {root};
  RINGLET_TRY_ASSIGN(const UniqueId rerouted, rendezvous::Encode(invitation));
  Say("ID " + rendezvous::ToText(rerouted));
  return Ok();
}

struct Part {
  std::string id;
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint64_t operations = 0;
  std::uint64_t count = 0;
  comm::CallKind kind = comm::CallKind::kAllReduce;
  bool registered = false;
};

/// The buffers of a rank.
struct Buffers {
  std::vector<float> own;
  std::span<float> all;  // `own`, or registered
};

/// Ranks take turns as root, so that no rank only sends.
collective::Call CallOf(const comm::Communicator& communicator, const Part& part,
                        std::uint64_t operation, Buffers& buffers) {
  collective::Call call{.kind = part.kind,
                        .count = part.count,
                        .op = ReduceOp::kMax,
                        .root = Rank{static_cast<std::uint32_t>(operation % part.size)}};
  if (part.kind == comm::CallKind::kBarrier) return call;
  const std::size_t in = InputCount(call, communicator.place()),
                    out = OutputCount(call, communicator.place());
  if (buffers.all.size() < in + out) {
    buffers.own.resize(in + out, static_cast<float>(part.rank));
    buffers.all = buffers.own;
  }
  call.input = std::as_bytes(buffers.all.first(in));
  call.output = std::as_writable_bytes(buffers.all.subspan(in, out));
  return call;
}

/// Sends to the next rank, and receives from the previous one.
Status PassOn(comm::Communicator& communicator, const Part& part, Buffers& buffers) {
  if (buffers.all.size() < 2 * part.count) {
    buffers.own.resize(2 * part.count);
    buffers.all = buffers.own;
  }
  const std::span<float> sent = buffers.all.first(part.count);
  const std::span<float> received = buffers.all.subspan(part.count, part.count);
  const std::array<comm::Transfer, 2> both = {
      comm::Transfer{.peer = Rank{(part.rank + 1) % part.size},
                     .sends = true,
                     .from = std::as_bytes(sent),
                     .count = part.count},
      comm::Transfer{.peer = Rank{(part.rank + part.size - 1) % part.size},
                     .to = std::as_writable_bytes(received),
                     .count = part.count}};
  return communicator.Run(both);
}

Status Operate(comm::Communicator& communicator, const Part& part, Buffers& buffers) {
  for (std::uint64_t operation = 1; operation <= part.operations; ++operation) {
    RINGLET_TRY(part.kind == comm::CallKind::kSendReceive
                    ? PassOn(communicator, part, buffers)
                    : communicator.Run(CallOf(communicator, part, operation, buffers)));
    if (operation <= kOperationsShown) Say(fmt::format("OP {}", operation));
  }
  Say("DONE");
  return Ok();
}

Status TakePart(const std::shared_ptr<comm::Process>& process, const Part& part) {
  RINGLET_TRY_ASSIGN(const UniqueId id, rendezvous::FromText(part.id));
  const comm::Config config{.id = id,
                            .rank = part.rank,
                            .size = part.size,
                            .device = part.rank,
                            .init_timeout = {},
                            .timeout = {}};
  RINGLET_TRY_ASSIGN(auto communicator, comm::Establish(process, config, {}));
  Say("JOINED " +
      (communicator->host_memory().IsHere() ? "memory" : communicator->links().Summary()));
  Buffers buffers;
  if (part.registered) {
    const std::size_t bytes = 2 * part.size * part.count * sizeof(float);
    RINGLET_TRY_ASSIGN(std::byte* const memory, process->heap().Allocate(bytes));
    RINGLET_TRY(communicator->one_sided().Register({memory, bytes}));
    buffers.all = {reinterpret_cast<float*>(memory), bytes / sizeof(float)};
  }
  const Status status = Operate(*communicator, part, buffers);
  communicator.reset();
  if (part.registered) {
    RINGLET_TRY(process->heap().Free(buffers.all.data()));
  }
  return status;
}

Status Join(const std::vector<std::string>& words) {
  const auto number = [&](std::size_t i, std::uint64_t otherwise) {
    return i < words.size() ? ParseDecimal(words[i]).value_or(otherwise) : otherwise;
  };
  const Part part{.id = words[1],
                  .rank = static_cast<std::uint32_t>(number(2, 0)),
                  .size = static_cast<std::uint32_t>(number(3, 0)),
                  .operations = number(4, 0),
                  .count = number(5, 1024),
                  .kind = collective::CallKindNamed(words.size() > 6 ? words[6] : "all_reduce")
                              .value_or(comm::CallKind::kAllReduce),
                  .registered = words.size() > 7 && words[7] == "registered"};
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::Start(os::ReadEnvironment()));
  const Status status = TakePart(process, part);
  if (!status.ok())
    Say(fmt::format("ERROR {}: {}", CodeName(status.error().code), status.error().message));
  if (signals_seen > 0) Say(fmt::format("SIGNALS {}", signals_seen.load()));
  Say("GONE");
  AwaitEndOfInput();
  return status;
}

// ---- hangs ------------------------------------------------------------------------------------

constexpr std::uint64_t kCallsBefore = 5;

/// Emulates a slow NIC: limits the send rate of this process's connections.
void SendSlowly() {
  constexpr unsigned kBytesPerSecond = 20'000;
  const std::filesystem::directory_iterator descriptors("/proc/self/fd"), end;
  for (auto at = descriptors; at != end; ++at)
    if (const auto fd = ParseDecimal(at->path().filename().string()))
      ::setsockopt(static_cast<int>(*fd), SOL_SOCKET, SO_MAX_PACING_RATE, &kBytesPerSecond,
                   sizeof kBytesPerSecond);  // another descriptor refuses it
}

/// Applies the fault of this rank. Returns false if the rank does not call the operation.
bool Err(const std::string& fault, Part& part) {
  if (fault == "skip") return false;
  if (fault == "count") ++part.count;
  if (fault == "stop") ::raise(SIGSTOP);
  if (fault == "slow") SendSlowly();
  if (fault == "late") AwaitEndOfInput();
  while (fault == "loop") signals_seen.load();
  return true;
}

Status HangIn(comm::Communicator& communicator, Part part, const std::string& fault) {
  Buffers buffers;
  const auto call = [&] {
    return part.kind == comm::CallKind::kSendReceive
               ? PassOn(communicator, part, buffers)
               : communicator.Run(CallOf(communicator, part, 1, buffers));
  };
  for (std::uint64_t i = 0; i < kCallsBefore; ++i) RINGLET_TRY(call());
  std::unique_ptr<comm::Communicator> other;
  if (fault == "order" || fault == "swap") {
    RINGLET_TRY_ASSIGN(other,
                       comm::Split(communicator, 0, static_cast<std::int32_t>(part.rank), {}));
  }
  Say("AT FAULT");
  if (fault == "swap") RINGLET_TRY(other->Run(CallOf(*other, part, 1, buffers)));
  if (!Err(fault, part)) {
    AwaitEndOfInput();
    return Ok();
  }
  RINGLET_TRY(call());
  Say("DONE");
  return Ok();
}

/// Calls in a communicator of the ranks of this rank's half.
Status HangInHalf(comm::Communicator& communicator, Part part, const std::string& fault) {
  const std::int32_t half = part.rank < part.size / 2 ? 0 : 1;
  RINGLET_TRY_ASSIGN(const auto child, comm::Split(communicator, half, 0, {}));
  part.rank = Index(child->identity().rank);
  part.size = child->identity().size;
  return HangIn(*child, part, fault);
}

Status Hang(const std::vector<std::string>& words) {
  const Part part{.id = words[1],
                  .rank = static_cast<std::uint32_t>(ParseDecimal(words[2]).value_or(0)),
                  .size = static_cast<std::uint32_t>(ParseDecimal(words[3]).value_or(0)),
                  .count = words.size() > 6 ? ParseDecimal(words[6]).value_or(8) : 8,
                  .kind = collective::CallKindNamed(words[4]).value_or(comm::CallKind::kBarrier)};
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::Start(os::ReadEnvironment()));
  RINGLET_TRY_ASSIGN(const UniqueId id, rendezvous::FromText(part.id));
  const comm::Config config{.id = id,
                            .rank = part.rank,
                            .size = part.size,
                            .device = part.rank,
                            .init_timeout = {},
                            .timeout = {}};
  RINGLET_TRY_ASSIGN(const auto communicator, comm::Establish(process, config, {}));
  Say("JOINED " + communicator->links().Summary());
  constexpr std::string_view kHalf = "half:";
  const Status status = words[5].starts_with(kHalf)
                            ? HangInHalf(*communicator, part, words[5].substr(kHalf.size()))
                            : HangIn(*communicator, part, words[5]);
  if (!status.ok())
    Say(fmt::format("ERROR {}: {}", CodeName(status.error().code), status.error().message));
  AwaitEndOfInput();
  return status;
}

// ---- reforms ----------------------------------------------------------------------------------

/// Sums until it fails. Each rank contributes 1.
Status SumOnce(comm::Communicator& communicator, std::uint64_t count) {
  std::vector<float> in(count, 1.0f), out(count);
  RINGLET_TRY(AllReduce(communicator, {.input = std::as_bytes(std::span(in)),
                                       .output = std::as_writable_bytes(std::span(out)),
                                       .count = count}));
  const auto size = static_cast<float>(communicator.identity().size);
  for (const float sum : out)
    if (sum != size) return Error{Code::kProtocol, "a wrong sum"};
  return Ok();
}

Status ReformForEver(std::unique_ptr<comm::Communicator> communicator, std::uint64_t count) {
  std::optional<Instant> failed;
  for (;;) {
    const Status status = SumOnce(*communicator, count);
    if (status.ok()) {
      if (failed)
        Say(fmt::format("REFORMED {} {}", communicator->identity().size,
                        (os::SocketDriver::Now() - *failed).count() / 1000));
      failed.reset();
      continue;
    }
    if (status.error().code != Code::kPeerLost) return status;
    if (!failed) failed = os::SocketDriver::Now();
    RINGLET_TRY_ASSIGN(communicator, comm::Reform(*communicator, 1, {}));
  }
}

Status ReformAfterEachFailure(const std::vector<std::string>& words) {
  const auto number = [&](std::size_t i, std::uint64_t otherwise) {
    return i < words.size() ? ParseDecimal(words[i]).value_or(otherwise) : otherwise;
  };
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::Start(os::ReadEnvironment()));
  RINGLET_TRY_ASSIGN(const UniqueId id, rendezvous::FromText(words[1]));
  const comm::Config config{.id = id,
                            .rank = static_cast<std::uint32_t>(number(2, 0)),
                            .size = static_cast<std::uint32_t>(number(3, 0)),
                            .device = static_cast<std::uint32_t>(number(2, 0)),
                            .init_timeout = {},
                            .timeout = {}};
  RINGLET_TRY_ASSIGN(auto communicator, comm::Establish(process, config, {}));
  Say("JOINED " + communicator->links().Summary());
  const Status status = ReformForEver(std::move(communicator), number(4, 1024));
  Say(fmt::format("ERROR {}: {}", CodeName(status.error().code), status.error().message));
  AwaitEndOfInput();
  return status;
}

// ---- many communicators -----------------------------------------------------------------------

/// The resources that a communicator could leave behind in its process.
struct Held {
  std::int64_t descriptors = 0, mappings = 0, heap_bytes = 0;
};

Held HeldNow() {
  Held held;
  const std::filesystem::directory_iterator descriptors("/proc/self/fd"), end;
  held.descriptors = std::distance(descriptors, end) - 1;  // less the iterator's own
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    held.mappings +=
        line.find("ringlet") != std::string::npos && line.find("memfd") != std::string::npos;
  const struct mallinfo2 heap = ::mallinfo2();
  held.heap_bytes = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
  return held;
}

using Communicators = std::deque<std::unique_ptr<comm::Communicator>>;

/// Creates a communicator with a new id from rank 0, distributed over `first`, and sums once.
Result<std::unique_ptr<comm::Communicator>> FormAnother(
    const std::shared_ptr<comm::Process>& process, comm::Communicator& first) {
  const comm::Identity& self = first.identity();
  UniqueId id;
  if (self.rank == Rank{0}) {
    RINGLET_TRY_ASSIGN(id, comm::CreateUniqueId(process));
  }
  const auto bytes = std::as_writable_bytes(std::span(id.bytes));
  RINGLET_TRY(Broadcast(
      first, {.input = bytes, .output = bytes, .count = bytes.size(), .type = DataType::kUint8}));
  const comm::Config config{.id = id,
                            .rank = Index(self.rank),
                            .size = self.size,
                            .device = Index(self.rank),
                            .init_timeout = {},
                            .timeout = {}};
  RINGLET_TRY_ASSIGN(auto another, comm::Establish(process, config, {}));
  std::vector<float> in(1000, static_cast<float>(Index(self.rank) + 1)), out(in.size());
  RINGLET_TRY(AllReduce(*another, {.input = std::as_bytes(std::span(in)),
                                   .output = std::as_writable_bytes(std::span(out)),
                                   .count = in.size()}));
  if (out.back() != static_cast<float>(self.size * (self.size + 1) / 2))
    return Error{Code::kProtocol, "a wrong sum"};
  return another;
}

Status FormMany(const std::shared_ptr<comm::Process>& process, comm::Communicator& first,
                std::uint64_t count, std::uint64_t alive_max, Communicators& alive) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (alive.size() == alive_max) alive.pop_front();
    RINGLET_TRY_ASSIGN(auto another, FormAnother(process, first));
    alive.push_back(std::move(another));
  }
  return Ok();
}

/// Waits for the service thread until no more than this is held, or until a long timeout. A root
/// sends its goodbye a moment after all have joined, and a group's last messages leave then.
Held HeldAtRest(const std::shared_ptr<comm::Process>& process, std::int64_t descriptors,
                std::int64_t heap_bytes = std::numeric_limits<std::int64_t>::max()) {
  const Instant give_up = os::SocketDriver::Now() + std::chrono::seconds(20);
  for (;;) {
    const Held held = HeldNow();
    const bool rests = held.descriptors <= descriptors && held.heap_bytes <= heap_bytes;
    if (rests || os::SocketDriver::Now() > give_up) return held;
    std::promise<void> turn;
    process->driver().Post([&] { turn.set_value(); });
    turn.get_future().wait();
  }
}

Status Many(const std::vector<std::string>& words) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 2; i < 6; ++i) numbers.push_back(ParseDecimal(words[i]).value_or(0));
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::Start(os::ReadEnvironment()));
  RINGLET_TRY_ASSIGN(const UniqueId id, rendezvous::FromText(words[1]));
  const auto rank = static_cast<std::uint32_t>(numbers[0]);
  const comm::Config config{.id = id,
                            .rank = rank,
                            .size = static_cast<std::uint32_t>(numbers[1]),
                            .device = rank,
                            .init_timeout = {},
                            .timeout = {}};
  RINGLET_TRY_ASSIGN(const auto first, comm::Establish(process, config, {}));
  RINGLET_TRY(Barrier(*first));  // it has created all its resources
  const std::int64_t descriptors = HeldNow().descriptors;
  // The first communicators leave memory for good: tables, caches of the allocator.
  constexpr std::uint64_t kWarm = 20;
  Communicators alive;
  RINGLET_TRY(FormMany(process, *first, kWarm + numbers[3], numbers[3], alive));
  alive.clear();
  const Held before = HeldAtRest(process, descriptors);
  RINGLET_TRY(FormMany(process, *first, numbers[2], numbers[3], alive));
  const Held holding = HeldNow();
  Say(fmt::format("HOLDING {} communicators, {} descriptors, {} mappings, {} bytes", alive.size(),
                  holding.descriptors, holding.mappings, holding.heap_bytes));
  alive.clear();
  constexpr std::int64_t kSlackBytes = 60'000;  // less than the rest of one communicator
  const Held after = HeldAtRest(process, before.descriptors, before.heap_bytes + kSlackBytes);
  Say(fmt::format("LEFT {} descriptors, {} mappings, {} bytes",
                  after.descriptors - before.descriptors, after.mappings - before.mappings,
                  after.heap_bytes - before.heap_bytes));
  RINGLET_TRY(Barrier(*first));
  Say("DONE");
  AwaitEndOfInput();
  return Ok();
}

// ---- signals ----------------------------------------------------------------------------------

Status Run(const std::vector<std::string>& words);

Status Storm(const std::vector<std::string>& words) {
  struct sigaction action {};
  action.sa_handler = [](int) { signals_seen.fetch_add(1); };  // without SA_RESTART
  ::sigaction(SIGALRM, &action, nullptr);
  const auto interval_us = static_cast<suseconds_t>(ParseDecimal(words[1]).value_or(1000));
  const itimerval often{.it_interval = {0, interval_us}, .it_value = {0, interval_us}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  const Status status = Run({words.begin() + 2, words.end()});
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  return status;
}

Status Run(const std::vector<std::string>& words) {
  if (words.size() > 2 && words[0] == "storm") return Storm(words);
  if (words.size() == 6 && words[0] == "many") return Many(words);
  if (words.size() >= 6 && words[0] == "hang") return Hang(words);
  if (words.size() >= 4 && words[0] == "reform") return ReformAfterEachFailure(words);
  if (words.size() == 1 && words[0] == "id") return HostId();
  if (words.size() == 2 && words[0] == "spoil") return Spoil(words[1]);
  if (words.size() == 3 && words[0] == "reroute") return Reroute(words[1], words[2]);
  if (words.size() >= 4 && words[0] == "join") return Join(words);
  return Error{Code::kInvalidArgument, "see the head of fault_rank.cpp"};
}

}  // namespace
}  // namespace ringlet

int main(int argument_count, char** arguments) {
  const auto status = ringlet::Run({arguments + 1, arguments + argument_count});
  if (status.ok()) return 0;
  fmt::print(stderr, "fault_rank: {}\n", status.error().message);
  return 1;
}
