// Commands of a doctor to the agent of a host. Each is one line of JSON. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tool/doctor/probe_client.hpp"

namespace ringlet::cli {

struct AgentCommand {
  enum class Order : std::uint8_t {
    kLook,     ///< start to answer probes with this token; the answer is HostFacts
    kReach,    ///< connect to all targets at once; the answer is a list of PairFacts
    kMeasure,  ///< as kReach, but one target after the other, with measurements
    kClock,    ///< the answer is a ClockAnswer
    kEnd,
  };
  Order kind = Order::kEnd;
  Secret token{};
  std::vector<ProbeTarget> targets = {};
  std::uint64_t timeout_ms = 0;  ///< limit for each probe
};

/// Returns the command as a line without a newline.
std::string ToLine(const AgentCommand& command);
/// Errors  kProtocol  describes the mistake
Result<AgentCommand> ParseAgentCommand(std::string_view line);

std::string ClockAnswer(std::uint64_t unix_ns);
/// Errors  kProtocol
Result<std::uint64_t> ParseClockAnswer(std::string_view line);

/// FailureAnswer returns the answer of an agent that cannot execute a command. FailureIn returns
/// the message of such an answer, and an empty string for other lines.
std::string FailureAnswer(const Error& error);
std::string FailureIn(std::string_view line);

}  // namespace ringlet::cli
