#include "bootstrap/member/common.hpp"

#include "bootstrap/member/group_frames.hpp"
#include "bootstrap/root.hpp"

namespace ringlet::bootstrap {
namespace {

// The only root of a ring knows all neighbours. A ring does not use node leaders, because all ranks
// must be reachable.
MemberConfig AdjustedToShape(MemberConfig config) {
  RINGLET_ASSERT(Index(config.rank) < config.size);
  if (config.shape == Shape::kTree) return config;
  config.roots.resize(1);
  config.node_leader.reset();
  config.speaks = false;
  return config;
}

}  // namespace

MemberCommon::MemberCommon(MemberConfig its_config, Dialler::Emit emit)
    : config(AdjustedToShape(std::move(its_config))), connections(config, std::move(emit)) {}

Instant MemberCommon::neighbour_deadline() const {
  // Two steps before the join deadline: this rank knows which connection fails, so it reports
  // before the root, which knows only that one fails.
  return join_deadline() - 2 * LadderStep(config.timeout);
}

std::optional<MemberAddress> MemberCommon::AddressOf(std::uint32_t rank) const {
  if (rank == self()) return config.member_address;
  if (rank >= roster.size()) return std::nullopt;
  auto address = roster.At(Rank{rank});
  return address.ok() ? std::optional(*std::move(address)) : std::nullopt;
}

std::string MemberCommon::Name(std::uint32_t rank) const {
  const auto address = AddressOf(rank);
  return address ? Describe(Rank{rank}, *address) : roster.DescribeRank(Rank{rank});
}

std::string MemberCommon::WhyStopped(std::uint32_t rank) const {
  const auto address = AddressOf(rank);
  return address ? StoppedText(config.is_stopped, address->host, address->pid) : std::string();
}

Status MemberCommon::PostTo(std::uint32_t peer, const Slice& frame) {
  if (const LineId line = connections.RouteTo(peer); line != 0) {
    connections.Transmit(line, frame);
    return Ok();
  }
  Connections::CallInProgress* call = connections.CallTo(peer);
  if (!call) {
    if (roster.size() == 0) return Ok();  // the next rank is lost, which has been reported
    RINGLET_TRY_ASSIGN(const MemberAddress address, roster.At(Rank{peer}));
    call = &connections.Connect(MemberLine::kPeerOut, peer, address.addresses, now + config.timeout,
                                now);
  }
  call->waiting.push_back(frame);
  return Ok();
}

Status MemberCommon::SendOut(const GroupMembership& membership, GroupProtocol::OutgoingFrame out) {
  const std::uint32_t peer = membership.ToWorld(out.to);
  const GroupId group = membership.group.id();
  const LineId line = connections.RouteTo(peer);
  constexpr std::size_t kWorthNoCopy = 4096;
  if (line == 0 || out.body.bytes.size() < kWorthNoCopy)
    return PostTo(peer, GroupFrame(group, out.type, out.head, out.body.bytes));
  Writer header;
  header.U32(static_cast<std::uint32_t>(8 + out.head.size() + out.body.bytes.size()));
  header.U8(static_cast<std::uint8_t>(out.type)).U64(group).Raw(out.head);
  connections.SendFrame(line, header.Take());
  connections.Transmit(line, out.body);
  return Ok();
}

void MemberCommon::AnswerQuestions(GroupProtocol& group) const {
  while (const auto asker = group.TakeQuestion())
    group.Answer(*asker, config.activity ? config.activity(group.id()) : Activity());
}

}  // namespace ringlet::bootstrap
