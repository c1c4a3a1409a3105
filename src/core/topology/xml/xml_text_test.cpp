#include "topology/xml/xml_text.hpp"

#include <gmock/gmock.h>

#include "topology/xml/xml_reader.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

std::string RuleOf(const std::string& text) {
  const XmlText parsed(text);
  return parsed.refusal() ? parsed.refusal()->rule : "none";
}

TEST(XmlTextTest, LinesAndColumnsBeginAtOne) {
  const LineIndex lines("ab\n\nc");
  EXPECT_EQ(lines.At(0), (TextPosition{1, 1}));
  EXPECT_EQ(lines.At(2), (TextPosition{1, 3}));
  EXPECT_EQ(lines.At(3), (TextPosition{2, 1}));
  EXPECT_EQ(lines.At(4), (TextPosition{3, 1}));
}

TEST(XmlTextTest, ElementsAndAttributesHaveTheirPositions) {
  const XmlText text(
      "\xef\xbb\xbf<?xml version='1.0'?>\n<!-- x -->\n<a>\n  <b c='&lt;' d='2'/></a>");
  ASSERT_FALSE(text.refusal());
  const pugi::xml_node b = text.root().child("b");
  EXPECT_EQ(text.At(text.root()), (TextPosition{3, 2}));
  EXPECT_EQ(text.At(b), (TextPosition{4, 4}));
  EXPECT_EQ(text.At(b.attribute("d"), b), (TextPosition{4, 15}));
  EXPECT_EQ(RawXml(b), "<b c=\"&lt;\" d=\"2\"/>");
}

TEST(XmlTextTest, InvalidXmlIsRefusedWithAPosition) {
  const XmlText text("<a>\n<b></c></a>");
  ASSERT_TRUE(text.refusal());
  EXPECT_EQ(text.refusal()->rule, "not-xml");
  EXPECT_EQ(text.refusal()->at.line, 2u);
  EXPECT_EQ(RuleOf(""), "no-element");
  EXPECT_EQ(RuleOf(" \n"), "no-element");
  EXPECT_EQ(RuleOf("hello"), "no-element");
  EXPECT_EQ(RuleOf("<a>"), "not-xml");
  EXPECT_EQ(RuleOf("<a b=></a>"), "not-xml");
  EXPECT_EQ(RuleOf(std::string("<a>\0</a>", 8)), "not-text");
  EXPECT_EQ(RuleOf("\x7f\x45\x4c\x46\x02\x01"), "not-text");
  EXPECT_EQ(RuleOf("\xff\xfe<"), "not-utf8");
}

TEST(XmlTextTest, NamesAnElementThatIsNeverClosed) {
  const auto refused = [](const std::string& text) { return XmlText(text).refusal().value(); };
  const XmlRefusal inside = refused("<a>\n <!-- <b> -->\n <b c='>'>\n <b c=\"/>\"/>\n</a>\n");
  EXPECT_THAT(inside.reason,
              HasSubstr("<b> of line 3 is never closed; </a> of line 5 is before its end tag"));
  EXPECT_EQ(inside.at.line, 3u);
  EXPECT_THAT(inside.cure, HasSubstr("write </b>"));
  EXPECT_THAT(refused("<a>\n<b/>\n").reason,
              HasSubstr("<a> of line 1 is never closed; the file ends before its end tag"));
}

TEST(XmlTextTest, BoundsAreCheckedBeforeParsing) {
  EXPECT_EQ(RuleOf(std::string(kXmlBytesMax + 1, ' ')), "too-large");
  std::string wide = "<a>";
  while (wide.size() < kXmlBytesMax - 10) wide += "<b/>";
  EXPECT_THAT(XmlText(wide + "</a>").refusal()->reason, HasSubstr("tags or"));
  std::string attributes = "<a";
  while (attributes.size() < kXmlBytesMax - 10) attributes += " b=''";
  EXPECT_THAT(XmlText(attributes + "/>").refusal()->reason, HasSubstr("tags or"));
}

TEST(XmlTextTest, AttributesOfAnElementAreBounded) {
  const auto with = [](std::size_t count) {
    std::string text = "<a>\n<b";
    for (std::size_t i = 0; i < count; ++i) text += " c=''";
    return text + "/></a>";
  };
  EXPECT_EQ(RuleOf(with(kXmlAttributesOfOneMax)), "none");
  EXPECT_EQ(RuleOf(with(kXmlAttributesOfOneMax + 1)), "too-large");
}

TEST(XmlTextTest, DepthIsBounded) {
  const auto nested = [](std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += "<a>";
    for (std::size_t i = 0; i < depth; ++i) text += "</a>";
    return text;
  };
  EXPECT_EQ(RuleOf(nested(kXmlDepthMax)), "none");
  EXPECT_EQ(RuleOf(nested(kXmlDepthMax + 1)), "too-deep");
  const XmlText deep(nested(10'000));
  ASSERT_TRUE(deep.refusal());
  EXPECT_EQ(deep.refusal()->at, (TextPosition{1, 3 * kXmlDepthMax + 2}));
}

}  // namespace
}  // namespace ringlet::topology
