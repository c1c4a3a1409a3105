#include "tool/doctor/doctor_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "doctor/facts_for_test.hpp"
#include "doctor/judge.hpp"

namespace ringlet::cli {
namespace {

using doctor::SetFacts;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

SetFacts Sick() {
  SetFacts facts = doctor::HealthySet(3);
  facts.hosts[1].peer_memory.permitted = false;
  facts.hosts[2].shm.bytes = 1;
  facts.silent = {{"node9\"", "it did not answer in time"}};
  return facts;
}

TEST(DoctorReport, FindingsPrecedePassedChecksWorstFirst) {
  const SetFacts facts = Sick();
  const std::string text = DoctorText(doctor::Judge(facts), facts, false);
  EXPECT_THAT(text, StartsWith("error    hosts        node9\": it did not answer in time\n"
                               "                      costs: a job with this host does not start\n"
                               "                      to do: "));
  EXPECT_LT(text.find("warning  shm "), text.find("note     peer-memory "));
  EXPECT_LT(text.find("note     peer-memory "), text.find("ok       reach "));
  EXPECT_THAT(text, testing::EndsWith("4 hosts: 1 error, 1 warning, 1 note\n"));
}

TEST(DoctorReport, AHealthySetHasOneLinePerCheck) {
  const SetFacts facts = doctor::HealthySet(2);
  const std::string text = DoctorText(doctor::Judge(facts), facts, false);
  EXPECT_EQ(Split(text, '\n').size(), doctor::Judge(facts).size() + 2);
  EXPECT_THAT(text, testing::EndsWith("2 hosts: nothing found\n"));
  EXPECT_THAT(
      DoctorText(doctor::Judge(facts), facts, true),
      AllOf(HasSubstr("\nnode0\n"), HasSubstr("eth0"),
            HasSubstr("node0 to node1 (10.0.0.2:40000): 30 us, 1.0 GB/s, packets of 9000")));
}

TEST(DoctorReport, ShortensManyFindingsOfACheck) {
  SetFacts facts = doctor::HealthySet(12);
  for (doctor::HostFacts& host : facts.hosts) host.shm.bytes = 1;
  const std::string text = DoctorText(doctor::Judge(facts), facts, false);
  EXPECT_THAT(text, HasSubstr("shm          and 4 more; --all shows them\n"));
  EXPECT_THAT(DoctorText(doctor::Judge(facts), facts, true), Not(HasSubstr("more; --all")));
}

TEST(DoctorReport, EachLineOfJsonIsAnObject) {
  const SetFacts facts = Sick();
  std::size_t findings = 0, hosts = 0, pairs = 0;
  const std::string text = DoctorJson(doctor::Judge(facts), facts);
  for (const std::string_view line : Split(Trim(text), '\n')) {
    const auto json = nlohmann::json::parse(line);
    ASSERT_TRUE(json.is_object());
    if (json.contains("reason")) {
      ++findings;
      for (const char* const key : {"check", "verdict", "host", "cost", "cure", "evidence"})
        EXPECT_TRUE(json.contains(key)) << key;
    }
    hosts += json.contains("facts") ? 1u : 0u;
    pairs += json.contains("latency_ns") ? 1u : 0u;
  }
  EXPECT_EQ(findings, 3u);
  EXPECT_EQ(hosts, 3u);
  EXPECT_EQ(pairs, 6u);
}

TEST(DoctorReport, EscapesControlCharactersInTextsOfHosts) {
  SetFacts facts = doctor::HealthySet(2);
  facts.hosts[0].interfaces[1].why = facts.hosts[0].kernel = "\x1b[2J";
  facts.hosts[1].ports.failure = "\x1b]0;x";
  facts.hosts[1].host = "a\nb";
  EXPECT_THAT(DoctorText(doctor::Judge(facts), facts, true),
              AllOf(Not(HasSubstr("\x1b")), HasSubstr("a\\nb: ")));
}

TEST(DoctorReport, MetricsHaveVerdictsFindingsAndFigures) {
  const SetFacts facts = Sick();
  EXPECT_THAT(
      DoctorMetrics(doctor::Judge(facts), facts),
      AllOf(HasSubstr("ringlet_doctor_verdict{check=\"shm\"} 2\n"),
            HasSubstr("ringlet_doctor_verdict{check=\"reach\"} 0\n"),
            HasSubstr(
                "ringlet_doctor_findings{check=\"shm\",host=\"node2\",verdict=\"warning\"} 1\n"),
            HasSubstr("ringlet_doctor_host_answered{host=\"node9\\\"\"} 0\n"),
            HasSubstr("ringlet_doctor_latency_nanoseconds{from=\"node0\",to=\"node1\",nic=\"0\"} "
                      "30000\n")));
}

}  // namespace
}  // namespace ringlet::cli
