#include "tool/doctor/doctor.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/value/text.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(DoctorTest, RefusesInvalidCommandLines) {
  EXPECT_EQ(RunCommand({"doctor", "--hosts", "a b"}).status, 2);
  EXPECT_EQ(RunCommand({"doctor", "--hosts", "-x"}).status, 2);
  EXPECT_EQ(RunCommand({"doctor", "--hosts", ""}).status, 2) << "not this host";
  EXPECT_EQ(RunCommand({"doctor", "--hostfile", "no/such/file"}).status, 2);
  EXPECT_EQ(RunCommand({"doctor", "--hostfile", ""}).errors,
            "ringlet doctor: --hostfile does not name a file\n");
  EXPECT_EQ(RunCommand({"doctor", "--hosts", "a", "--hostfile", "b"}).status, 2);
  EXPECT_EQ(RunCommand({"doctor", "--json", "--prometheus"}).status, 2);
  EXPECT_EQ(RunCommand({"doctor", "--timeout", "0"}).status, 2);
  EXPECT_EQ(RunCommand({"doctor", "--fail-on", "ok"}).status, 2);
  EXPECT_EQ(RunCommand({"doctor", "--hosts", "a", "--tool", "'"}).status, 2);
  EXPECT_EQ(RunCommand({"doctor", "--hosts", "a", "--ssh", "no-such-program"}).status, 2);
}

TEST(DoctorTest, HostsMayBePositionalArguments) {
  EXPECT_THAT(RunCommand({"doctor", "a,b", "--ssh", "false"}).output,
              HasSubstr("2 hosts: 2 errors"));
  EXPECT_EQ(RunCommand({"doctor", "a b"}).status, 2);
}

TEST(DoctorTest, UnreachableHostsAreFindings) {
  const ToolRun ran = RunCommand({"doctor", "--hosts", "a,b", "--ssh", "false"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, AllOf(StartsWith("error    hosts        a: it ended without any output"),
                                HasSubstr("2 hosts: 2 errors\n")));
  EXPECT_EQ(RunCommand({"doctor", "--hosts", "a", "--ssh", "false", "--json"}).status, 1);
}

TEST(DoctorTest, ExaminesThisHost) {
  const ToolRun ran = RunCommand({"doctor", "--hosts", "localhost", "--json"});
  EXPECT_LE(ran.status, 1) << ran.errors;
  std::set<std::string> checks;
  bool has_facts = false;
  for (const std::string_view line : Split(Trim(ran.output), '\n')) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(json.is_object()) << line;
    if (json.contains("check")) checks.insert(json["check"].get<std::string>());
    if (json.contains("facts")) has_facts = json["facts"]["host"] == "localhost";
  }
  EXPECT_EQ(checks.size(), 19u);
  EXPECT_TRUE(has_facts);
}

}  // namespace
}  // namespace ringlet::cli
