#include "cxx/request.hpp"
#include "collective/call/call.hpp"

#include <fmt/format.h>

namespace ringlet::cxx {
namespace {

Error Refused(std::string why) {
  return {Code::kInvalidArgument, std::move(why)};
}

/// A buffer of a call: send or receive.
struct Side {
  const char* name;
  const void* data;
  std::size_t count;
  DataType type;
  std::size_t blocks;  ///< blocks of this rank's buffer in the call; 0: not used
};

Status CheckSide(const std::string& call, const Side& side) {
  const auto type = static_cast<std::size_t>(side.type);
  if (type >= kDataTypes)
    return Refused(fmt::format("{}: data type {} does not exist", call, type));
  if (!collective::CheckCount(side.count, side.type, 1).ok())
    return Refused(
        fmt::format("{}: {} has {} elements, more than any memory", call, side.name, side.count));
  if (side.count > 0 && !side.data)
    return Refused(fmt::format("{}: {} is null, but has {} elements", call, side.name, side.count));
  return Ok();
}

/// Returns the elements of one block. `basis` is the buffer that determines the count.
Result<std::size_t> BlockOf(const std::string& call, const Side& basis) {
  if (basis.count % basis.blocks == 0) return basis.count / basis.blocks;
  return Refused(fmt::format("{}: {} has {} elements, not a multiple of the {} ranks", call,
                             basis.name, basis.count, basis.blocks));
}

Status CheckFit(const std::string& call, const Side& basis, const Side& other) {
  const std::size_t expected = basis.count / basis.blocks * other.blocks;
  if (other.count == expected && (other.type == basis.type || expected == 0)) return Ok();
  if (other.count == expected)
    return Refused(fmt::format("{}: send and receive differ in type: {} has {}, {} has {}", call,
                               basis.name, Name(basis.type), other.name, Name(other.type)));
  if (other.blocks == basis.blocks)
    return Refused(fmt::format("{}: {} has {} elements, not {} as {}", call, other.name,
                               other.count, expected, basis.name));
  return Refused(fmt::format("{}: {} has {} elements, not {} = {} ranks x the {} of {}", call,
                             other.name, other.count, expected, other.blocks, basis.count,
                             basis.name));
}

/// Returns true if every rank's receive buffer has one block, so that it determines the count.
bool CountsByReceive(comm::CallKind kind) {
  return kind == comm::CallKind::kBroadcast || kind == comm::CallKind::kReduceScatter ||
         kind == comm::CallKind::kScatter;
}

View BytesOf(const SendBuffer& buffer) {
  return {static_cast<const std::byte*>(buffer.data()), buffer.count() * SizeOf(buffer.type())};
}

std::span<std::byte> BytesOf(const ReceiveBuffer& buffer) {
  return {static_cast<std::byte*>(buffer.data()), buffer.count() * SizeOf(buffer.type())};
}

}  // namespace

Result<comm::Work> WorkOf(const Request& request, const comm::Communicator& communicator) {
  collective::Call call{.kind = request.kind, .count = 1, .op = request.op, .root = request.root};
  if (call.kind == comm::CallKind::kBarrier) return comm::Work(collective::Call{.kind = call.kind});
  const std::string name(Name(call.kind));
  if (static_cast<std::size_t>(call.op) >= kReduceOps)
    return Refused(
        fmt::format("{}: reduction {} does not exist", name, static_cast<std::size_t>(call.op)));

  const SendBuffer& from = request.send;
  const ReceiveBuffer& to = request.receive;
  const Side send{"send", from.data(), from.count(), from.type(),
                  InputCount(call, communicator.place())};
  const Side receive{"receive", to.data(), to.count(), to.type(),
                     OutputCount(call, communicator.place())};
  const Side& basis = CountsByReceive(call.kind) ? receive : send;
  const Side& other = CountsByReceive(call.kind) ? send : receive;

  RINGLET_TRY(CheckSide(name, basis));
  RINGLET_TRY_ASSIGN(call.count, BlockOf(name, basis));
  call.type = basis.type;
  if (other.blocks > 0) {
    RINGLET_TRY(CheckSide(name, other));
    RINGLET_TRY(CheckFit(name, basis, other));
  }
  if (send.blocks > 0) call.input = BytesOf(from);
  if (receive.blocks > 0) call.output = BytesOf(to);
  return comm::Work(std::move(call));
}

Result<comm::Work> WorkOf(const MessageRequest& request, const comm::Communicator&) {
  const Side side =
      request.sends
          ? Side{"the buffer", request.from.data(), request.from.count(), request.from.type(), 1}
          : Side{"the buffer", request.to.data(), request.to.count(), request.to.type(), 1};
  RINGLET_TRY(CheckSide(request.sends ? "send" : "receive", side));
  comm::Transfer transfer{
      .peer = request.peer, .sends = request.sends, .count = side.count, .type = side.type};
  if (request.sends) transfer.from = BytesOf(request.from);
  if (!request.sends) transfer.to = BytesOf(request.to);
  return comm::Work(transfer);
}

}  // namespace ringlet::cxx
