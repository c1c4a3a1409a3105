#include "pytorch/store/membership.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet::torch_api {
namespace {

using testing::HasSubstr;

TEST(MemberHandle, RoundTripsThroughText) {
  const MemberHandle handle{"00ff.3", 17};
  EXPECT_EQ(handle.Text(), "ringlet:00ff.3:17");
  const auto back = MemberHandle::Parse(handle.Text());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->member, "00ff.3");
  EXPECT_EQ(back->generation, 17u);
}

TEST(MemberHandle, NamesATextThatIsNotAHandle) {
  for (const std::string text :
       {"", "gloo:0:-1:0:", "ringlet:", "ringlet::1", "ringlet:a:", "ringlet:a:-1", "ringlet:a b:1",
        "ringlet:a:1:2", "ringlet:a:99999999999999999999", "RINGLET:a:1"}) {
    const auto handle = MemberHandle::Parse(text);
    ASSERT_FALSE(handle.ok()) << text;
    EXPECT_THAT(handle.error().message, HasSubstr("'" + text + "'"));
  }
  EXPECT_FALSE(MemberHandle::Parse("ringlet:" + std::string(10'000, 'a') + ":1").ok());
}

TEST(FindMemberRank, TheRankIsThePositionInTheList) {
  const auto seat = FindMemberRank({"ringlet:a:0", "ringlet:b:2", "ringlet:c:9"}, {"b", 2});
  ASSERT_TRUE(seat.ok()) << seat.error().message;
  EXPECT_EQ(seat->rank, 1u);
  EXPECT_EQ(seat->size, 3u);
}

TEST(FindMemberRank, RefusesAnInvalidListOfHandles) {
  const auto why = [](const std::vector<std::string>& handles) {
    return FindMemberRank(handles, {"b", 2}).error().message;
  };
  EXPECT_THAT(why({}), HasSubstr("not among the 0 members"));
  EXPECT_THAT(why({"ringlet:a:2"}), HasSubstr("'ringlet:b:2', is not among"));
  EXPECT_THAT(why({"ringlet:a:0", "ringlet:b:1"}), HasSubstr("collect the handles again"));
  EXPECT_THAT(why({"ringlet:b:2", "ringlet:a:0", "ringlet:a:1"}), HasSubstr("ranks 1 and 2"));
  EXPECT_THAT(why({"ringlet:b:2", "gloo:0"}), HasSubstr("'gloo:0'"));
}

}  // namespace
}  // namespace ringlet::torch_api
