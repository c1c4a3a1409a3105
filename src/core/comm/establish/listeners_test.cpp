#include "comm/establish/listeners.hpp"

#include <gtest/gtest.h>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(Listeners, ARankOpensItsListeners) {
  const auto process = ProcessWith({});
  Invitation invitation;
  invitation.credentials.secret[0] = static_cast<std::byte>(process->facts().process_hash);
  const auto listeners = OpenListeners(*process, invitation, {.rank = 0, .size = 2}, {});
  ASSERT_TRUE(listeners.ok()) << listeners.error().message;
  EXPECT_FALSE(listeners->control.tcp.empty());
  EXPECT_FALSE(listeners->data.tcp.empty());
  EXPECT_EQ(listeners->data.unix_socket.kind, Address::Kind::kUnix);
  EXPECT_EQ(listeners->control.unix_socket.kind, Address::Kind::kNone);
  EXPECT_TRUE(listeners->speaks) << "the first of its host";
  const auto second = OpenListeners(*process, invitation, {.rank = 1, .size = 2}, {});
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->speaks);
  EXPECT_EQ(second->node_leader, listeners->node_leader);
  EXPECT_FALSE(OpenListeners(*process, invitation, {.rank = 0, .size = 1}, {})->node_leader)
      << "alone";
  const auto each = ProcessWith({{"RINGLET_NODE_LEADER", "0"}});
  EXPECT_FALSE(OpenListeners(*each, invitation, {.rank = 0, .size = 2}, {})->node_leader);
}

}  // namespace
}  // namespace ringlet::comm
