#include "doctor/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/facts_for_test.hpp"

namespace ringlet::doctor {
namespace {

using testing::HasSubstr;

std::string WhyNot(std::string text, const std::string& part, const std::string& instead) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part << " in " << text;
  const auto parsed = ParseHostFacts(text.replace(at, part.size(), instead));
  return parsed.ok() ? "" : parsed.error().message;
}

HostFacts Unusual() {
  HostFacts host = HealthyHost("node0", 1);
  host.name.loopback = true;
  host.interfaces[1].place.reset();
  host.shm.failure = "read only";
  host.limits = {.locked_bytes = 1, .descriptors = 2, .processes = 3, .tasks = 4, .tasks_used = 5};
  host.peer_memory = {.permitted = false, .why = "not permitted", .ptrace_scope = 2};
  host.huge_pages = {.total = 1, .free = 2, .bytes_each = 3, .transparent = "never"};
  host.cpus.quota_percent = 150;
  host.memory.limit_bytes = 6;
  host.memory.used_bytes = 7;
  host.ports.failure = "in use";
  host.settings = {{"NCCL_X", {.value = "1", .must_agree = true, .from = "NCCL_X in a file"}}};
  host.settings_failure = "wrong";
  host.rdma = true;
  host.gpus = 8;
  host.defects = {{.rule = "a", .severity = "note", .where = "b", .reason = "c", .cure = "d"}};
  host.ranks = 4;
  return host;
}

TEST(HostFacts, RoundTripThroughJson) {
  for (const HostFacts& host : {HealthyHost("node0", 1), Unusual()}) {
    const std::string line = ToJson(host);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto parsed = ParseHostFacts(line);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(ToJson(*parsed), line);
  }
}

TEST(HostFacts, ParsingRejectsInvalidFields) {
  const std::string text = ToJson(Unusual());
  EXPECT_THAT(WhyNot(text, "\"version\":1", "\"version\":2"), HasSubstr("version is not 1"));
  EXPECT_THAT(WhyNot(text, "\"first\":32768", "\"first\":70000"),
              HasSubstr("first is not a number"));
  EXPECT_THAT(WhyNot(text, "\"permitted\":false", "\"permitted\":3"), HasSubstr("permitted"));
  EXPECT_THAT(WhyNot(text, "\"tasks\":4", "\"tasks\":-4"), HasSubstr("tasks is not a number"));
  EXPECT_THAT(WhyNot(text, "\"ranks\":4", "\"ranks\":4000000000"), HasSubstr("ranks"));
  EXPECT_THAT(WhyNot(text, "\"read only\"", '"' + std::string(5000, 'x') + '"'),
              HasSubstr("failure is not a text of at most 4096 bytes"));
  for (const std::string& nonsense : {std::string(), std::string("Welcome"), std::string("[]"),
                                      std::string(100'000, '['), std::string("{\"version\":1}")})
    EXPECT_FALSE(ParseHostFacts(nonsense).ok());
}

TEST(HostFacts, ParsingAcceptsBytesThatAreNotUtf8) {
  HostFacts host = HealthyHost("node0", 1);
  host.settings["NCCL_X"].value = "\xff\xfe";
  EXPECT_TRUE(ParseHostFacts(ToJson(host)).ok());
}

TEST(PairFacts, RoundTripThroughJson) {
  std::vector<PairFacts> pairs = HealthySet(3).measured;
  for (int i = 0; i < 6; ++i) pairs[static_cast<std::size_t>(i)].reach = static_cast<Contact>(i);
  pairs[0].nic = 3;
  pairs[0].why = "so";
  pairs[0].stalled = true;
  pairs[0].path_mtu_bytes = 1400;
  const auto parsed = ParsePairs(ToJson(pairs), 3);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(ToJson(*parsed), ToJson(pairs));
}

TEST(PairFacts, ParsingRejectsAHostNumberOutOfRange) {
  const std::string text = ToJson(HealthySet(3).measured);
  EXPECT_TRUE(ParsePairs(text, 3).ok());
  const auto parsed = ParsePairs(text, 2);
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.error().message, HasSubstr("a pair names host 2, but only 2 hosts exist"));
  EXPECT_FALSE(ParsePairs("{\"pairs\":[{\"reach\":\"perhaps\"}]}", 3).ok());
  EXPECT_FALSE(ParsePairs("nonsense", 3).ok());
}

}  // namespace
}  // namespace ringlet::doctor
