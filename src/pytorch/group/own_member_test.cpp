#include "pytorch/group/own_member.hpp"

#include <gtest/gtest.h>

namespace ringlet::torch_api {
namespace {

MemberHandle HandleOf(const OwnMember& member) {
  const auto handle = member.Handle();
  EXPECT_TRUE(handle.ok()) << handle.error().message;
  return handle.ok() ? *handle : MemberHandle();
}

TEST(OwnMember, ItsHandleParses) {
  const OwnMember member;
  const MemberHandle handle = HandleOf(member);
  const auto read = MemberHandle::Parse(handle.Text());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->member, handle.member);
  EXPECT_EQ(read->generation, 0u);
}

TEST(OwnMember, MembersOfOneProcessDiffer) {
  const OwnMember first, second;
  EXPECT_NE(HandleOf(first).member, HandleOf(second).member);
}

TEST(OwnMember, AChangeKeepsTheMemberAndCountsTheGeneration) {
  OwnMember member;
  const MemberHandle before = HandleOf(member);
  member.CountChange();
  const MemberHandle after = HandleOf(member);
  EXPECT_EQ(after.member, before.member);
  EXPECT_EQ(after.generation, before.generation + 1);
}

TEST(OwnMember, AcceptsEachNumberOnce) {
  OwnMember member;
  EXPECT_TRUE(member.UseNumber(7));
  EXPECT_FALSE(member.UseNumber(7));
  EXPECT_TRUE(member.UseNumber(-7));
}

}  // namespace
}  // namespace ringlet::torch_api
