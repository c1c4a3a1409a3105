// Ranks forked from one process have equal addresses for different memory. Tests every operation,
// at sizes around each threshold, in place and not, with buffers at equal addresses in some ranks
// and at different ones in others. Data that a rank takes from another must be the other's, never
// the data at that address in its own memory.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "base/value/prng.hpp"
#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

constexpr CallKind kKinds[] = {CallKind::kAllReduce, CallKind::kReduce,        CallKind::kBroadcast,
                               CallKind::kAllGather, CallKind::kReduceScatter, CallKind::kAllToAll,
                               CallKind::kGather,    CallKind::kScatter};
// Block sizes in bytes at which an operation, a message or a copy changes its way.
constexpr std::size_t kThresholds[] = {4 << 10,   16 << 10, 32 << 10, 128 << 10,
                                       256 << 10, 2 << 20,  4 << 20};
constexpr std::uint32_t kRanksMax = 3;
constexpr std::size_t kBlockBytesMax = (4 << 20) + 4;

// One address in all ranks, with room for three of the largest buffers.
alignas(64) std::array<std::byte, 3 * kRanksMax * kBlockBytesMax> memory;

struct Case {
  CallKind kind = CallKind::kAllReduce;
  std::size_t count = 0;  // of 4 B
  bool in_place = false;
  Rank root{};
  std::uint64_t seed = 0;  // seed of the buffers' places

  std::string Text() const {
    return fmt::format("{} of {} elements at root {}{}, seed {}", Name(kind), count, Index(root),
                       in_place ? ", in place" : "", seed);
  }
};

std::uint32_t InputOf(std::uint32_t rank, std::size_t i) {
  return static_cast<std::uint32_t>(i * 7 + (rank + 1) * 100'003);
}

// Returns the expected element `i` of `self`.
std::uint32_t Due(const Case& its, std::uint32_t self, std::uint32_t ranks, std::size_t i) {
  const auto from = static_cast<std::uint32_t>(i / its.count);
  const auto sum = [&](std::size_t at) {
    std::uint32_t all = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) all += InputOf(rank, at);
    return all;
  };
  switch (its.kind) {
    case CallKind::kBroadcast: return InputOf(Index(its.root), i);
    case CallKind::kScatter: return InputOf(Index(its.root), self * its.count + i);
    case CallKind::kAllGather:
    case CallKind::kGather: return InputOf(from, i % its.count);
    case CallKind::kAllToAll: return InputOf(from, self * its.count + i % its.count);
    case CallKind::kReduceScatter: return sum(self * its.count + i);
    default: return sum(i);
  }
}

struct Buffers {
  std::span<std::byte> input, output;
};

// An in-place call begins at `room`. Otherwise each rank draws a whole number of blocks before each
// buffer, so one rank's input may lie at the address of another's output.
Buffers BuffersOf(const Case& its, std::span<std::byte> room, const Call& call,
                  const Communicator& communicator) {
  const std::size_t block = its.count * 4;
  const std::size_t in = InputBytes(call, communicator.place());
  const std::size_t out = OutputBytes(call, communicator.place());
  if (its.in_place) {
    const std::ptrdiff_t offset = InPlaceOffset(call, communicator.identity().rank) * 4;
    const std::ptrdiff_t first = std::min<std::ptrdiff_t>(0, offset);
    return {room.subspan(static_cast<std::size_t>(-first), in),
            room.subspan(static_cast<std::size_t>(offset - first), out)};
  }
  Prng prng(its.seed * kRanksMax + Index(communicator.identity().rank));
  const bool input_first = prng.Below(2) == 0;
  const std::size_t before = prng.Below(3) * block;
  const std::size_t first = input_first ? in : out;
  const std::size_t second = (before + first + block - 1) / block * block;
  return {room.subspan(input_first ? before : second, in),
          room.subspan(input_first ? second : before, out)};
}

std::string Complaint(Communicator& communicator, const Case& its, std::span<std::byte> room) {
  const std::uint32_t ranks = communicator.identity().size;
  const std::uint32_t self = Index(communicator.identity().rank);
  Call call{.kind = its.kind, .count = its.count, .type = DataType::kUint32, .root = its.root};
  const Buffers buffers = BuffersOf(its, room, call, communicator);
  std::memset(buffers.output.data(), 0xee, buffers.output.size());
  for (std::size_t i = 0; i < buffers.input.size() / 4; ++i) {
    const std::uint32_t value = InputOf(self, i);
    std::memcpy(buffers.input.data() + i * 4, &value, 4);
  }
  call.input = buffers.input;
  call.output = buffers.output;
  const Status status = communicator.Run(call);
  if (!status.ok()) return its.Text() + ": " + status.error().message;
  for (std::size_t i = 0; i < buffers.output.size() / 4; ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, buffers.output.data() + i * 4, 4);
    if (value != Due(its, self, ranks, i))
      return fmt::format("{}: element {} on rank {} is {:#x}", its.Text(), i, self, value);
  }
  return "";
}

