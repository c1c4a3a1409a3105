#include "comm/stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(Stages, ArgumentsAreCheckedFirst) {
  EXPECT_TRUE(CheckArguments({.rank = 0, .size = 1}).ok());
  EXPECT_EQ(CheckArguments({.rank = 1, .size = 1}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(CheckArguments({.rank = 0, .size = 0}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(CheckArguments({.rank = 0, .size = 0xffffffff}).error().code, Code::kInvalidArgument);
}

TEST(Stages, ARankFindsItsNodeAndItsDoors) {
  const auto process = ProcessWith({});
  const auto here = LookAround(*process, {.rank = 0, .size = 1});
  ASSERT_TRUE(here.ok()) << here.error().message;
  EXPECT_EQ(here->view.identity, process->host_hash());
  EXPECT_TRUE(std::ranges::any_of(here->view.numa_nodes,
                                  [&](const auto& node) { return node.id == here->numa; }));
  Invitation invitation;
  invitation.credentials.secret[0] = static_cast<std::byte>(process->process_hash());
  const auto doors = OpenDoors(*process, invitation, {.rank = 0, .size = 2});
  ASSERT_TRUE(doors.ok()) << doors.error().message;
  EXPECT_FALSE(doors->control.tcp.empty());
  EXPECT_FALSE(doors->data.tcp.empty());
  EXPECT_EQ(doors->data.unix_socket.kind, Address::Kind::kUnix);
  EXPECT_EQ(doors->control.unix_socket.kind, Address::Kind::kNone);
  EXPECT_TRUE(doors->speaks) << "the first of its host";
  const auto second = OpenDoors(*process, invitation, {.rank = 1, .size = 2});
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->speaks);
  EXPECT_EQ(second->speaker, doors->speaker);
  EXPECT_FALSE(OpenDoors(*process, invitation, {.rank = 0, .size = 1})->speaker) << "alone";
  const auto each = ProcessWith({{"RINGLET_HOST_SPEAKER", "0"}});
  EXPECT_FALSE(OpenDoors(*each, invitation, {.rank = 0, .size = 2})->speaker);
}

}  // namespace
}  // namespace ringlet::comm
