// One rank for tests that break things: a process that says on standard output what it does.
//
//   fault_rank id                     makes an id and hosts its root until standard input ends
//                                     -> ID text, ADDRESS host:port (each), WAITING
//   fault_rank spoil ID               the same id with another secret           -> ID text
//   fault_rank reroute ID ADDRESS     the same id with another root             -> ID text
//   fault_rank join ID RANK SIZE [OPERATIONS [COUNT [KIND]]]
//       forms the communicator, reduces (or what KIND says, as all_gather), leaves
//                                               -> JOINED links, OP 1, OP 2, OP 3, DONE, GONE
//       or, when something fails                -> ERROR code: message, GONE
//       and then waits until standard input ends
//
// Settings come from the environment, as for everybody. Exits with 0 unless there was an error.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "comm/establish.hpp"
#include "os/env.hpp"
#include "rendezvous/invitation.hpp"

namespace ringlet {
namespace {

constexpr std::uint64_t kOperationsShown = 3;

void Say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void AwaitEndOfInput() {
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

Status HostId() {
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::Start(os::ReadEnvironment()));
  RINGLET_TRY_ASSIGN(const UniqueId id, comm::CreateUniqueId(process));
  RINGLET_TRY_ASSIGN(const auto invitation, rendezvous::Decode(id));
  Say("ID " + rendezvous::ToText(id));
  for (const Address& root : invitation.roots) Say("ADDRESS " + ToString(root));
  Say("WAITING");
  AwaitEndOfInput();
  return Ok();
}

Status Spoil(const std::string& text) {
  RINGLET_TRY_ASSIGN(const UniqueId id, rendezvous::FromText(text));
  RINGLET_TRY_ASSIGN(auto invitation, rendezvous::Decode(id));
  invitation.credentials.secret[0] ^= std::byte{1};
  RINGLET_TRY_ASSIGN(const UniqueId spoilt, rendezvous::Encode(invitation));
  Say("ID " + rendezvous::ToText(spoilt));
  return Ok();
}

Status Reroute(const std::string& text, const std::string& address) {
  RINGLET_TRY_ASSIGN(const UniqueId id, rendezvous::FromText(text));
  RINGLET_TRY_ASSIGN(auto invitation, rendezvous::Decode(id));
  RINGLET_TRY_ASSIGN(const Address root, ParseAddress(address));
  invitation.roots = {root};
  RINGLET_TRY_ASSIGN(const UniqueId rerouted, rendezvous::Encode(invitation));
  Say("ID " + rendezvous::ToText(rerouted));
  return Ok();
}

struct Part {
  std::string id;
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint64_t operations = 0;
  std::uint64_t count = 0;
  comm::CallKind kind = comm::CallKind::kAllReduce;
};

/// Roots take turns, so that nobody only sends.
comm::Call CallOf(const comm::Communicator& communicator, const Part& part, std::uint64_t operation,
                  std::vector<float>& input, std::vector<float>& output) {
  comm::Call call{.kind = part.kind,
                  .count = part.count,
                  .op = ReduceOp::kMax,
                  .root = Rank{static_cast<std::uint32_t>(operation % part.size)}};
  if (part.kind == comm::CallKind::kBarrier) return call;
  input.resize(communicator.InputCount(call), static_cast<float>(part.rank));
  output.resize(communicator.OutputCount(call));
  call.input = std::as_bytes(std::span(input));
  call.output = std::as_writable_bytes(std::span(output));
  return call;
}

Status TakePart(const std::shared_ptr<comm::Process>& process, const Part& part) {
  RINGLET_TRY_ASSIGN(const UniqueId id, rendezvous::FromText(part.id));
  const comm::Config config{.id = id,
                            .rank = part.rank,
                            .size = part.size,
                            .device = part.rank,
                            .init_timeout = {},
                            .timeout = {}};
  RINGLET_TRY_ASSIGN(const auto communicator, comm::Establish(process, config, {}));
  Say("JOINED " + communicator->links().Summary());
  std::vector<float> input, output;
  for (std::uint64_t operation = 1; operation <= part.operations; ++operation) {
    RINGLET_TRY(communicator->Run(CallOf(*communicator, part, operation, input, output)));
    if (operation <= kOperationsShown) Say(fmt::format("OP {}", operation));
  }
  Say("DONE");
  return Ok();
}

Status Join(const std::vector<std::string>& words) {
  const auto number = [&](std::size_t i, std::uint64_t otherwise) {
    return i < words.size() ? ParseDecimal(words[i]).value_or(otherwise) : otherwise;
  };
  const Part part{.id = words[1],
                  .rank = static_cast<std::uint32_t>(number(2, 0)),
                  .size = static_cast<std::uint32_t>(number(3, 0)),
                  .operations = number(4, 0),
                  .count = number(5, 1024),
                  .kind = collective::CallKindNamed(words.size() > 6 ? words[6] : "all_reduce")
                              .value_or(comm::CallKind::kAllReduce)};
  RINGLET_TRY_ASSIGN(const auto process, comm::Process::Start(os::ReadEnvironment()));
  const Status status = TakePart(process, part);
  if (!status.ok())
    Say(fmt::format("ERROR {}: {}", CodeName(status.error().code), status.error().message));
  Say("GONE");
  AwaitEndOfInput();
  return status;
}

Status Run(const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "id") return HostId();
  if (words.size() == 2 && words[0] == "spoil") return Spoil(words[1]);
  if (words.size() == 3 && words[0] == "reroute") return Reroute(words[1], words[2]);
  if (words.size() >= 4 && words[0] == "join") return Join(words);
  return Error{Code::kInvalidArgument, "see the head of fault_rank.cpp"};
}

}  // namespace
}  // namespace ringlet

int main(int argument_count, char** arguments) {
  const auto status = ringlet::Run({arguments + 1, arguments + argument_count});
  if (status.ok()) return 0;
  fmt::print(stderr, "fault_rank: {}\n", status.error().message);
  return 1;
}
