#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "doctor/facts_for_test.hpp"
#include "doctor/judge.hpp"

namespace ringlet::doctor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::uint64_t kMega = 1'000'000;

std::vector<std::string> With(std::uint32_t hosts, const std::function<void(SetFacts&)>& change) {
  SetFacts facts = HealthySet(hosts);
  change(facts);
  return Lines(JudgePairs(facts));
}

TEST(JudgePairs, HealthyPairsGiveNoFinding) {
  for (const std::uint32_t hosts : {0u, 1u, 2u, 3u, 8u}) {
    EXPECT_THAT(With(hosts, [](SetFacts&) {}), IsEmpty());
    EXPECT_THAT(DoubtfulPairs(HealthySet(hosts)), IsEmpty());
  }
}

TEST(JudgePairs, IgnoresNoiseOfTheMeasurements) {
  EXPECT_THAT(With(8,
                   [](SetFacts& facts) {
                     for (std::size_t i = 0; i < facts.measured.size(); ++i) {
                       facts.measured[i].bytes_per_s = (700 + 600 * (i * 7 % 11) / 10) * kMega;
                       facts.measured[i].latency_ns = 20'000 + 9000 * (i * 5 % 13);
                     }
                   }),
              IsEmpty());
}

TEST(JudgePairs, NamesTheCauseOfAFailedConnection) {
  const auto fail = [](Contact reach) {
    return With(2, [=](SetFacts& facts) {
      facts.reached[0].reach = reach;
      facts.reached[0].why = "so";
    });
  };
  EXPECT_THAT(fail(Contact::kRefused),
              ElementsAre("reach error node0 to node1: a connection to 10.0.0.2:40000 is refused "
                          "although the port listens: a firewall rejects it"));
  EXPECT_THAT(fail(Contact::kTimeout),
              ElementsAre(testing::HasSubstr("a firewall drops its packets")));
  EXPECT_THAT(fail(Contact::kUnreachable),
              ElementsAre(testing::HasSubstr("fails for lack of a route (so)")));
  EXPECT_THAT(fail(Contact::kNoPort), ElementsAre(testing::HasSubstr("no local port is free")));
  EXPECT_THAT(fail(Contact::kStranger), ElementsAre(testing::HasSubstr("failed: so")));
}

TEST(JudgePairs, ReportsPacketsThatThePathDrops) {
  const auto path = [](std::uint32_t passed, std::uint32_t told, bool stalled) {
    return With(2, [=](SetFacts& facts) {
      facts.measured[0].passed_bytes = passed;
      facts.measured[0].path_mtu_bytes = told;
      facts.measured[0].stalled = stalled;
    });
  };
  EXPECT_THAT(
      path(1500, 0, false),
      ElementsAre("path-mtu warning node0 to node1: packets of 1500 bytes pass, but packets of "
                  "9000 bytes, the MTU of the interface, do not; no router reports it"));
  EXPECT_THAT(path(1500, 1500, false), ElementsAre(StartsWith("path-mtu note")));
  EXPECT_THAT(path(1500, 0, true), ElementsAre(StartsWith("path-mtu error")));
  EXPECT_THAT(path(0, 0, true), ElementsAre("path-mtu error node0 to node1: small messages pass, "
                                            "but a connection that carries much data stalls"));
  EXPECT_THAT(path(0, 0, false), IsEmpty());  // a firewall that blocks UDP
}

TEST(JudgePairs, NamesASlowSender) {
  EXPECT_THAT(With(4,
                   [](SetFacts& facts) {
                     for (PairFacts& pair : facts.measured)
                       if (pair.from == 2) pair.bytes_per_s = 100 * kMega;
                   }),
              ElementsAre("rate warning node2: it sends at most 100.0 MB/s, with any partner; the "
                          "median of the hosts is 1.0 GB/s"));
}

TEST(JudgePairs, AmongUnequalHostsNamesOnlyAVerySlowOne) {
  const auto last = [](std::uint64_t mega) {
    return With(4, [=](SetFacts& facts) {
      for (PairFacts& pair : facts.measured)
        pair.bytes_per_s = (pair.from == 3 ? mega : 200 + 200 * pair.from) * kMega;
    });
  };
  EXPECT_THAT(last(101), IsEmpty());
  EXPECT_THAT(last(99), ElementsAre(StartsWith("rate warning node3: it sends at most 99.0 MB/s")));
}

TEST(JudgePairs, NamesASlowReceiver) {
  EXPECT_THAT(With(3,
                   [](SetFacts& facts) {
                     for (PairFacts& pair : facts.measured)
                       if (pair.to == 1) pair.bytes_per_s = 300 * kMega;
                   }),
              ElementsAre(StartsWith("rate warning node1: it receives at most 300.0 MB/s")));
}

