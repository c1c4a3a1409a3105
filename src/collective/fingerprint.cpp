#include "collective/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::collective {
namespace {

constexpr std::uint32_t kFormat = 0x31434c52;  // "RLC1"
constexpr std::size_t kOperations = 5;
constexpr std::array<const char*, kOperations> kOperationNames = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"};

bool Reduces(Operation operation) {
  return operation != Operation::kAllGather && operation != Operation::kBroadcast;
}
bool HasRoot(Operation operation) {
  return operation == Operation::kBroadcast || operation == Operation::kReduce;
}

}  // namespace

std::string ToText(const Fingerprint& fingerprint) {
  std::string text =
      fmt::format("{} of {} {}", kOperationNames[static_cast<std::size_t>(fingerprint.operation)],
                  fingerprint.count, Name(fingerprint.type));
  if (Reduces(fingerprint.operation)) text += fmt::format(" {}", Name(fingerprint.op));
  if (HasRoot(fingerprint.operation)) text += fmt::format(" at root {}", Index(fingerprint.root));
  return text + fmt::format(" as operation {}", fingerprint.sequence);
}

Header EncodeHeader(const Fingerprint& fingerprint, Rank sender) {
  Writer writer;
  writer.U32(kFormat)
      .U8(static_cast<std::uint8_t>(fingerprint.operation))
      .U8(static_cast<std::uint8_t>(fingerprint.type))
      .U8(static_cast<std::uint8_t>(fingerprint.op))
      .U8(0)
      .U64(fingerprint.sequence)
      .U64(fingerprint.count)
      .U32(Index(fingerprint.root))
      .U32(Index(sender));
  RINGLET_ASSERT(writer.size() == kHeaderBytes);
  Header header;
  std::copy_n(writer.view().begin(), kHeaderBytes, header.begin());
  return header;
}

Status CheckHeader(const Header& header, Rank peer, const Fingerprint& mine, Rank self) {
  Reader reader(header);
  const std::uint32_t format = reader.U32();
  const std::uint8_t operation = reader.U8();
  const std::uint8_t type = reader.U8();
  const std::uint8_t op = reader.U8();
  const std::uint8_t zero = reader.U8();
  const std::uint64_t sequence = reader.U64();
  const std::uint64_t count = reader.U64();
  const Rank root{reader.U32()};
  const Rank sender{reader.U32()};
  if (format != kFormat || operation >= kOperations || type >= kDataTypes || op >= kReduceOps ||
      zero != 0) {
    return Error{.code = Code::kProtocol,
                 .message = fmt::format(
                     "rank {} sent what is no header of an operation where this rank {} called {}: "
                     "the versions differ, or the link has lost its place",
                     Index(peer), Index(self), ToText(mine))};
  }
  if (sender != peer) {
    return Error{.code = Code::kProtocol,
                 .message = fmt::format("the link of rank {} to rank {} leads to rank {}",
                                        Index(self), Index(peer), Index(sender))};
  }
  const Fingerprint theirs{.sequence = sequence,
                           .operation = static_cast<Operation>(operation),
                           .type = static_cast<DataType>(type),
                           .op = static_cast<ReduceOp>(op),
                           .count = count,
                           .root = root};
  if (theirs == mine) return Ok();
  return Error{.code = Code::kProtocol,
               .message = fmt::format("rank {} called {}, this rank {} called {}: all ranks must "
                                      "call the same operations in the same order",
                                      Index(peer), ToText(theirs), Index(self), ToText(mine))};
}

}  // namespace ringlet::collective
