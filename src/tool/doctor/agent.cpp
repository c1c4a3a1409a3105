#include "tool/doctor/agent.hpp"

#include <memory>

#include "os/clock.hpp"
#include "os/error.hpp"
#include "tool/doctor/agent_command.hpp"
#include "tool/doctor/agent_line.hpp"
#include "tool/doctor/host_probes.hpp"
#include "tool/doctor/interface_probe.hpp"

namespace ringlet::cli {
namespace {

// An agent is idle while others measure: log2(hosts) rounds, and repetitions for many hosts.
constexpr Instant kAgentIdle = std::chrono::minutes(5);
constexpr Instant kAnswerWait = std::chrono::seconds(30);

class Agent {
 public:
  explicit Agent(const EnvMap& environment) : environment_(environment) {}

  /// Returns the answer to a command, in one line.
  std::string Do(const AgentCommand& command) {
    options_.timeout = std::chrono::milliseconds(command.timeout_ms);
    switch (command.kind) {
      case AgentCommand::Order::kLook: return Look(command.token);
      case AgentCommand::Order::kReach: return ToJson(ProbeAll(command.targets, options_));
      case AgentCommand::Order::kMeasure: {
        std::vector<doctor::PairFacts> pairs;
        for (const ProbeTarget& target : command.targets)
          pairs.push_back(MeasurePair(target, options_));
        return ToJson(pairs);
      }
      case AgentCommand::Order::kClock:
        return ClockAnswer(static_cast<std::uint64_t>(os::UnixTime().count()));
      case AgentCommand::Order::kEnd: break;
    }
    return "";
  }

 private:
  std::string Look(const Secret& token) {
    options_.token = token;
    doctor::HostFacts facts = ProbeHost(environment_);
    auto server = ProbeServer::Start(AdvertisedAddresses(environment_), token);
    if (server.ok()) {
      server_ = *std::move(server);
      for (const Address& endpoint : server_->endpoints())
        facts.endpoints.push_back(ToString(endpoint));
    } else if (facts.ports.failure.empty() && server.error().os_errno != 0) {
      facts.ports.failure = os::ErrnoText(server.error().os_errno);
    }
    return ToJson(facts);
  }

  const EnvMap& environment_;
  ProbeOptions options_;
  std::unique_ptr<ProbeServer> server_;
};

}  // namespace

Status ServeDoctor(int in, int out, const EnvMap& environment) {
  Agent agent(environment);
  LineReader reader;
  while (true) {
    RINGLET_TRY_ASSIGN(const std::optional<std::string> line,
                       reader.Await(in, os::Now() + kAgentIdle));
    if (!line) return Ok();  // the doctor closed the connection
    const Result<AgentCommand> command = ParseAgentCommand(*line);
    if (!command.ok()) return command.error();
    if (command->kind == AgentCommand::Order::kEnd) return Ok();
    RINGLET_TRY(WriteLine(out, agent.Do(*command), os::Now() + kAnswerWait));
  }
}

}  // namespace ringlet::cli
