#include "pytorch/calls/p2p_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "pytorch/store/store_for_test.hpp"

namespace ringlet::torch_api {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

/// Bytes between two threads, and an end.
struct Wire {
  std::mutex mutex;
  std::condition_variable news;
  std::deque<std::byte> bytes;
  std::optional<Error> broken;
};

class FakeLine final : public PairLink {
 public:
  explicit FakeLine(std::shared_ptr<Wire> wire) : wire_(std::move(wire)) {}
  ~FakeLine() override { Break(Error{Code::kPeerLost, "rank 0 has left, rank 1 noticed it"}); }
  Status Write(View bytes) override {
    const std::lock_guard lock(wire_->mutex);
    wire_->bytes.insert(wire_->bytes.end(), bytes.begin(), bytes.end());
    wire_->news.notify_all();
    return Ok();
  }
  Status Read(std::span<std::byte> room) override {
    std::unique_lock lock(wire_->mutex);
    wire_->news.wait(lock, [&] { return wire_->broken || wire_->bytes.size() >= room.size(); });
    if (wire_->bytes.size() < room.size()) return *wire_->broken;
    for (std::byte& byte : room) {
      byte = wire_->bytes.front();
      wire_->bytes.pop_front();
    }
    return Ok();
  }
  void Abort(const std::string& why) override { Break(Error{Code::kAborted, why}); }

 private:
  void Break(const Error& error) {
    const std::lock_guard lock(wire_->mutex);
    if (!wire_->broken) wire_->broken = error;
    wire_->news.notify_all();
  }
  const std::shared_ptr<Wire> wire_;  // shared by both ends
};

/// Several ranks as objects of one process.
class P2pQueueTest : public testing::Test {
 protected:
  P2pQueueTest() {
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      groups_.push_back(std::make_unique<RankGroup>(
          RankGroup::Options{.rank = rank, .size = 3, .name = "test", .timeout = seconds(30)},
          store_));
      EXPECT_TRUE(groups_.back()->Announce().ok());
      p2p_queues_.push_back(std::make_unique<P2pQueue>(
          *groups_.back(),
          [this](const UniqueId& id, std::uint32_t, std::chrono::milliseconds,
                 const std::stop_token&) -> Result<std::shared_ptr<PairLink>> {
            const std::lock_guard lock(mutex_);
            auto& wire = wires_[id.bytes];
            if (!wire) wire = std::make_shared<Wire>();
            return std::shared_ptr<PairLink>(std::make_shared<FakeLine>(wire));
          }));
    }
  }

  void Send(std::uint32_t from, std::uint32_t to, std::int32_t tag, const std::string& text) {
    sent_.push_back(std::make_unique<std::string>(text));
    p2p_queues_[from]->Send(to, tag, AsView(*sent_.back()), [](const Status& status) {
      EXPECT_TRUE(status.ok()) << status.error().message;
    });
  }

  struct Got {
    std::string text;
    std::promise<Result<std::uint32_t>> promise;
    Result<std::uint32_t> From() { return promise.get_future().get(); }
  };
  std::unique_ptr<Got> Receive(std::uint32_t at, std::optional<std::uint32_t> from,
                               std::int32_t tag, std::size_t bytes) {
    auto got = std::make_unique<Got>();
    got->text.assign(bytes, '?');
    p2p_queues_[at]->Receive(
        {.from = from,
         .tag = tag,
         .room = std::as_writable_bytes(std::span(got->text)),
         .done = [&promise = got->promise](const Status& status, std::uint32_t who) {
           if (status.ok()) {
             promise.set_value(who);
           } else {
             promise.set_value(status.error());
           }
         }});
    return got;
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  std::mutex mutex_;
  std::map<decltype(UniqueId::bytes), std::shared_ptr<Wire>> wires_;
  std::vector<std::unique_ptr<std::string>> sent_;
  std::vector<std::unique_ptr<RankGroup>> groups_;
  std::vector<std::unique_ptr<P2pQueue>> p2p_queues_;
};

TEST_F(P2pQueueTest, EachTagKeepsItsOrderIndependentOfOtherTags) {
  Send(0, 1, 7, "first");
  Send(0, 1, 8, "other");
  Send(0, 1, 7, "later");
  const auto other = Receive(1, 0u, 8, 5);
  EXPECT_TRUE(other->From().ok());
  EXPECT_EQ(other->text, "other");
  const auto first = Receive(1, 0u, 7, 5), later = Receive(1, 0u, 7, 5);
  EXPECT_TRUE(first->From().ok());
  EXPECT_TRUE(later->From().ok());
  EXPECT_EQ(first->text + later->text, "firstlater");
}

TEST_F(P2pQueueTest, AReceiveFromAnyRankReportsTheSender) {
  const auto a = Receive(0, std::nullopt, 1, 1), b = Receive(0, std::nullopt, 1, 1);
  Send(2, 0, 1, "2");
  EXPECT_EQ(*a->From(), 2u);
  Send(1, 0, 1, "1");
  EXPECT_EQ(*b->From(), 1u);
  EXPECT_EQ(a->text + b->text, "21");
}

TEST_F(P2pQueueTest, RefusesAMessageOfAnotherSizeAndDeliversTheNext) {
  Send(0, 1, 0, "four");
  Send(0, 1, 0, "five!");
  const auto small = Receive(1, 0u, 0, 3);
  const auto refused = small->From();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("rank 0 sent 4 bytes with tag 0"));
  const auto next = Receive(1, 0u, 0, 5);
  EXPECT_TRUE(next->From().ok());
  EXPECT_EQ(next->text, "five!");
}

