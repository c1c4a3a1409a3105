#include "tool/emulate/slow_choice.hpp"

#include <gmock/gmock.h>

#include "topo/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

class SlowChoiceTest : public testing::Test {
 protected:
  std::string Refusal(const std::vector<std::string>& texts, std::uint32_t hosts = 1) {
    const auto links = ChooseSlowLinks(texts, view_, hosts);
    if (links.ok()) return "it was taken";
    EXPECT_EQ(links.error().code, Code::kInvalidArgument);
    return links.error().message;
  }

  const topology::HostView view_ =
      topology::ParseSynthetic("2x(numa: (switch: 2 gpu a100-sxm4 switch, 1 nic 200g))").value();
};

TEST_F(SlowChoiceTest, AcceptsLinkNamesOfTheMachine) {
  const auto links = ChooseSlowLinks({"link=NET1:0.1", "link=GPU0,NVS0@1:0.5"}, view_, 2);
  ASSERT_TRUE(links.ok()) << links.error().message;
  EXPECT_EQ(SlowSetting(*links, 2, "abc"),
            "link=NET1:0.100000;link=GPU0,NVS0@emulated-host-1-abc:0.500000");
}

TEST_F(SlowChoiceTest, OmitsTheHostNameOnASingleHost) {
  const auto links = ChooseSlowLinks({"link=NET1@0:0.1"}, view_, 1);
  ASSERT_TRUE(links.ok()) << links.error().message;
  EXPECT_EQ(SlowSetting(*links, 1, "abc"), "link=NET1:0.100000");
}

TEST_F(SlowChoiceTest, NamesTheLinksNearestToAnUnknownOne) {
  EXPECT_THAT(
      Refusal({"link=NET7:0.1"}),
      testing::MatchesRegex("--slow \"link=NET7:0.1\": the machine does not have that link; the "
                            "nearest names are .*NET0.*"));
  EXPECT_THAT(Refusal({"link=NET7:0.1"}), HasSubstr("NET1"));
  EXPECT_THAT(Refusal({"link=GPU0,GPU1:0.1"}), HasSubstr("the nearest names are"));
  EXPECT_THAT(Refusal({"link=GPU0,GPU1:0.1"}), HasSubstr("GPU0,NVS0"));
}

TEST_F(SlowChoiceTest, NamesAHostOutOfRange) {
  EXPECT_THAT(Refusal({"link=NET1@2:0.1"}, 2), HasSubstr("host \"2\" is not one of 2 hosts"));
  EXPECT_THAT(Refusal({"link=NET1@a:0.1"}, 2), HasSubstr("host \"a\" is not one of"));
}

TEST_F(SlowChoiceTest, QuotesATextThatIsNotASlowLink) {
  EXPECT_THAT(Refusal({"NET1"}), HasSubstr("--slow: \"NET1\" is not link=NAME:FRACTION"));
}

}  // namespace
}  // namespace ringlet::cli
