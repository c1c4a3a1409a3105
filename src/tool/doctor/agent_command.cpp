#include "tool/doctor/agent_command.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/value/json_object.hpp"

namespace ringlet::cli {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"look", "reach", "measure", "clock", "end"};
constexpr std::size_t kTargetsMax = 65'536;
constexpr std::uint64_t kTimeoutMaxMs = 600'000;

std::string HexOf(const Secret& token) {
  std::string hex;
  for (const std::byte byte : token) hex += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return hex;
}

bool ReadHex(std::string_view hex, Secret& token) {
  constexpr int kBase = 16;
  if (hex.size() != 2 * token.size()) return false;
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::uint8_t byte = 0;
    const char* const at = hex.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, byte, kBase);
    if (error != std::errc() || end != at + 2) return false;
    token[i] = std::byte{byte};
  }
  return true;
}

AgentCommand::Order ReadKind(JsonObject& json) {
  const std::string name = json.Text("do");
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i] == name) return static_cast<AgentCommand::Order>(i);
  json.Refuse("do is not a command of this version");
  return AgentCommand::Order::kEnd;
}

ProbeTarget ReadTarget(JsonObject& json) {
  ProbeTarget target{
      .from = json.Small("from"), .to = json.Small("to"), .nic = json.Small("nic"), .address = {}};
  const auto address = ParseAddress(json.Text("address"));
  if (address.ok() && address->kind != Address::Kind::kUnix)
    target.address = *address;
  else
    json.Refuse("a target lacks an address");
  return target;
}

}  // namespace

std::string ToLine(const AgentCommand& command) {
  Json json{{"do", kKinds[static_cast<std::size_t>(command.kind)]}};
  if (command.kind == AgentCommand::Order::kLook) json["token"] = HexOf(command.token);
  if (command.kind == AgentCommand::Order::kReach ||
      command.kind == AgentCommand::Order::kMeasure) {
    json["timeout_ms"] = command.timeout_ms;
    json["targets"] = Json::array();
    for (const ProbeTarget& target : command.targets)
      json["targets"].push_back({{"from", target.from},
                                 {"to", target.to},
                                 {"nic", target.nic},
                                 {"address", ToString(target.address)}});
  }
  return json.dump();
}

Result<AgentCommand> ParseAgentCommand(std::string_view line) {
  const Error none{Code::kProtocol, "the input is not a command of ringlet doctor"};
  return ReadJson(line, none, [](JsonObject& object) {
    AgentCommand command{.kind = ReadKind(object)};
    if (command.kind == AgentCommand::Order::kLook && !ReadHex(object.Text("token"), command.token))
      object.Refuse("token is not a valid token");
    if (command.kind == AgentCommand::Order::kReach ||
        command.kind == AgentCommand::Order::kMeasure) {
      command.timeout_ms = object.Number("timeout_ms", kTimeoutMaxMs);
      object.ForEach("targets", [&](JsonObject& one) {
        if (command.targets.size() < kTargetsMax) command.targets.push_back(ReadTarget(one));
      });
    }
    return command;
  });
}

std::string ClockAnswer(std::uint64_t unix_ns) {
  return Json{{"unix_ns", unix_ns}}.dump();
}

Result<std::uint64_t> ParseClockAnswer(std::string_view line) {
  return ReadJson(
      line, {Code::kProtocol, "the host's answer contains no time"},
      [](JsonObject& object) { return object.Number("unix_ns", std::uint64_t{1} << 62); });
}

std::string FailureAnswer(const Error& error) {
  return Json{{"failure", error.message}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string FailureIn(std::string_view line) {
  constexpr std::string_view kBegin = "{\"failure\":";
  if (!line.starts_with(kBegin)) return "";
  const auto failure =
      ReadJson(line, {Code::kProtocol, ""}, [](JsonObject& json) { return json.Text("failure"); });
  return failure.ok() && !failure->empty() ? *failure : "it failed";
}

}  // namespace ringlet::cli