TEST(JudgePairs, NamesASlowPair) {
  EXPECT_THAT(With(4, [](SetFacts& facts) { PairOf(facts, 1, 3).bytes_per_s = 10 * kMega; }),
              ElementsAre("rate warning node1 to node3: 10.0 MB/s, although both hosts reach 1.0 "
                          "GB/s with others"));
}

TEST(JudgePairs, ComparesBothDirectionsBetweenTwoHosts) {
  const auto set = [](std::uint64_t mega) {
    return With(2, [=](SetFacts& facts) { PairOf(facts, 0, 1).bytes_per_s = mega * kMega; });
  };
  EXPECT_THAT(set(500), IsEmpty());
  EXPECT_THAT(
      set(499),
      ElementsAre(
          "rate warning node0 to node1: 499.0 MB/s in this direction, 1.0 GB/s in the other"));
}

TEST(JudgePairs, NamesTheSlowNicOfAHostWithTwo) {
  EXPECT_THAT(With(3,
                   [](SetFacts& facts) {
                     for (HostFacts& host : facts.hosts) {
                       host.endpoints.push_back("10.1.0.1:40000");
                       host.interfaces.push_back({.name = "eth1", .place = 1});
                     }
                     const std::vector<PairFacts> first = facts.measured;
                     for (PairFacts pair : first) {
                       pair.nic = 1;
                       pair.bytes_per_s = (pair.from == 0 ? 100 : 4000) * kMega;
                       facts.measured.push_back(pair);
                     }
                   }),
              ElementsAre(StartsWith("rate warning node0: it sends at most 100.0 MB/s by eth1")));
}

TEST(JudgePairs, NamesAHostWithHighLatency) {
  const auto late = [](std::uint64_t latency_ns) {
    return With(4, [=](SetFacts& facts) {
      for (PairFacts& pair : facts.measured)
        if (pair.from == 3 || pair.to == 3) pair.latency_ns = latency_ns;
    });
  };
  EXPECT_THAT(late(200'000), IsEmpty());
  EXPECT_THAT(late(240'000), ElementsAre("latency warning node3: the shortest round trip takes 240 "
                                         "us; the median over the hosts is 30 us"));
}

TEST(DoubtfulPairs, ContainPairsWithAFinding) {
  SetFacts facts = HealthySet(4);
  PairOf(facts, 1, 3).bytes_per_s = 10 * kMega;
  PairOf(facts, 0, 2).latency_ns = 500'000;
  PairOf(facts, 2, 0).passed_bytes = 1500;
  PairOf(facts, 3, 0).stalled = true;
  PairOf(facts, 2, 1).reach = Contact::kTimeout;
  EXPECT_THAT(DoubtfulPairs(facts), SizeIs(4));
}

TEST(BetterOf, CombinesTheBestValuesOfTwoMeasurements) {
  PairFacts a = HealthySet(2).measured[0], b = a;
  a.bytes_per_s = 5;
  a.stalled = true;
  a.passed_bytes = 1500;
  b.latency_ns = 90'000;
  const PairFacts better = BetterOf(a, b);
  EXPECT_EQ(better.bytes_per_s, b.bytes_per_s);
  EXPECT_EQ(better.latency_ns, a.latency_ns);
  EXPECT_FALSE(better.stalled);
  EXPECT_EQ(better.passed_bytes, 9000u);
  b.reach = Contact::kTimeout;
  EXPECT_EQ(BetterOf(a, b).bytes_per_s, 5u);
  EXPECT_EQ(BetterOf(b, a).bytes_per_s, 5u);
}

TEST(PartnersOf, EachHostReceivesFromOnePartnerPerRound) {
  EXPECT_THAT(PartnersOf(0, 1), IsEmpty());
  EXPECT_THAT(PartnersOf(2, 5), ElementsAre(3u, 4u, 1u));
  for (const std::uint32_t hosts : {2u, 5u, 8u, 33u})
    for (std::size_t round = 0; round < PartnersOf(0, hosts).size(); ++round) {
      std::set<std::uint32_t> receivers;
      for (std::uint32_t host = 0; host < hosts; ++host) {
        EXPECT_NE(PartnersOf(host, hosts)[round], host);
        receivers.insert(PartnersOf(host, hosts)[round]);
      }
      EXPECT_THAT(receivers, SizeIs(hosts));
    }
}

TEST(Judge, RunsAllChecks) {
  EXPECT_THAT(Judge(HealthySet(2)), SizeIs(19));
  EXPECT_EQ(WorstOf(Judge(HealthySet(4))), FindingVerdict::kOk);
}

}  // namespace
}  // namespace ringlet::doctor
