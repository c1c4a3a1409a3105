#include "bootstrap/group.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::bootstrap {

GroupProtocol::GroupProtocol(GroupConfig config)
    : config_(std::move(config)), mailbox_(config_.mailbox) {
  if (config_.shape == Shape::kTree)
    tree_.emplace(config_.self, config_.size, config_.digest, config_.place);
  else
    ring_.emplace(config_.self, config_.size, config_.digest);
}

// ---- input ------------------------------------------------------------------------------------

void GroupProtocol::OnFrame(std::uint32_t from, FrameType type, const Slice& payload) {
  if (failure_) {
    if (type == FrameType::kLeave) left_.insert(from);
    return;
  }
  switch (type) {
    case FrameType::kGather:
    case FrameType::kTable:
    case FrameType::kBlock: return OnGatherFrame(from, type, payload);
    case FrameType::kMessage: return OnMessage(from, payload);
    case FrameType::kLeave: left_.insert(from); return RequirePresent();
    case FrameType::kAsk:
      if (std::ranges::find(questions_, from) == questions_.end()) questions_.push_back(from);
      return;
    case FrameType::kForm:
      if (payload.bytes.size() == 8 && Reader(payload.bytes).U64() == config_.digest) return;
      return FailOn(from, Code::kInvalidArgument,
                    fmt::format("has another list of this communicator's ranks than rank {}: their "
                                "calls must name the same ranks to keep or to leave out",
                                config_.self));
    case FrameType::kFailure: {
      const auto failure = ParseFailure(payload.bytes, config_.self, config_.size);
      if (failure.ok()) return Fail(*failure);
      return FailOn(from, Code::kProtocol, "sent " + failure.error().message);
    }
    case FrameType::kAnswer: {
      const auto answer = ParseActivity(payload.bytes);
      if (!answer.ok()) break;
      // A repeated question gets two answers. The second may arrive after the asker has moved on.
      if (const auto asked = answers_.find(from); asked != answers_.end()) asked->second = *answer;
      return;
    }
    case FrameType::kCheckIn:
    case FrameType::kLocalRank:
    case FrameType::kWelcome:
    case FrameType::kNodeLeader:
    case FrameType::kReject:
    case FrameType::kNeighbour:
    case FrameType::kSection:
    case FrameType::kReady:
    case FrameType::kDone:
    case FrameType::kBeat:
    case FrameType::kIdentify:
    case FrameType::kRoster:
    case FrameType::kGo: break;
  }
  FailUnexpectedFrame(from, type);
}

void GroupProtocol::OnGatherFrame(std::uint32_t from, FrameType type, const Slice& payload) {
  const bool child = tree_ && std::ranges::count(config_.place.children, from) > 0;
  const std::uint32_t previous = (config_.self + config_.size - 1) % config_.size;
  if (type == FrameType::kGather && child) return Advance(tree_->OnChild(from, payload), from);
  if (type == FrameType::kTable && tree_ && config_.place.parent == from)
    return Advance(tree_->OnParent(payload), from);
  if (type == FrameType::kBlock && ring_ && from == previous)
    return Advance(ring_->OnPrevious(payload), from);
  FailUnexpectedFrame(from, type);
}

void GroupProtocol::OnMessage(std::uint32_t from, const Slice& payload) {
  Reader in(payload.bytes);
  const std::uint64_t tag = in.U64();
  const View message = in.Raw(in.remaining());
  if (!in.ok()) return FailUnexpectedFrame(from, FrameType::kMessage);
  const Status put = mailbox_.Put(Rank{from}, tag, Bytes(message.begin(), message.end()));
  if (!put.ok()) FailHere(put.error().code, put.error().message);
}

void GroupProtocol::OnLost(std::uint32_t rank, Code code, const std::string& why) {
  if (failure_ || left_.contains(rank)) return;
  FailOn(rank, code, why);
}

void GroupProtocol::FailUnexpectedFrame(std::uint32_t from, FrameType type) {
  FailOn(from, Code::kProtocol,
         fmt::format("sent an unexpected frame of type {}", static_cast<int>(type)));
}

