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

std::vector<std::string> With(const std::function<void(SetFacts&)>& change,
                              std::uint32_t hosts = 3) {
  SetFacts facts = HealthySet(hosts);
  change(facts);
  return Lines(JudgeDifferences(facts));
}

TEST(JudgeDifferences, EqualHostsGiveNoFinding) {
  EXPECT_THAT(With([](SetFacts&) {}), IsEmpty());
  EXPECT_THAT(With([](SetFacts&) {}, 1), IsEmpty());
}

TEST(JudgeDifferences, AHostThatDoesNotAnswerIsAnError) {
  const auto add = [](SetFacts& facts) { facts.silent = {{"node9", "it did not answer"}}; };
  EXPECT_THAT(With(add), ElementsAre("hosts error node9: it did not answer"));
  EXPECT_THAT(With(add, 0), ElementsAre("hosts error node9: it did not answer"));
}

TEST(JudgeDifferences, NamesTheHostsInTheMinority) {
  EXPECT_THAT(With([](SetFacts& facts) { facts.hosts[1].interfaces[1].mtu_bytes = 1500; }),
              ElementsAre("mtu warning node1: the MTU of the first interface is 1500; 9000 on "
                          "node0, node2"));
  EXPECT_THAT(With([](SetFacts& facts) { facts.hosts[2].kernel = "6.2.0"; }),
              ElementsAre("software note node2: Linux 6.2.0; 6.1.0 on node0, node1"));
  EXPECT_THAT(With([](SetFacts& facts) { facts.hosts[2].ringlet = "ringlet 0.2.0"; }),
              ElementsAre(StartsWith("software error node2")));
  EXPECT_THAT(With(
                  [](SetFacts& facts) {
                    for (const std::size_t host : {3u, 4u, 5u, 6u, 7u})
                      facts.hosts[host].libc = "2.31";
                  },
                  20),
              ElementsAre("software note node3, node4, node5, node6 and 1 more: glibc 2.31; 2.36 "
                          "on 15 hosts"));
}

TEST(JudgeDifferences, ComparesSpeedsOfHardwareInterfacesOnly) {
  EXPECT_THAT(With([](SetFacts& facts) { facts.hosts[1].interfaces[1].mbit_per_s = 1000; }),
              ElementsAre(StartsWith("interfaces warning node1: the first interface has 1000 "
                                     "Mbit/s; 100000 Mbit/s on")));
  EXPECT_THAT(With([](SetFacts& facts) {
                facts.hosts[1].interfaces[1].mbit_per_s = 1000;
                facts.hosts[1].interfaces[1].hardware = false;
              }),
              IsEmpty());
}

TEST(JudgeDifferences, AHostWithOnlyLoopbackIsAnError) {
  EXPECT_THAT(With([](SetFacts& facts) { facts.hosts[1].interfaces[1].place.reset(); }),
              ElementsAre("interfaces error node1: no interface reaches other hosts"));
  EXPECT_THAT(With([](SetFacts& facts) {
                facts.hosts[1].interfaces[1].addresses = {"127.0.0.1", "::1"};
              }),
              ElementsAre("interfaces error node1: no interface reaches other hosts"));
}

TEST(JudgeDifferences, ACureNamesTheVariableThatIsSetOnTheHost) {
  HostFacts host;
  EXPECT_EQ(InterfaceVariableOf(host), "RINGLET_SOCKET_IFNAME");
  host.settings["RINGLET_SOCKET_IFNAME"] = {.value = "eth0", .from = "NCCL_SOCKET_IFNAME"};
  EXPECT_EQ(InterfaceVariableOf(host), "NCCL_SOCKET_IFNAME");
}

TEST(JudgeDifferences, AHostNameOnLoopbackIsAWarningAmongSeveralHosts) {
  const auto loopback = [](SetFacts& facts) {
    facts.hosts[0].name = {.host_name = "node0", .addresses = {"127.0.1.1"}, .loopback = true};
  };
  EXPECT_THAT(With(loopback),
              ElementsAre("names warning node0: its name node0 resolves to loopback, 127.0.1.1"));
  EXPECT_THAT(With(loopback, 1), IsEmpty());
  EXPECT_THAT(With([](SetFacts& facts) {
                facts.hosts[0].name = {.host_name = "node0", .failure = "unknown"};
              }),
              ElementsAre("names note node0: its name node0 does not resolve: unknown"));
}

TEST(JudgeDifferences, TheVerdictOfASettingDependsOnItsEffect) {
  const auto set = [](const std::string& name, bool must_agree) {
    return With([&](SetFacts& facts) { facts.hosts[1].settings[name] = {"7", must_agree}; });
  };
  EXPECT_THAT(set("RINGLET_X", true),
              ElementsAre("settings error node1: RINGLET_X 7; it is not set on node0, node2"));
  EXPECT_THAT(set("NCCL_X", false), ElementsAre(StartsWith("settings warning node1: NCCL_X 7")));
  EXPECT_THAT(set("NCCL_SOCKET_IFNAME", false), ElementsAre(StartsWith("settings note node1")));
  EXPECT_THAT(With([](SetFacts& facts) { facts.hosts[1].settings_failure = "X makes no sense"; }),
              ElementsAre("settings error node1: X makes no sense"));
  EXPECT_THAT(With([](SetFacts& facts) {
                for (HostFacts& host : facts.hosts) host.settings["NCCL_X"] = {"7", false};
              }),
              IsEmpty());
}

TEST(JudgeDifferences, ReportsAClockSkewBeyondItsUncertainty) {
  const auto skew = [](std::int64_t ms, std::uint64_t uncertain_ms) {
    return With([=](SetFacts& facts) {
      facts.hosts[2].clock_ahead_ns = ms * 1'000'000;
      facts.hosts[2].clock_uncertainty_ns = uncertain_ms * 1'000'000;
    });
  };
  EXPECT_THAT(skew(99, 0), IsEmpty());
  EXPECT_THAT(skew(5000, 4950), IsEmpty());
  EXPECT_THAT(
      skew(-150, 1),
      ElementsAre("clock note node2: its clock is 150 ms behind the others, to within 1 ms"));
  EXPECT_THAT(
      skew(2000, 1),
      ElementsAre("clock warning node2: its clock is 2000 ms ahead of the others, to within 1 ms"));
}

}  // namespace
}  // namespace ringlet::doctor
