#include "collective/shm/posts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/process/remote_fence.hpp"

namespace ringlet::collective {
namespace {

using ::testing::HasSubstr;

struct Two {
  explicit Two(bool may_fence = false)
      : first(arena, 0, {Rank{7}, Rank{9}}, may_fence), second(arena, 1, {}, may_fence) {}
  std::shared_ptr<transport::Arena> arena =
      transport::Arena::Create({.ranks = 2, .slot_bytes = 1024, .stage_bytes = 1024}).value();
  Posts first, second;
};

void Post(Posts& posts, std::size_t payload_bytes = 0) {
  posts.Begin({.sequence = 3, .operation = CallKind::kBarrier}, Posts::PartOf::kFirst,
              payload_bytes);
  ASSERT_TRUE(posts.MayPublish());
  posts.Describe();
  posts.Publish();
}
Result<bool> AwaitPosts(Posts& posts) {
  return posts.AwaitPosts({.kind = CallKind::kBarrier}, true);
}

TEST(Posts, HoldsSmallPayloadsInThePost) {
  Two two;
  constexpr std::size_t kInline = transport::ArenaPost::kInlineBytes;
  for (const std::size_t bytes : {kInline + 1, kInline, std::size_t{0}}) {
    Post(two.first, bytes);
    const auto& post = two.arena->post(0, two.first.sequence());
    EXPECT_EQ(two.first.Payload(0) == post.inline_payload, bytes <= kInline) << bytes;
  }
}

TEST(Posts, RefusesUnreadablePosts) {
  Two two;
  two.arena->post(1, 1).call = 0xffffffffffffffff;
  two.arena->post(1, 1).sequence = 1;
  Post(two.first);
  EXPECT_THAT(
      AwaitPosts(two.first).error().message,
      HasSubstr("rank 9 called an unreadable operation, rank 7 called barrier, as operation 3"));
}

TEST(Posts, ComparesEarlierCallsOfRanks) {
  Two two;
  two.first.CountEmptyCall({.operation = CallKind::kBroadcast});
  Post(two.first);
  Post(two.second);
  EXPECT_THAT(AwaitPosts(two.first).error().message,
              HasSubstr("different operations before operation 3"));
}

// A process can fence only some milliseconds after its communicator has formed.
TEST(Posts, RanksAnnounceLateThatTheyFence) {
  if (!os::JoinRemoteFences()) return;
  Two two(true);
  two.arena->rank(0).fences = 0;  // as if it could not fence at first
  Post(two.first);
  EXPECT_TRUE(two.arena->AllFenceForOthers());
}

}  // namespace
}  // namespace ringlet::collective