// ---- requests of the owner --------------------------------------------------------------------

void GroupProtocol::Gather(bool barrier, Bytes payload) {
  if (failure_) return;
  ++gathers_;
  Advance(
      tree_ ? tree_->Start(barrier, std::move(payload)) : ring_->Start(barrier, std::move(payload)),
      config_.self);
  RequirePresent();
}

void GroupProtocol::Advance(const Status& status, std::uint32_t peer) {
  if (!status.ok())
    return FailOn(peer, status.error().code, "does not fit: " + status.error().message);
  if (ring_) {
    for (Bytes& block : ring_->TakeForward())
      Emit((config_.self + 1) % config_.size, FrameType::kBlock, std::move(block));
    if (auto table = ring_->TakeResult()) table_ = std::move(table);
    return;
  }
  if (auto up = tree_->TakeUpward())
    Emit(*config_.place.parent, FrameType::kGather, {}, Slice(Share(std::move(*up))));
  if (const auto down = tree_->TakeDownward())
    for (const std::uint32_t child : config_.place.children)
      Emit(child, FrameType::kTable, {}, *down);
  if (auto table = tree_->TakeResult()) table_ = std::move(table);
}

// The next rank of a ring is not needed: it may have all blocks, and the other side sends its
// block.
bool GroupProtocol::IsNeeded(std::uint32_t rank) const {
  if (ring_) return rank == (config_.self + config_.size - 1) % config_.size;
  return config_.place.parent == rank || std::ranges::count(config_.place.children, rank) > 0;
}

// A rank that has left takes no further part, so the group fails instead of waiting for it.
void GroupProtocol::RequirePresent() {
  if (failure_ || !gathering()) return;
  for (const std::uint32_t rank : left_)
    if (IsNeeded(rank))
      return FailOn(rank, Code::kPeerLost, "has left (destroyed the communicator)");
}

void GroupProtocol::Post(std::uint32_t to, std::uint64_t tag, Bytes message) {
  if (failure_) return;
  RINGLET_ASSERT(to < config_.size);
  Writer head;
  head.U64(tag);
  if (to != config_.self)
    return Emit(to, FrameType::kMessage, head.Take(), Slice(Share(std::move(message))));
  const Status put = mailbox_.Put(Rank{to}, tag, std::move(message));
  if (!put.ok()) FailHere(put.error().code, put.error().message);
}

void GroupProtocol::Ask(std::uint32_t whom) {
  if (failure_ || whom == config_.self) return;
  RINGLET_ASSERT(whom < config_.size);
  answers_[whom] = std::nullopt;
  Emit(whom, FrameType::kAsk, {});
}

std::optional<Activity> GroupProtocol::TakeAnswer(std::uint32_t from) {
  const auto it = answers_.find(from);
  if (it == answers_.end() || !it->second) return std::nullopt;
  const std::optional<Activity> answer = it->second;
  answers_.erase(it);
  return answer;
}

std::optional<std::uint32_t> GroupProtocol::TakeQuestion() {
  if (questions_.empty()) return std::nullopt;
  const std::uint32_t from = questions_.back();
  questions_.pop_back();
  return from;
}

void GroupProtocol::Answer(std::uint32_t whom, const Activity& activity) {
  Writer payload;
  Encode(payload, activity);
  Emit(whom, FrameType::kAnswer, payload.Take());
}

// ---- endings ----------------------------------------------------------------------------------

void GroupProtocol::Fail(const Failure& failure) {
  if (!failure_) failure_ = failure;
}

void GroupProtocol::FailOn(std::uint32_t peer, Code code, const std::string& what) {
  Fail({code, peer,
        fmt::format("{} {}; {} noticed it while {}", Name(peer), what, Name(config_.self),
                    Phase())});
}

std::string GroupProtocol::Phase() const {
  if (!gathering()) return "in normal operation";
  return fmt::format("in collective {} of the control network, waiting for {}", gathers_,
                     Awaited());
}

}  // namespace ringlet::bootstrap
