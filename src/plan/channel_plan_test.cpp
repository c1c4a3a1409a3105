#include "plan/channel_plan.hpp"

#include <gmock/gmock.h>

namespace ringlet::plan {
namespace {

ChannelPlan Sample() {
  return {{{{Rank{0}, Rank{2}, Rank{1}}, {17'000}}, {{Rank{1}, Rank{0}, Rank{2}}, {1'250}}}};
}

Bytes Encoded(const ChannelPlan& plan) {
  Writer out;
  Encode(out, plan);
  return out.Take();
}

TEST(ChannelPlanTest, CodecRoundTripsAndRefusesTruncation) {
  const Bytes bytes = Encoded(Sample());
  EXPECT_EQ(bytes.size(), 2u + 2 * (8 + 4 * 3));
  Reader whole(bytes);
  EXPECT_EQ(DecodeChannelPlan(whole), Sample());
  EXPECT_TRUE(whole.AtEnd());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Reader in(View(bytes).first(size));
    EXPECT_EQ(DecodeChannelPlan(in), ChannelPlan());
    EXPECT_FALSE(in.ok()) << size;
  }
}

TEST(ChannelPlanTest, ALengthThatLiesAllocatesNothing) {
  Writer out;
  out.U16(1).U32(1).U32(0xffffffff);
  Reader in(out.view());
  EXPECT_EQ(DecodeChannelPlan(in), ChannelPlan());
  EXPECT_FALSE(in.ok());
}

TEST(ChannelPlanTest, CheckWantsPermutationsOfOneSize) {
  EXPECT_TRUE(Sample().Check().ok());
  EXPECT_FALSE(ChannelPlan().Check().ok());
  for (const std::vector<Rank>& ranks : std::vector<std::vector<Rank>>{
           {}, {Rank{0}, Rank{1}}, {Rank{0}, Rank{1}, Rank{1}}, {Rank{0}, Rank{1}, Rank{3}}}) {
    ChannelPlan plan = Sample();
    plan.channels[1].ranks = ranks;
    const Status status = plan.Check();
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, testing::HasSubstr("channel 1"));
  }
}

TEST(ChannelPlanTest, DigestSeesOrderAndBandwidth) {
  ChannelPlan turned = Sample(), slower = Sample();
  std::swap(turned.channels[0].ranks[0], turned.channels[0].ranks[1]);
  slower.channels[0].bandwidth = {1};
  EXPECT_EQ(Sample().digest(), Sample().digest());
  EXPECT_NE(Sample().digest(), turned.digest());
  EXPECT_NE(Sample().digest(), slower.digest());
}

TEST(ChannelPlanTest, TextIsALineAChannel) {
  EXPECT_EQ(ToText(Sample()),
            "channel 0: 17000 MB/s, ring 0 2 1\n"
            "channel 1: 1250 MB/s, ring 1 0 2\n");
}

}  // namespace
}  // namespace ringlet::plan