TEST_F(P2pQueueTest, NeverCompletesAWithdrawnReceive) {
  const std::uint64_t number = p2p_queues_[1]->Receive(
      {.from = 0u, .tag = 5, .room = {}, .done = [](const Status&, std::uint32_t) { FAIL(); }});
  EXPECT_TRUE(p2p_queues_[1]->Withdraw(number));
  EXPECT_FALSE(p2p_queues_[1]->Withdraw(number));
}

TEST_F(P2pQueueTest, DeliversEmptyMessages) {
  Send(1, 2, -3, "");
  EXPECT_EQ(*Receive(2, 1u, -3, 0)->From(), 1u);
}

TEST_F(P2pQueueTest, AbortEndsPendingReceives) {
  const auto never = Receive(1, 2u, 0, 4);
  p2p_queues_[1]->Abort("the test wants it");
  const auto ended = never->From();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, Code::kAborted);
  const auto later = Receive(1, 2u, 0, 4)->From();
  EXPECT_THAT(later.error().message, HasSubstr("the test wants it"));
}

TEST_F(P2pQueueTest, PendingReceivesFailWhenTheirSenderLeaves) {
  Send(2, 1, 0, "here");
  EXPECT_TRUE(Receive(1, 2u, 0, 4)->From().ok());
  const auto never = Receive(1, 2u, 0, 4);
  p2p_queues_[2] = nullptr;
  const auto ended = never->From();
  ASSERT_FALSE(ended.ok());
  // Either its farewell or its end is detected first.
  EXPECT_THAT(ended.error().message,
              testing::AnyOf("from rank 2 with tag 0: rank 2 has left, rank 1 noticed it",
                             "from rank 2 with tag 0: the process group was destroyed"));
}

TEST_F(P2pQueueTest, DeliversAnEarlyMessageWhileAnotherReceiveWaits) {
  const auto first = Receive(1, std::nullopt, 8, 1), never = Receive(1, std::nullopt, 9, 1);
  Send(0, 1, 7, "early");
  Send(0, 1, 8, "8");
  EXPECT_EQ(*first->From(), 0U);  // so the earlier messages have arrived too
  // The thread of this sender waits for its next message, which may be the one with tag 9.
  const auto unexpected = Receive(1, 0U, 7, 5);
  EXPECT_EQ(*unexpected->From(), 0U);
  EXPECT_EQ(unexpected->text, "early");
  Send(0, 1, 9, "9");
  EXPECT_EQ(*never->From(), 0U);
}

TEST_F(P2pQueueTest, AReceiveFromARankThatLeftFailsWithItsTag) {
  // It never sent, so no connection exists.
  const auto certain = Receive(1, 2u, 7, 4);
  ASSERT_TRUE(groups_[2]->presence().Leave(Presence::Use::kNone).ok());
  const auto ended = certain->From();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, Code::kPeerLost);
  EXPECT_THAT(ended.error().message, HasSubstr("from rank 2 with tag 7: rank 2 has left"));
}

TEST_F(P2pQueueTest, AReceiveFromAnyRankFailsAfterAllPeersLeave) {
  const auto anybody = Receive(1, std::nullopt, 3, 4);
  ASSERT_TRUE(groups_[2]->presence().Leave(Presence::Use::kNone).ok());
  Send(0, 1, 3, "more");
  EXPECT_EQ(*anybody->From(), 0U) << "one that left concerns those alone who need it";
  const auto nobody = Receive(1, std::nullopt, 3, 4);
  p2p_queues_[0] = nullptr;
  const auto ended = nobody->From();
  ASSERT_FALSE(ended.ok());
  EXPECT_THAT(ended.error().message, HasSubstr("from any rank with tag 3"));
}

TEST_F(P2pQueueTest, AFailedGroupEndsPendingReceives) {
  const auto certain = Receive(1, 2u, 7, 4), anybody = Receive(1, std::nullopt, 8, 4);
  groups_[1]->Abort("the test wants it");
  for (const auto& each : {certain->From(), anybody->From()}) {
    ASSERT_FALSE(each.ok());
    EXPECT_THAT(each.error().message, HasSubstr("the test wants it"));
  }
}

TEST_F(P2pQueueTest, DeliversAMessageToItselfInEitherOrder) {
  const auto waits = Receive(1, 1u, 4, 5), anybody = Receive(1, std::nullopt, 5, 5);
  Send(1, 1, 4, "first");
  EXPECT_EQ(*waits->From(), 1u);
  Send(1, 1, 5, "other");
  EXPECT_EQ(*anybody->From(), 1u);
  Send(1, 1, 4, "later");
  const auto small = Receive(1, 1u, 4, 3)->From();
  ASSERT_FALSE(small.ok());
  EXPECT_THAT(small.error().message, HasSubstr("rank 1 sent 5 bytes with tag 4"));
  Send(1, 1, 4, "again");
  const auto again = Receive(1, std::nullopt, 4, 5);
  EXPECT_EQ(*again->From(), 1u);
  EXPECT_EQ(waits->text + anybody->text + again->text, "firstotheragain");
  // A message to itself does not count as a sender's message.
  const auto both = Receive(1, std::nullopt, 6, 1), more = Receive(1, std::nullopt, 6, 1);
  Send(0, 1, 6, "0");
  Send(2, 1, 6, "2");
  EXPECT_EQ(*both->From() + *more->From(), 2u);
}

}  // namespace
}  // namespace ringlet::torch_api