// Sends from each rank to the next. Both buffers begin at `room`: the sent half is the second half
// of the received one, and vice versa on every other rank.
std::string MessageComplaint(Communicator& communicator, std::size_t bytes,
                             std::span<std::byte> room) {
  const std::uint32_t ranks = communicator.identity().size;
  const std::uint32_t self = Index(communicator.identity().rank);
  const std::uint32_t before = (self + ranks - 1) % ranks;
  const std::span<std::byte> sent = room.subspan(self % 2 * bytes, bytes);
  const std::span<std::byte> received = room.subspan((1 - self % 2) * bytes, bytes);
  std::memset(sent.data(), static_cast<int>(self + 1), bytes);
  std::memset(received.data(), 0xee, bytes);
  const std::array<Transfer, 2> both = {
      Transfer{.peer = Rank{(self + 1) % ranks},
               .sends = true,
               .from = sent,
               .count = bytes,
               .type = DataType::kUint8},
      Transfer{.peer = Rank{before}, .to = received, .count = bytes, .type = DataType::kUint8}};
  const Status status = communicator.Run(both);
  if (!status.ok()) return status.error().message;
  for (const std::byte byte : received)
    if (byte != std::byte(before + 1)) return fmt::format("a message of {} bytes is wrong", bytes);
  return "";
}

std::string AllComplaints(Communicator& communicator, std::span<std::byte> room) {
  const std::uint32_t ranks = communicator.identity().size;
  std::uint64_t seed = 0;
  for (const std::size_t threshold : kThresholds)
    for (const std::size_t bytes : {threshold - 4, threshold, threshold + 4}) {
      for (const CallKind kind : kKinds)
        for (const bool in_place : {false, true}) {
          ++seed;
          const Case its{.kind = kind,
                         .count = bytes / 4,
                         .in_place = in_place,
                         .root = Rank{static_cast<std::uint32_t>(seed % ranks)},
                         .seed = seed};
          if (std::string wrong = Complaint(communicator, its, room); !wrong.empty()) return wrong;
        }
      if (std::string wrong = MessageComplaint(communicator, bytes, room); !wrong.empty())
        return wrong;
    }
  return "";
}

// ---- ranks --------------------------------------------------------------------------------------

/// Carries the id from the first rank to the others.
struct IdPipe {
  int ends[2] = {-1, -1};
};

/// One rank of a forked world.
struct ForkedRank {
  std::uint32_t rank = 0, ranks = 0;
  std::span<const IdPipe> pipes;

  Result<std::unique_ptr<Communicator>> Establish(const std::shared_ptr<Process>& process) const {
    UniqueId id;
    if (rank == 0) {
      RINGLET_TRY_ASSIGN(id, CreateUniqueId(process));
      for (const IdPipe& pipe : pipes)
        if (::write(pipe.ends[1], id.bytes.data(), id.bytes.size()) < 0)
          return Error{Code::kSystem, "a pipe is broken"};
    } else if (::read(pipes[rank].ends[0], id.bytes.data(), id.bytes.size()) <= 0) {
      return Error{Code::kSystem, "rank 0 made no id"};
    }
    return comm::Establish(
        process, {.id = id, .rank = rank, .size = ranks, .init_timeout = {}, .timeout = {}}, {});
  }
};

/// A hanging process is ended, which also counts as a failure.
constexpr unsigned kTimeoutS = 100;

/// Runs each of `ranks` in a process of its own, which ends at once after `play`. `play` returns
/// the complaint, or "".
void RunForked(std::uint32_t ranks, const std::function<std::string(const ForkedRank&)>& play) {
  std::vector<IdPipe> pipes(ranks);
  for (IdPipe& pipe : pipes) ASSERT_EQ(::pipe(pipe.ends), 0);
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(kTimeoutS);
      const std::string wrong = play(ForkedRank{rank, ranks, pipes});
      if (!wrong.empty()) std::fprintf(stderr, "rank %u: %s\n", rank, wrong.c_str());
      ::_exit(wrong.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "a rank says on standard error what is wrong, or was ended";
  }
  for (const IdPipe& pipe : pipes) ::close(pipe.ends[0]), ::close(pipe.ends[1]);
}

// ---- the same addresses -------------------------------------------------------------------------

void RunAll(std::uint32_t ranks, EnvMap environment, bool registered = false) {
  environment["RINGLET_DEBUG"] = "NONE";
  RunForked(ranks, [&](const ForkedRank& forked) -> std::string {
    auto process = Process::Start(environment);
    if (!process.ok()) return process.error().message;
    auto communicator = forked.Establish(*process);
    if (!communicator.ok()) return communicator.error().message;
    if (!registered) return AllComplaints(**communicator, memory);
    const auto room = (*process)->heap().Allocate(memory.size());
    if (!room.ok()) return room.error().message;
    const auto handle = (*communicator)->one_sided().Register({*room, memory.size()});
    if (!handle.ok()) return handle.error().message;
    return AllComplaints(**communicator, {*room, memory.size()});
  });
}

