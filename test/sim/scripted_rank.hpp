// Plays a rank of an application: joins, uses the control network, checks its data, leaves.
#pragma once
#include <memory>
#include <string>

#include "bootstrap/member/member.hpp"

namespace ringlet::sim {

inline Bytes PayloadOf(std::uint32_t rank, std::uint32_t round) {
  Bytes payload((rank * 37 + round * 11) % 200);
  for (std::size_t i = 0; i < payload.size(); ++i)
    payload[i] = static_cast<std::byte>(rank + round + i);
  return payload;
}

/// Runs a Member through all-gather, barrier, a message to the next rank, a group of every second
/// rank with an all-gather of its own, an all-gather, and departure.
class ScriptedRank final : public Machine {
 public:
  ScriptedRank(bootstrap::MemberConfig config, Instant operation_timeout)
      : config_(config),
        operation_timeout_(operation_timeout),
        member_(std::make_unique<bootstrap::Member>(std::move(config))) {}

  void Handle(const Event& event, Instant now) override {
    member_->Handle(event, now);
    Play(now);
    while (auto action = member_->PollAction()) Emit(std::move(*action));
  }

  std::optional<Instant> Deadline() const override {
    auto deadline = member_->Deadline();
    if (operation_deadline_ && !member_->Finished())
      deadline = deadline ? std::min(*deadline, *operation_deadline_) : *operation_deadline_;
    return deadline;
  }
  bool Finished() const override { return member_->Finished(); }
  bool Accepting() const override { return member_->Accepting(); }

  const bootstrap::Member& member() const { return *member_; }
  bootstrap::Member& member() { return *member_; }
  const std::optional<bootstrap::Failure>& failure() const { return failure_; }
  /// True if it left after all expected events.
  bool succeeded() const { return step_ == Step::kDone; }
  /// The unexpected event; empty if there was none.
  const std::string& wrong() const { return wrong_; }
  Instant ended() const { return ended_; }

 private:
  enum class Step : std::uint8_t { kJoin, kFirst, kBarrier, kMessage, kGroup, kLast, kDone };
  static constexpr bootstrap::GroupId kEven = 50, kOdd = 51;

  void Play(Instant now) {
    if (member_->Finished()) {
      if (ended_ == Instant(0)) ended_ = now;
      if (!failure_) failure_ = member_->failure();
      return;
    }
    while (Advance(now)) {
    }
    if (Failed()) {
      if (ended_ == Instant(0)) ended_ = now;
      failure_ = Failed();
      for (const bootstrap::GroupId group : {bootstrap::kWorld, kEven, kOdd}) member_->Leave(group);
    }
    if (member_->Finished()) {
      if (ended_ == Instant(0)) ended_ = now;
    } else if (operation_deadline_ && now >= *operation_deadline_) {
      member_->Abort(Code::kTimeout, "timed out " + member_->Phase());
      Play(now);
    }
  }

  bool Advance(Instant now) {
    const std::uint32_t rank = Index(config_.rank), size = config_.size;
    if (member_->Finished() || Failed()) return false;
    switch (step_) {
      case Step::kJoin:
        if (!member_->standing()) return false;
        operation_deadline_ = now + operation_timeout_;
        CheckRoster();
        member_->Gather(false, PayloadOf(rank, 1));
        return Next(Step::kFirst);
      case Step::kFirst:
        if (!CheckTable(1)) return false;
        member_->Gather(true, {});
        return Next(Step::kBarrier);
      case Step::kBarrier:
        if (!member_->TakeTable()) return false;
        member_->Post(Rank{(rank + 1) % size}, 5, PayloadOf(rank, 2), now);
        return Next(Step::kMessage);
      case Step::kMessage: {
        const std::uint32_t from = (rank + size - 1) % size;
        const auto message = member_->TakeMessage(Rank{from}, 5);
        if (!message) return false;
        if (*message != PayloadOf(from, 2)) wrong_ = "a wrong message";
        std::vector<std::uint32_t> ranks;  // ranks of the same color, the highest first
        for (std::uint32_t r = size; r-- > 0;)
          if (r % 2 == rank % 2) ranks.push_back(r);
        if (!member_->Form(MyGroup(), bootstrap::kWorld, ranks, now).ok()) wrong_ = "no group";
        member_->Gather(false, PayloadOf(rank, 4), MyGroup());
        return Next(Step::kGroup);
      }
      case Step::kGroup: {
        const auto table = member_->TakeTable(MyGroup());
        if (!table) return false;
        for (std::uint32_t r = 0; r < table->size(); ++r) {
          const View entry = table->At(Rank{r});
          const std::uint32_t whose = rank % 2 + 2 * (table->size() - 1 - r);
          if (Bytes(entry.begin(), entry.end()) != PayloadOf(whose, 4)) wrong_ = "a wrong group";
        }
        member_->Leave(MyGroup());
        member_->Gather(false, PayloadOf(rank, 3));
        return Next(Step::kLast);
      }
      case Step::kLast:
        if (!CheckTable(3)) return false;
        step_ = Step::kDone;
        member_->Leave();
        return false;
      case Step::kDone: return false;
    }
    return false;
  }

  bootstrap::GroupId MyGroup() const { return Index(config_.rank) % 2 == 0 ? kEven : kOdd; }
  // Uses the world's rank as its origin.
  std::optional<bootstrap::Failure> Failed() const {
    auto failure = member_->failure(MyGroup());
    const std::uint32_t size = member_->roster(MyGroup()).size();
    if (!failure || size == config_.size) return member_->failure();
    if (failure->origin < size)
      failure->origin = Index(config_.rank) % 2 + 2 * (size - 1 - failure->origin);
    return failure;
  }

  bool Next(Step step) {
    step_ = step;
    return true;
  }

  void CheckRoster() {
    if (member_->roster().size() != config_.size) wrong_ = "a roster of another size";
    for (std::uint32_t r = 0; r < member_->roster().size(); ++r) {
      const auto member_address = member_->roster().At(Rank{r});
      if (!member_address.ok() || member_address->pid != 1000 + r) wrong_ = "a wrong roster";
    }
  }

  bool CheckTable(std::uint32_t round) {
    const auto table = member_->TakeTable();
    if (!table) return false;
    for (std::uint32_t r = 0; r < config_.size; ++r) {
      const View entry = table->At(Rank{r});
      if (Bytes(entry.begin(), entry.end()) != PayloadOf(r, round)) wrong_ = "a wrong table entry";
    }
    return true;
  }

  bootstrap::MemberConfig config_;
  Instant operation_timeout_;
  std::unique_ptr<bootstrap::Member> member_;
  Step step_ = Step::kJoin;
  std::optional<Instant> operation_deadline_;
  std::string wrong_;
  std::optional<bootstrap::Failure> failure_;
  Instant ended_{0};
};

}  // namespace ringlet::sim
