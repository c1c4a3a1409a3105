#include "tool/doctor/agent_command.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

TEST(AgentCommand, RoundTripsThroughItsLine) {
  AgentCommand look{.kind = AgentCommand::Order::kLook};
  look.token[0] = std::byte{0xab};
  look.token[31] = std::byte{1};
  const AgentCommand reach{
      .kind = AgentCommand::Order::kReach,
      .targets = {{.from = 1, .to = 2, .nic = 3, .address = Address::Ipv4(10, 0, 0, 1, 4000)}},
      .timeout_ms = 3000};
  for (const AgentCommand& command :
       {look, reach, AgentCommand{.kind = AgentCommand::Order::kClock}, AgentCommand{}}) {
    const auto parsed = ParseAgentCommand(ToLine(command));
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(parsed->kind, command.kind);
    EXPECT_EQ(parsed->token, command.token);
    EXPECT_EQ(ToLine(*parsed), ToLine(command));
  }
}

TEST(AgentCommand, RefusesInvalidCommands) {
  for (
      const std::string_view text :
      {"", "look", "{}", R"({"do":"format"})", R"({"do":"look"})", R"({"do":"look","token":"ab"})",
       R"({"do":"reach","timeout_ms":3000})", R"({"do":"reach","timeout_ms":600001,"targets":[]})",
       R"({"do":"reach","timeout_ms":1,"targets":[{"from":1,"to":2,"nic":0,"address":"x"}]})",
       R"({"do":"reach","timeout_ms":1,"targets":[{"from":1,"to":2,"nic":0,"address":"unix:@"}]})"})
    EXPECT_FALSE(ParseAgentCommand(text).ok()) << text;
}

TEST(AgentAnswer, ParsesTimesAndFailures) {
  EXPECT_EQ(*ParseClockAnswer(ClockAnswer(1'700'000'000'000'000'000)), 1'700'000'000'000'000'000u);
  EXPECT_FALSE(ParseClockAnswer("{}").ok());
  EXPECT_FALSE(ParseClockAnswer("9").ok());
  EXPECT_EQ(FailureIn(FailureAnswer({Code::kSystem, "no memory"})), "no memory");
  EXPECT_EQ(FailureIn("{\"failure\":"), "it failed");
  EXPECT_EQ(FailureIn(ClockAnswer(1)), "");
}

}  // namespace
}  // namespace ringlet::cli
