#include "collective/call/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace ringlet::collective {
namespace {

constexpr std::uint32_t kFormat = 0x32434c52;  // "RLC2"

/// Returns the sender, the receiver and the number of collectives before a message.
std::string MessageText(const Fingerprint& message) {
  return fmt::format("a message of {} {} to rank {} after {} collectives", message.count,
                     Name(message.type), Index(message.root), message.sequence);
}

}  // namespace

std::string ToText(const Fingerprint& fingerprint) {
  if (fingerprint.operation == CallKind::kSendReceive) return MessageText(fingerprint);
  if (fingerprint.operation == CallKind::kBarrier)
    return fmt::format("barrier as operation {}", fingerprint.sequence);
  std::string text = fmt::format("{} of {} {}", Name(fingerprint.operation), fingerprint.count,
                                 Name(fingerprint.type));
  if (Reduces(fingerprint.operation)) text += fmt::format(" {}", Name(fingerprint.op));
  if (HasRoot(fingerprint.operation)) text += fmt::format(" at root {}", Index(fingerprint.root));
  if (fingerprint.operation == CallKind::kAllToAllV)
    text += fmt::format(" for rank {}", Index(fingerprint.root));
  if (fingerprint.selection != 0)
    text += fmt::format(" by selected algorithms ({})", fingerprint.selection);
  return text + fmt::format(" as operation {}", fingerprint.sequence);
}

// Encodes like Writer, but in words and without an allocation, because each operation calls it.
Header EncodeHeader(const Fingerprint& fingerprint, Rank sender) {
  const std::array<std::uint64_t, kHeaderBytes / 8> words = {
      kFormat | static_cast<std::uint64_t>(fingerprint.operation) << 32 |
          static_cast<std::uint64_t>(fingerprint.type) << 40 |
          static_cast<std::uint64_t>(fingerprint.op) << 48 |
          static_cast<std::uint64_t>(fingerprint.selection) << 56,
      fingerprint.sequence, fingerprint.count,
      Index(fingerprint.root) | std::uint64_t{Index(sender)} << 32};
  Header header;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(header.data(), words.data(), header.size());
    return header;
  }
  for (std::size_t word = 0; word < words.size(); ++word)
    for (std::size_t i = 0; i < 8; ++i)
      header[word * 8 + i] = static_cast<std::byte>(words[word] >> (8 * i));
  return header;
}

std::optional<Fingerprint> DecodeHeader(const Header& header) {
  Reader reader(header);
  const std::uint32_t format = reader.U32();
  const std::uint8_t operation = reader.U8();
  const std::uint8_t type = reader.U8();
  const std::uint8_t op = reader.U8();
  const std::uint8_t selection = reader.U8();
  const std::uint64_t sequence = reader.U64();
  const std::uint64_t count = reader.U64();
  const Rank root{reader.U32()};
  if (format != kFormat || operation >= kCallKinds || type >= kDataTypes || op >= kReduceOps)
    return std::nullopt;
  return Fingerprint{.sequence = sequence,
                     .operation = static_cast<CallKind>(operation),
                     .type = static_cast<DataType>(type),
                     .op = static_cast<ReduceOp>(op),
                     .count = count,
                     .root = root,
                     .selection = selection};
}

std::optional<std::uint64_t> SequenceIn(View beginning) {
  Reader reader(beginning);
  const std::uint32_t format = reader.U32();
  reader.U32();
  const std::uint64_t sequence = reader.U64();
  if (!reader.ok() || format != kFormat) return std::nullopt;
  return sequence;
}

Status CheckHeader(const Header& header, Rank peer, const Fingerprint& mine, Rank self) {
  const Header expected = EncodeHeader(mine, peer);
  if (std::memcmp(header.data(), expected.data(), header.size()) == 0) [[likely]]
    return Ok();
  const std::optional<Fingerprint> theirs = DecodeHeader(header);
  if (!theirs) {
    return Error{
        .code = Code::kProtocol,
        .message = fmt::format("rank {} sent data without a header of an operation where rank {} "
                               "called {}: the versions differ, or the link lost data",
                               Index(peer), Index(self), ToText(mine))};
  }
  const Rank sender{Reader(View(header).last(4)).U32()};
  if (sender != peer) {
    return Error{.code = Code::kProtocol,
                 .message = fmt::format("the link of rank {} to rank {} leads to rank {}",
                                        Index(self), Index(peer), Index(sender))};
  }
  if (*theirs == mine) return Ok();
  Fingerprint otherwise = *theirs;
  otherwise.selection = mine.selection;
  if (otherwise == mine)
    return Error{.code = Code::kProtocol,
                 .message = fmt::format("rank {} called {}, rank {} called {}: all ranks must "
                                        "select the same algorithms, and so must their tuner "
                                        "plug-ins (NCCL_TUNER_PLUGIN)",
                                        Index(peer), ToText(*theirs), Index(self), ToText(mine))};
  return Error{.code = Code::kProtocol,
               .message = fmt::format("rank {} called {}, rank {} called {}: all ranks must "
                                      "call the same operations in the same order",
                                      Index(peer), ToText(*theirs), Index(self), ToText(mine))};
}

}  // namespace ringlet::collective
