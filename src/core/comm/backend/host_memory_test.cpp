// Collectives of one host through shared memory, as communicators use it: made while they form,
// agreed on by all ranks, destroyed together.
#include "comm/backend/host_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/establish/split.hpp"
#include "comm/run/group.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;
using Formed = Result<std::unique_ptr<Communicator>>;

TEST(HostMemory, ExistsFromTheStartWithoutAnyLink) {
  RunRanks(4, EnvMap{}, [](std::uint32_t, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Communicator& mine = **formed;
    EXPECT_TRUE(mine.host_memory().IsHere());
    for (const std::size_t count : {3u, 100'000u}) {
      const Status sum = SumOfRanks(mine, count);
      ASSERT_TRUE(sum.ok()) << sum.error().message;
    }
    EXPECT_EQ(mine.links().size(), 0u) << "no link was needed";
  });
}

TEST(HostMemory, IsMappedAsThePeerInfosState) {
  const auto shared = ProcessWith({});
  for (const bool processes : {false, true})
    RunRanks(
        3, [&](std::uint32_t) { return processes ? ProcessWith({}) : shared; },
        [](std::uint32_t rank, Formed formed) {
          ASSERT_TRUE(formed.ok()) << formed.error().message;
          Communicator& mine = **formed;
          EXPECT_TRUE(HasHostMemoryPlace(mine.origin().process->settings(), mine.peer_table()));
          EXPECT_TRUE(mine.host_memory().IsHere());
          for (const std::size_t count : {3u, 100'000u}) EXPECT_TRUE(SumOfRanks(mine, count).ok());
          EXPECT_EQ(mine.links().size(), 0u);
          const auto child = Split(mine, rank == 1 ? 1 : 0, 0, {});
          ASSERT_TRUE(child.ok()) << child.error().message;
          EXPECT_EQ((*child)->host_memory().IsHere(), rank != 1);
          EXPECT_TRUE(SumOfRanks(**child, 3).ok());
        },
        {.expects_one_host = true});
}

TEST(HostMemory, IsUnusedIfASingleRankCannotOpenIt) {
  RunRanks(2, EnvMap{}, [](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Communicator& mine = **formed;
    PeerTable told = mine.peer_table();
    for (PeerInfo& one : told.peer_infos) one.nonce = Secret{};
    EXPECT_FALSE(HasHostMemoryPlace(mine.origin().process->settings(), told));
    for (const bool right : {true, false}) {
      const Config config{.rank = rank, .size = 2, .expects_one_host = true};
      auto draft = *DraftHostMemory(*mine.origin().process, config);
      ASSERT_EQ(draft.arena != nullptr, rank == 1);
      Writer own;
      const auto pid = mine.origin().process->host().pid;
      const auto at = rank == 1 ? *draft.arena->PlaceIn(pid) : transport::ArenaPlace();
      own.U32(at.descriptor).U64(at.device).U64(at.inode);
      const auto places = mine.control().AllGather(own.Take());
      ASSERT_TRUE(places.ok());
      Reader in(places->At(Rank{1}));
      auto& arena = told.peer_infos[1].arena.emplace();
      arena = {.pid = pid, .descriptor = in.U32(), .device = in.U64(), .inode = in.U64()};
      arena.inode += right ? 0 : 1;
      EXPECT_TRUE(HasHostMemoryPlace(mine.origin().process->settings(), told));
      const auto parts =
          UseKnownHostMemory(mine.origin(), told, mine.control(), std::move(draft), 7);
      ASSERT_TRUE(parts.ok()) << parts.error().message;
      EXPECT_EQ(parts->has_value(), right);
    }
    const Config config{.rank = rank, .size = 2, .expects_one_host = true};
    const auto differs = UseKnownHostMemory(mine.origin(), told, mine.control(),
                                            *DraftHostMemory(*mine.origin().process, config), rank);
    ASSERT_FALSE(differs.ok());
    EXPECT_THAT(differs.error().message, HasSubstr("do not have the same channel plan"));
  });
}

TEST(HostMemory, WaitsAsTheSettingSpecifies) {
  for (const char* wait : {"spin", "yield", "sleep", "auto"})
    RunRanks(3, EnvMap{{"RINGLET_WAIT", wait}}, [&](std::uint32_t, Formed formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      Communicator& mine = **formed;
      for (const PeerInfo& peer_info : mine.peer_table().peer_infos)
        EXPECT_FALSE(peer_info.cpus.empty());
      const bool spins = wait == std::string("spin"), sleeps = wait == std::string("sleep");
      EXPECT_TRUE(!spins || mine.spinner().wait_policy().looks > 0);
      EXPECT_EQ(sleeps, mine.spinner().wait_policy().yields == 0);
      for (const std::size_t count : {3u, 100'000u}) EXPECT_TRUE(SumOfRanks(mine, count).ok());
    });
}

TEST(HostMemory, IsUnusedIfTheSettingsForbidIt) {
  for (const EnvMap& settings :
       {EnvMap{{"RINGLET_HOST_MEMORY", "0"}}, EnvMap{{"RINGLET_LINKS", "shm"}},
        EnvMap{{"RINGLET_SHM_DISABLE", "1"}}})
    RunRanks(2, settings, [](std::uint32_t, Formed formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      EXPECT_FALSE((*formed)->host_memory().IsHere());
      EXPECT_TRUE(SumOfRanks(**formed, 5).ok());
    });
}

TEST(HostMemory, IsUnusedBetweenHostsAndByASingleRank) {
  const auto local_host = ProcessWith({{"RINGLET_HOSTID", "here"}});
  const auto there = ProcessWith({{"RINGLET_HOSTID", "there"}});
  RunRanks(
      2, [&](std::uint32_t rank) { return rank == 0 ? local_host : there; },
      [](std::uint32_t, Formed formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        EXPECT_FALSE((*formed)->host_memory().IsHere());
      });
  RunRanks(1, EnvMap{}, [](std::uint32_t, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    EXPECT_FALSE((*formed)->host_memory().IsHere());
  });
}

TEST(HostMemory, ChildrenHaveTheirOwnMemory) {
  RunRanks(4, EnvMap{}, [](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    ASSERT_TRUE(SumOfRanks(**formed, 5).ok());
    auto child = Split(**formed, static_cast<std::int32_t>(rank % 2), 0, {});
    ASSERT_TRUE(child.ok()) << child.error().message;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(SumOfRanks(**child, 5).ok());
      ASSERT_TRUE(SumOfRanks(**formed, 50'000).ok());
    }
    EXPECT_TRUE((*child)->host_memory().IsHere());
  });
}

// One thread drives both ranks, which is the purpose of ncclGroupStart.
TEST(HostMemory, ASingleThreadDrivesAllRanksOfAGroup) {
  std::vector<std::shared_ptr<Communicator>> all(3);
  RunRanks(3, EnvMap{}, [&](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    all[rank] = std::move(formed).value();
  });
  for (int round = 0; round < 3; ++round) {
    std::vector<std::vector<std::int32_t>> data(3, std::vector<std::int32_t>(40'000, 1));
    std::vector<GroupedCall> calls;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      const auto bytes = std::as_writable_bytes(std::span(data[rank]));
      for (int twice = 0; twice < 2; ++twice)
        calls.push_back({all[rank], Call{.kind = CallKind::kAllReduce,
                                         .input = bytes,
                                         .output = bytes,
                                         .count = data[rank].size(),
                                         .type = DataType::kInt32}});
    }
    const Status status = RunGroup(calls);
    ASSERT_TRUE(status.ok()) << status.error().message;
    for (const auto& values : data) EXPECT_EQ(std::count(values.begin(), values.end(), 9), 40'000);
  }
}

// Two groups of two ranks each, on two threads, wait for each other.
TEST(HostMemory, GroupsOnSeveralThreadsWaitForEachOther) {
  std::vector<std::shared_ptr<Communicator>> all(4);
  RunRanks(4, EnvMap{}, [&](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    all[rank] = std::move(formed).value();
  });
  const auto half = [&](std::size_t first) {
    for (int round = 0; round < 20; ++round) {
      std::int32_t data[2] = {1, 1};
      std::vector<GroupedCall> calls;
      for (std::size_t i = 0; i < 2; ++i) {
        const auto bytes = std::as_writable_bytes(std::span(data + i, 1));
        calls.push_back({all[first + i], Call{.kind = CallKind::kAllReduce,
                                              .input = bytes,
                                              .output = bytes,
                                              .count = 1,
                                              .type = DataType::kInt32}});
      }
      const Status status = RunGroup(calls);
      ASSERT_TRUE(status.ok()) << status.error().message;
      EXPECT_EQ(data[0], 4);
      EXPECT_EQ(data[1], 4);
    }
  };
  std::thread other([&] { half(2); });
  half(0);
  other.join();
}

TEST(HostMemory, ADifferentCallIsReportedOnAllRanksWithBothCalls) {
  RunRanks(3, EnvMap{}, [](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    ASSERT_TRUE(SumOfRanks(**formed, 5).ok());
    Status status = Ok();
    if (rank == 1) {
      const Portions nothing{.counts = {0, 0, 0}, .displacements = {0, 0, 0}};
      status = AllToAllV(**formed, {.sent = nothing, .received = nothing});
    } else {
      status = SumOfRanks(**formed, 8);
    }
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kProtocol);
    EXPECT_THAT(status.error().message, HasSubstr("rank 1"));
    EXPECT_THAT(status.error().message, HasSubstr("all_to_all_v"));
    EXPECT_THAT(status.error().message, HasSubstr("all_reduce of 8 float sum"));
    EXPECT_FALSE(Barrier(**formed).ok()) << "it stays failed";
  });
}

TEST(HostMemory, AbortEndsTheWaitOfARank) {
  for (const bool made : {false, true}) {
    RunRanks(2, EnvMap{}, [&](std::uint32_t rank, Formed formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      Communicator& mine = **formed;
      if (made) {
        ASSERT_TRUE(SumOfRanks(mine, 5).ok());
      }
      if (rank == 1) {
        mine.control().AwaitFailure(std::chrono::seconds(60));
        return;
      }
      std::thread other([&] { mine.Abort("enough"); });
      const Status status = Barrier(mine);
      other.join();
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, Code::kAborted);
      EXPECT_THAT(status.error().message, HasSubstr("enough"));
    });
  }
}

TEST(HostMemory, NamesAMissingRank) {
  for (const bool made : {false, true}) {
    RunRanks(4, {{"RINGLET_TIMEOUT", "0.3"}}, [&](std::uint32_t rank, Formed formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      Communicator& mine = **formed;
      if (made) {
        ASSERT_TRUE(SumOfRanks(mine, 5).ok());
      }
      if (rank == 2) {
        mine.control().AwaitFailure(std::chrono::seconds(60));
        return;
      }
      const Status status = Barrier(mine);
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, Code::kTimeout);
      EXPECT_THAT(status.error().message, HasSubstr("rank 2"));
      EXPECT_THAT(status.error().message, HasSubstr("has not called it"));
    });
  }
}

std::size_t DescriptorsOpen() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

TEST(HostMemory, KeepsNoDescriptorOpen) {
  RunRanks(2, EnvMap{}, [](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    ASSERT_TRUE((*formed)->control().Barrier().ok());
    const std::size_t before = DescriptorsOpen();
    ASSERT_TRUE((*formed)->control().Barrier().ok());
    ASSERT_TRUE(SumOfRanks(**formed, 5).ok());
    ASSERT_TRUE((*formed)->control().Barrier().ok());
    if (rank == 0) {
      EXPECT_LE(DescriptorsOpen(), before);
    }
    ASSERT_TRUE((*formed)->control().Barrier().ok());
  });
}

// ---- registered memory --------------------------------------------------------------------------

/// Memory of a process's heap, freed at the end.
class Owned {
 public:
  Owned(Process& process, std::size_t floats)
      : process_(process), at_(process.heap().Allocate(floats * 4).value()), floats_(floats) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    const Status freed = process_.heap().Free(at_);
    EXPECT_TRUE(freed.ok()) << freed.error().message;
  }
  std::span<float> floats() { return {reinterpret_cast<float*>(at_), floats_}; }
  std::span<std::byte> bytes() { return {at_, floats_ * 4}; }

 private:
  Process& process_;
  std::byte* at_;
  std::size_t floats_;
};

std::size_t MappedMemory() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("memfd:ringlet") != std::string::npos) ++count;
  return count;
}

/// Sums in place in registered memory of this rank. Returns the first error.
Status SumInPlace(Communicator& mine, Owned& memory) {
  const std::uint32_t size = mine.identity().size;
  std::ranges::fill(memory.floats(), static_cast<float>(Index(mine.identity().rank) + 1));
  RINGLET_TRY(AllReduce(
      mine, {.input = memory.bytes(), .output = memory.bytes(), .count = memory.floats().size()}));
  const auto right = static_cast<float>(size * (size + 1) / 2);
  if (std::ranges::count(memory.floats(), right) == std::ssize(memory.floats())) return Ok();
  return Error{Code::kProtocol, "a wrong sum"};
}

constexpr std::size_t kManyFloats = 300'000;

// Each rank has its own process here, so pointers are useless to the others.
TEST(HostMemory, PeersMapAndUnmapRegisteredMemory) {
  const std::size_t before = MappedMemory();
  std::vector<std::shared_ptr<Process>> processes;
  for (int i = 0; i < 3; ++i) processes.push_back(ProcessWith({}));
  RunRanks(
      3, [&](std::uint32_t rank) { return processes[rank]; },
      [&](std::uint32_t rank, Formed formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        Communicator& mine = **formed;
        Owned memory(*processes[rank], kManyFloats);
        const auto agree = [&] { ASSERT_TRUE(mine.control().Barrier().ok()); };
        EXPECT_TRUE(SumInPlace(mine, memory).ok());
        agree();
        const std::size_t unregistered = MappedMemory();
        agree();
        const auto handle = mine.one_sided().Register(memory.bytes());
        ASSERT_TRUE(handle.ok()) << handle.error().message;
        EXPECT_EQ(mine.one_sided().Register(memory.bytes()).value(), *handle);
        EXPECT_TRUE(mine.one_sided().Deregister(*handle).ok()) << "still registered once";
        for (int i = 0; i < 2; ++i) EXPECT_TRUE(SumInPlace(mine, memory).ok());
        agree();
        EXPECT_EQ(MappedMemory(), unregistered + 3 * 2) << "each maps the others', once";
        agree();
        EXPECT_TRUE(mine.one_sided().Deregister(*handle).ok());
        EXPECT_EQ(mine.one_sided().Deregister(*handle).error().code, Code::kInvalidArgument);
        EXPECT_TRUE(SumInPlace(mine, memory).ok());
        agree();
        formed->reset();
      });
  EXPECT_EQ(MappedMemory(), before);
}

/// Passes data from the previous to the next rank, in the first and second half of `memory`.
Status PassOn(Communicator& communicator, Owned& memory, std::size_t count) {
  const std::uint32_t self = Index(communicator.identity().rank),
                      size = communicator.identity().size;
  const std::span<std::byte> bytes = memory.bytes();
  const std::array both = {Transfer{.peer = Rank{(self + 1) % size},
                                    .sends = true,
                                    .from = bytes.first(count),
                                    .count = count,
                                    .type = DataType::kUint8},
                           Transfer{.peer = Rank{(self + size - 1) % size},
                                    .to = bytes.last(count),
                                    .count = count,
                                    .type = DataType::kUint8}};
  return communicator.Run(both);
}

TEST(HostMemory, PeersMapMessagesInRegisteredMemory) {
  std::vector<std::shared_ptr<Process>> processes;
  for (int i = 0; i < 3; ++i) processes.push_back(ProcessWith({}));
  RunRanks(
      3, [&](std::uint32_t rank) { return processes[rank]; },
      [&](std::uint32_t rank, Formed formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        Communicator& mine = **formed;
        Owned memory(*processes[rank], kManyFloats);
        const auto agree = [&] { ASSERT_TRUE(mine.control().Barrier().ok()); };
        EXPECT_TRUE(PassOn(mine, memory, 100'000).ok());
        agree();
        const std::size_t unregistered = MappedMemory();
        agree();
        const auto handle = mine.one_sided().Register(memory.bytes());
        ASSERT_TRUE(handle.ok()) << handle.error().message;
        EXPECT_TRUE(PassOn(mine, memory, 1000).ok());
        agree();
        EXPECT_EQ(MappedMemory(), unregistered) << "a small message is not read in place";
        agree();
        for (const std::size_t count : {std::size_t{100'000}, std::size_t{40'000}})
          EXPECT_TRUE(PassOn(mine, memory, count).ok());
        agree();
        EXPECT_EQ(MappedMemory(), unregistered + 3) << "each maps that of the one before it, once";
        agree();
        EXPECT_TRUE(mine.one_sided().Deregister(*handle).ok());
        formed->reset();
      });
}

TEST(HostMemory, UnsharedMemoryMayBeRegistered) {
  RunRanks(2, EnvMap{}, [](std::uint32_t, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const Bytes own(100);
    EXPECT_EQ((*formed)->one_sided().Register(View(own).first(0)).error().code,
              Code::kInvalidArgument);
    const auto handle = (*formed)->one_sided().Register(own);
    ASSERT_TRUE(handle.ok());
    EXPECT_TRUE(SumOfRanks(**formed, kManyFloats).ok());
    EXPECT_TRUE((*formed)->one_sided().Deregister(*handle).ok());
  });
}

// Threads of one process access each other's buffers. An aborted rank gets its own back at once.
TEST(HostMemory, AbortReturnsTheBuffersOfThreads) {
  for (int round = 0; round < 20; ++round)
    RunRanks(3, EnvMap{}, [&](std::uint32_t rank, Formed formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      Communicator& mine = **formed;
      std::thread other;
      if (rank == 0) {
        ASSERT_TRUE(Barrier(mine).ok());
        other = std::thread([&] { mine.Abort("enough"); });
      } else {
        ASSERT_TRUE(Barrier(mine).ok());
      }
      Status status = Ok();
      while (status.ok()) {
        auto data = std::make_unique<std::vector<float>>(1 << 20, 1.0f);  // freed right after
        const auto bytes = std::as_writable_bytes(std::span(*data));
        status = AllReduce(mine, {.input = bytes, .output = bytes, .count = data->size()});
      }
      EXPECT_EQ(status.error().code, Code::kAborted) << status.error().message;
      if (other.joinable()) other.join();
    });
}

TEST(HostRun, ReturnsTheBuffersAtItsEnd) {
  const auto arena = transport::Arena::Create({.ranks = 2}).value();
  const auto near = std::make_shared<collective::InProcessBuffers>(2);
  const auto shared = std::make_shared<transport::SharedBuffers>();
  shared->Publish(arena, 0);
  collective::ShmCollective engine(arena, 0, {}, {},
                                   {.shared = shared, .near = near, .is_near = {true, true}});
  Bytes data(400'000);
  engine.Start(
      {.kind = collective::CallKind::kAllReduce, .input = data, .output = data, .count = 100'000},
      collective::Algorithm::kZeroCopy, 0);
  {
    HostRun run(engine);
    ASSERT_FALSE(run.Advance().value());
    EXPECT_TRUE(collective::InProcessBuffers::Visit(*near, {0}).granted());
  }
  EXPECT_FALSE(collective::InProcessBuffers::Visit(*near, {0}).granted());
}

/// While it lives, no memory is available: files may not grow.
class NoFilesGrow {
 public:
  NoFilesGrow() {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{.rlim_cur = 4096, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  }
  NoFilesGrow(const NoFilesGrow&) = delete;
  NoFilesGrow& operator=(const NoFilesGrow&) = delete;
  ~NoFilesGrow() { EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0); }

 private:
  rlimit before_{};
};

TEST(HostMemory, CollectivesUseLinksIfItIsUnavailable) {
  os::TempTree tree;
  {
    const NoFilesGrow limit;
    RunRanks(3, {{"RINGLET_DEBUG", "WARN"}, {"RINGLET_DEBUG_FILE", tree.At("log")}},
             [](std::uint32_t, Formed formed) {
               ASSERT_TRUE(formed.ok()) << formed.error().message;
               Communicator& mine = **formed;
               for (int i = 0; i < 2; ++i) {
                 const Status sum = SumOfRanks(mine, 1000);
                 EXPECT_TRUE(sum.ok()) << sum.error().message;
               }
               EXPECT_FALSE(mine.host_memory().IsHere());
             });
  }
  const auto log = os::FileTree::Open(tree.root())->Read("log");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_THAT(*log, testing::AllOf(HasSubstr("use links, because shared memory is missing: rank "),
                                   testing::Not(HasSubstr("no reason"))));
}

// Two halves that shrink the same communicator to themselves concurrently do not meet.
TEST(HostMemory, HalvesThatShrinkConcurrentlyHaveTheirOwnMemory) {
  RunRanks(4, EnvMap{}, [](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const bool low = rank < 2;
    auto half = Shrink(**formed, low ? std::vector<std::uint32_t>{2, 3} : std::vector{0u, 1u}, {});
    ASSERT_TRUE(half.ok()) << half.error().message;
    EXPECT_TRUE((*half)->host_memory().IsHere());
    for (int i = 0; i < 20; ++i) {
      const Status sum = SumOfRanks(**half, 1000);
      ASSERT_TRUE(sum.ok()) << sum.error().message;
    }
  });
}

}  // namespace
}  // namespace ringlet::comm
