#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "doctor/facts_for_test.hpp"
#include "doctor/judge.hpp"

namespace ringlet::doctor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// Returns the findings of two hosts after a change of the second one.
std::vector<std::string> With(const std::function<void(HostFacts&)>& change) {
  SetFacts facts = HealthySet(2);
  change(facts.hosts[1]);
  return Lines(JudgeHosts(facts));
}

TEST(JudgeHosts, HealthyHostsGiveNoFinding) {
  EXPECT_THAT(Lines(JudgeHosts(HealthySet(1))), IsEmpty());
  EXPECT_THAT(Lines(JudgeHosts(HealthySet(3))), IsEmpty());
  EXPECT_THAT(JudgeHosts({}), IsEmpty());
  for (const CheckReport& check : JudgeHosts(HealthySet(3))) EXPECT_FALSE(check.seen.empty());
}

TEST(JudgeHosts, WarnsOfASmallSharedMemoryFolder) {
  EXPECT_THAT(With([](HostFacts& host) {
                host.shm = {"", 64 * kMiB, 64 * kMiB};
              }),
              ElementsAre("shm warning node1: /dev/shm has 64 MiB, 64 MiB of them free"));
  EXPECT_THAT(With([](HostFacts& host) { host.shm = {"", 128 * kMiB, 64 * kMiB}; }), IsEmpty());
  EXPECT_THAT(With([](HostFacts& host) { host.shm.free_bytes = 64 * kMiB - 1; }),
              ElementsAre(StartsWith("shm warning node1")));
  EXPECT_THAT(With([](HostFacts& host) { host.shm.failure = "no such file"; }),
              ElementsAre("shm error node1: /dev/shm cannot be written: no such file"));
}

TEST(JudgeHosts, WarnsWhenTheControlGroupLeavesLittleMemory) {
  const auto limit = [](std::uint64_t bytes, std::uint64_t used) {
    return With([=](HostFacts& host) {
      host.memory.limit_bytes = bytes;
      host.memory.used_bytes = used;
    });
  };
  EXPECT_THAT(limit(1024 * kMiB, 512 * kMiB), IsEmpty());
  EXPECT_THAT(
      limit(1024 * kMiB, 513 * kMiB),
      ElementsAre("memory warning node1: 511 MiB of memory are left of the 1.0 GiB of its control "
                  "group"));
  EXPECT_THAT(limit(kMiB, 2 * kMiB), ElementsAre(StartsWith("memory warning node1: 0 B")));
  EXPECT_THAT(With([](HostFacts& host) { host.memory.available_bytes = 0; }),
              ElementsAre("memory warning node1: 0 B of memory are left"));
}

TEST(JudgeHosts, WarnsOfLowDescriptorAndLockLimits) {
  EXPECT_THAT(With([](HostFacts& host) { host.limits.descriptors = 1024; }),
              ElementsAre(StartsWith("limits warning node1: a process may open only 1024 files")));
  EXPECT_THAT(With([](HostFacts& host) { host.limits.locked_bytes = 8 * kMiB; }), IsEmpty());
  EXPECT_THAT(
      With([](HostFacts& host) {
        host.limits.locked_bytes = 8 * kMiB;
        host.rdma = true;
      }),
      ElementsAre(StartsWith("limits warning node1: only 8.0 MiB of memory may be locked")));
  EXPECT_THAT(With([](HostFacts& host) {
                host.limits.tasks = 1000;
                host.limits.tasks_used = 489;
              }),
              ElementsAre(StartsWith("limits warning node1: only 511 more processes")));
  EXPECT_THAT(With([](HostFacts& host) { host.limits.processes = 100; }),
              ElementsAre(StartsWith("limits warning node1: only 100 more processes")));
}

TEST(JudgeHosts, NotesThatRanksCannotReadMemoryOfPeers) {
  EXPECT_THAT(With([](HostFacts& host) {
                host.peer_memory = {.permitted = false, .why = "no", .ptrace_scope = 1};
              }),
              ElementsAre("peer-memory note node1: a rank may not read the memory of another rank "
                          "(process_vm_readv: no, ptrace_scope 1)"));
}

TEST(JudgeHosts, NotesDisabledTransparentHugePages) {
  EXPECT_THAT(With([](HostFacts& host) { host.huge_pages.transparent = "never"; }),
              ElementsAre(StartsWith("huge-pages note node1")));
}

TEST(JudgeHosts, WarnsWhenRanksOutnumberCores) {
  const auto cores = [](std::uint32_t usable, std::optional<std::uint32_t> quota,
                        std::uint32_t ranks) {
    return With([=](HostFacts& host) {
      host.cpus.usable = usable;
      host.cpus.quota_percent = quota;
      host.ranks = ranks;
    });
  };
  EXPECT_THAT(cores(1, std::nullopt, 0), IsEmpty());
  EXPECT_THAT(cores(8, std::nullopt, 8), IsEmpty());
  EXPECT_THAT(cores(8, std::nullopt, 9),
              ElementsAre("cpus warning node1: 8.00 cores for 9 ranks: 8 of 8 cores are usable"));
  EXPECT_THAT(cores(8, 800, 8), IsEmpty());
  EXPECT_THAT(cores(8, 150, 2),
              ElementsAre("cpus warning node1: 1.50 cores for 2 ranks: its control group limits "
                          "them"));
  EXPECT_THAT(cores(8, 50, 0), ElementsAre(StartsWith("cpus warning node1: 0.50 cores")));
  EXPECT_THAT(cores(8, 150, 1), IsEmpty());
}

TEST(JudgeHosts, ReportsExhaustedPorts) {
  EXPECT_THAT(With([](HostFacts& host) { host.ports = {40'000, 41'033, 10, ""}; }), IsEmpty());
  EXPECT_THAT(With([](HostFacts& host) {
                host.ports = {40'000, 41'033, 11, ""};
              }),
              ElementsAre("ports warning node1: only 1023 ports between 40000 and 41033 are free"));
  EXPECT_THAT(With([](HostFacts& host) {
                host.ports = {40'000, 40'009, 10, "in use"};
              }),
              ElementsAre("ports error node1: no port between 40000 and 40009 is free: in use"));
  // The kernel may report nothing.
  EXPECT_THAT(With([](HostFacts& host) { host.ports = {0, 0, 0, ""}; }), IsEmpty());
}

TEST(JudgeHosts, ReportsDefectsOfTheTopology) {
  EXPECT_THAT(With([](HostFacts& host) {
                host.defects = {{"gpu-pcie", "error", "0000:5b:00.0", "it is slow", "drain"}};
              }),
              ElementsAre("topology error node1: 0000:5b:00.0: it is slow [gpu-pcie]"));
  EXPECT_THAT(With([](HostFacts& host) { host.gpus = 7; }),
              ElementsAre("topology warning node1: 7 GPUs, and node0 has 0"));
}

}  // namespace
}  // namespace ringlet::doctor
