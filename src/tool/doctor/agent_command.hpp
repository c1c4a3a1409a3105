// The orders of a doctor to the agent of a host, a line of JSON each. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tool/doctor/probe_client.hpp"

namespace ringlet::cli {

struct AgentCommand {
  enum class Order : std::uint8_t {
    kLook,     ///< begin to answer probes with this token; the answer are HostFacts
    kReach,    ///< connect to all targets; the answer is a list of PairFacts
    kMeasure,  ///< the same, one target after the other
    kClock,    ///< the answer is ClockAnswer
    kEnd,
  };
  Order kind = Order::kEnd;
  Secret token{};
  std::vector<ProbeTarget> targets = {};
  std::uint64_t timeout_ms = 0;  ///< of each probe
};

/// Without a newline.
std::string ToLine(const AgentCommand& command);
/// Errors  kProtocol  says what is wrong
Result<AgentCommand> ParseAgentCommand(std::string_view line);

std::string ClockAnswer(std::uint64_t unix_ns);
/// Errors  kProtocol
Result<std::uint64_t> ParseClockAnswer(std::string_view line);

/// The answer of an agent that cannot do it; and what such an answer says, empty for others.
std::string FailureAnswer(const Error& error);
std::string FailureIn(std::string_view line);

}  // namespace ringlet::cli