// With a core each, present or not, ranks read memory in place.
TEST(ForkedRanks, TwoRanksWithACoreEachReceiveDataOfTheirPeer) {
  RunAll(2, {{"RINGLET_WAIT", "spin"}});
}
TEST(ForkedRanks, ThreeRanksWithACoreEachReceiveDataOfTheirPeers) {
  RunAll(3, {{"RINGLET_WAIT", "spin"}});
}
TEST(ForkedRanks, RanksThatShareCoresReceiveDataOfTheirPeers) {
  RunAll(3, {{"RINGLET_WAIT", "yield"}});
}
TEST(ForkedRanks, RanksWithRegisteredMemoryReceiveDataOfTheirPeers) {
  RunAll(3, {{"RINGLET_WAIT", "yield"}}, true);
}
TEST(ForkedRanks, RanksOverSharedMemoryReceiveDataOfTheirPeers) {
  RunAll(3, {{"RINGLET_LINKS", "shm"}});
}
TEST(ForkedRanks, RanksOverSocketsReceiveDataOfTheirPeers) {
  RunAll(3, {{"RINGLET_LINKS", "tcp"}});
}

// ---- leaving ------------------------------------------------------------------------------------

// One operation in which the first finished rank may leave while the others are still in it.
void RunAndLeave(CallKind kind, std::size_t bytes, const EnvMap& environment) {
  RunForked(3, [&](const ForkedRank& forked) -> std::string {
    // As in a program: its end does not wait for the service thread.
    const auto& process = *new Result<std::shared_ptr<Process>>(Process::Start(environment));
    if (!process.ok()) return process.error().message;
    auto communicator = forked.Establish(*process);
    if (!communicator.ok()) return communicator.error().message;
    std::string wrong =
        Complaint(**communicator, {.kind = kind, .count = bytes / 4, .root = Rank{1}}, memory);
    communicator->reset();
    return wrong;
  });
}

constexpr CallKind kOneSided[] = {CallKind::kGather, CallKind::kScatter, CallKind::kBroadcast};

TEST(ForkedRanks, LeavingAfterTheLastOperationFailsNoOtherRank) {
  for (const char* const links : {"auto", "shm", "tcp"})
    for (const CallKind kind : kOneSided)
      for (const std::size_t bytes : {4u << 10, 64u << 10, 256u << 10})
        for (int round = 0; round < 5; ++round)
          RunAndLeave(kind, bytes, {{"RINGLET_DEBUG", "NONE"}, {"RINGLET_LINKS", links}});
}

TEST(ForkedRanks, DISABLED_LeavingAThousandTimesFailsNoOtherRank) {
  for (int round = 0; round < 1000; ++round)
    RunAndLeave(kOneSided[round % 3], std::size_t{4} << (10 + round % 7),
                {{"RINGLET_DEBUG", "NONE"}});
}

// ---- children -----------------------------------------------------------------------------------

// The child of a rank survives the rank's death, and has copies of all its descriptors. The other
// rank learns of the death only by the end of the connections. Otherwise it waits until its
// timeout.
TEST(ForkedRanks, AKilledRankIsMissedWhileItsChildLives) {
  int stop[2];  // the child stays until this test closes its end
  ASSERT_EQ(::pipe(stop), 0);
  constexpr std::uint32_t kKilled = 1;
  for (const char* const links : {"auto", "tcp"})
    RunForked(2, [&](const ForkedRank& forked) -> std::string {
      ::close(stop[1]);
      auto process = Process::Start({{"RINGLET_DEBUG", "NONE"},
                                     {"RINGLET_LINKS", links},
                                     {"RINGLET_HEARTBEAT_TIMEOUT", "0"},
                                     {"RINGLET_TIMEOUT", "40"}});
      if (!process.ok()) return process.error().message;
      auto communicator = forked.Establish(*process);
      if (!communicator.ok()) return communicator.error().message;
      if (const Status met = Barrier(**communicator); !met.ok()) return met.error().message;
      if (forked.rank == kKilled) {
        int runs[2];
        char word = 'r';
        if (::pipe(runs) != 0) return "no pipe";
        if (::fork() == 0) {
          if (::write(runs[1], &word, 1) == 1) ::read(stop[0], &word, 1);
          ::_exit(0);
        }
        if (::read(runs[0], &word, 1) != 1) return "no child";
        ::_exit(0);  // like a kill: without a goodbye
      }
      const Status missed = Barrier(**communicator);
      if (missed.ok()) return "the barrier succeeded without rank 1";
      const bool named = missed.error().message.find("rank 1 (") != std::string::npos;
      const bool lost = missed.error().code == Code::kPeerLost;
      return named && lost ? "" : missed.error().message;
    });
  ::close(stop[0]);
  ::close(stop[1]);
}

}  // namespace
}  // namespace ringlet::comm
