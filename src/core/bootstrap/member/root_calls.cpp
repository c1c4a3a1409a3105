#include "bootstrap/member/root_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/difference.hpp"

namespace ringlet::bootstrap {
namespace {

// Maximum number of dials to a root that listened before: about five seconds.
constexpr std::uint32_t kRootDialsMax = 18;

}  // namespace

void RootCalls::Call(std::uint32_t root) {
  if (lines_[root] == 0 && !common_->connections.CallToRoot(root))
    common_->connections.Connect(MemberLine::kRoot, root, common_->config.roots[root].addresses,
                                 common_->join_deadline(), common_->now);
}

void RootCalls::CallFor(std::uint32_t rank) {
  const std::uint32_t size = common_->config.size, roots = common_->roots();
  const std::uint32_t root = RootOfRank(rank, size, roots);
  Call(root);
  if (RanksOfRoot({root, roots}, size).first == rank) Call(0);
}

void RootCalls::CallAgain(std::uint32_t root) {
  lines_[root] = 0;
  Call(root);
}

bool RootCalls::IsGone(const Connections::CallInProgress& call) const {
  return seen_[call.peer] ||
         (common_->config.roots[call.peer].was_there && call.dialler.failures() >= kRootDialsMax);
}

bool RootCalls::IsDelegateOf(std::uint32_t root) const {
  const std::uint32_t first = RanksOfRoot({root, common_->roots()}, common_->config.size).first;
  return first == common_->self() || LocalAddressOf(first);
}

void RootCalls::CheckInAt(LineId id, std::uint32_t root) {
  const MemberConfig& config = common_->config;
  const Instant left = std::max(common_->join_deadline() - common_->now, Instant(0));
  const auto left_ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
  CheckIn check_in;
  check_in.rank = common_->self();
  check_in.size = config.size;
  check_in.shape = config.shape;
  check_in.arity = config.arity;
  check_in.timeout_ms = static_cast<std::uint32_t>(std::min<std::int64_t>(left_ms, 0xffffffff));
  check_in.root = {root, common_->roots()};
  check_in.member_address = config.member_address;
  common_->connections.SendFrame(id, ToFrame(check_in));
}

void RootCalls::OnOpened(LineId id, std::uint32_t root) {
  lines_[root] = id;
  seen_[root] = true;
  CheckInAt(id, root);
  for (const CheckIn& local_rank : local_ranks_)
    if (local_rank.root.index == root) SendLocalRank(id, local_rank);
}

void RootCalls::AddLocalRank(LineId id, CheckIn check_in) {
  const std::uint32_t size = common_->config.size, roots = common_->roots();
  common_->connections.Adopt(id, MemberLine::kChild, check_in.rank, common_->now).local_rank = true;
  Writer node_leader = BeginFrame(static_cast<std::uint8_t>(FrameType::kNodeLeader));
  common_->connections.SendFrame(id, EndFrame(std::move(node_leader.U32(common_->self()))));
  if (welcome_) common_->connections.SendFrame(id, ToFrame(*welcome_));
  // The root refuses an impossible rank or size, because its message names both sides.
  const bool fits = check_in.rank < size && check_in.size == size && check_in.root.count == roots;
  check_in.root.index = fits ? RootOfRank(check_in.rank, size, roots) : common_->own_root();
  const CheckIn& local_rank = local_ranks_.emplace_back(std::move(check_in));
  if (fits) CallFor(local_rank.rank);
  if (const LineId root = lines_[local_rank.root.index]; root != 0) SendLocalRank(root, local_rank);
}

void RootCalls::SendLocalRank(LineId line, const CheckIn& local_rank) {
  Writer own, theirs;
  Encode(own, common_->config.member_address);
  Encode(theirs, local_rank.member_address);
  common_->connections.SendFrame(
      line, ToFrame(LocalRankCheckIn{local_rank, DifferenceOf(own.view(), theirs.view())}));
}

void RootCalls::ForwardWelcome(const Welcome& welcome) {
  welcome_ = welcome;
  const SharedBytes frame = Share(ToFrame(welcome));
  for (auto& [id, line] : common_->connections.lines())
    if (line.local_rank) common_->connections.Transmit(id, line, Slice(frame));
}

void RootCalls::SendToFirst(FrameType type) {
  common_->connections.SendFrame(lines_[0], ToFrame(type));
}

void RootCalls::ForwardToFirst(const Slice& piece) {
  if (lines_[0] != 0)
    return common_->connections.SendPayload(lines_[0], FrameType::kSection, piece);
  Connections::CallInProgress* const first = common_->connections.CallToRoot(0);
  if (!first) return;  // the root was lost, and the loss has been reported
  Writer header;
  header.U32(static_cast<std::uint32_t>(piece.bytes.size()));
  header.U8(static_cast<std::uint8_t>(FrameType::kSection));
  first->waiting.emplace_back(Share(header.Take()));
  first->waiting.push_back(piece);
}

Failure RootCalls::FailureOfRoot(std::uint32_t root, const std::string& phase,
                                 const std::string& why) const {
  const std::uint32_t self = common_->self(), roots = common_->roots();
  const bool own = root == common_->own_root() && welcome_;
  const std::string where = own ? fmt::format("host {}, pid {}", welcome_->host, welcome_->pid)
                                : ToString(common_->config.roots[root].addresses.front());
  const std::string which = roots > 1 ? fmt::format("root {} of {}", root, roots) : "the root";
  if (own && welcome_->hosted_rank && *welcome_->hosted_rank != self)
    return {Code::kPeerLost, *welcome_->hosted_rank,
            fmt::format("rank {} ({}), which also runs {}, was lost while rank {} was {}: {}",
                        *welcome_->hosted_rank, where, which, self, phase, why)};
  return {Code::kPeerLost, kNoOrigin,
          fmt::format("the process that runs {} ({}) was lost while rank {} was {}: {}", which,
                      where, self, phase, why)};
}

void RootCalls::Dismiss() {
  for (std::uint32_t root = 1; root < common_->roots(); ++root)
    if (lines_[root] != 0 && IsDelegateOf(root))
      common_->connections.SendFrame(lines_[root], ToFrame(FrameType::kReady));
  common_->connections.StopCallingRoots();
}

void RootCalls::AddLocalRanksTo(TreePlace& place) const {
  for (const CheckIn& local_rank : local_ranks_) place.children.push_back(local_rank.rank);
}

const MemberAddress* RootCalls::LocalAddressOf(std::uint32_t rank) const {
  if (rank == common_->self()) return nullptr;
  const auto it = std::ranges::find(local_ranks_, rank, &CheckIn::rank);
  return it == local_ranks_.end() ? nullptr : &it->member_address;
}

std::string RootCalls::Name(std::uint32_t rank) const {
  const MemberAddress* const local = LocalAddressOf(rank);
  return local ? Describe(Rank{rank}, *local) : common_->Name(rank);
}

std::string RootCalls::WhyStopped(std::uint32_t rank) const {
  const MemberAddress* const local = LocalAddressOf(rank);
  return local ? StoppedText(common_->config.is_stopped, local->host, local->pid)
               : common_->WhyStopped(rank);
}

std::string RootCalls::WhyStopped(const Connections::Line& line) const {
  if (line.role != MemberLine::kRoot) return WhyStopped(line.peer);
  if (!welcome_ || line.peer != common_->own_root()) return {};
  return StoppedText(common_->config.is_stopped, welcome_->host, welcome_->pid);
}

}  // namespace ringlet::bootstrap
