#include "topology/xml/xml_element.hpp"

#include <gmock/gmock.h>

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

/// A fixture with one element and its findings.
class XmlElementTest : public testing::Test {
 protected:
  XmlElement& Parse(const std::string& text) {
    text_.emplace(text);
    EXPECT_FALSE(text_->refusal());
    context_.emplace(XmlContext{*text_, "f.xml"});
    return element_.emplace(*context_, text_->root(), "path", Part{PartKind::kPci, 0});
  }
  /// Returns "rule at column" for each finding.
  std::string Said() {
    std::string said;
    for (const Finding& finding : context_->findings.Take())
      said += finding.rule + " at " + std::to_string(finding.at.column) + "\n";
    return said;
  }

  std::optional<XmlText> text_;
  std::optional<XmlContext> context_;
  std::optional<XmlElement> element_;
};

TEST_F(XmlElementTest, NumbersMatchNccl) {
  XmlElement& element = Parse("<a b='7' c='-1' d='' e='x' f='7up' g='010' h='-2' i='0x10'/>");
  EXPECT_EQ(element.Number("b"), 7u);
  EXPECT_EQ(element.Number("c"), std::nullopt);
  EXPECT_EQ(element.Number("d"), std::nullopt);
  EXPECT_EQ(element.Number("absent"), std::nullopt);
  EXPECT_EQ(element.Number("i"), 16u);
  EXPECT_EQ(Said(), "");
  EXPECT_EQ(element.Number("e"), std::nullopt);
  EXPECT_EQ(element.Number("f"), 7u);
  EXPECT_EQ(element.Number("g"), 8u);
  EXPECT_EQ(element.Number("h"), std::nullopt);
  EXPECT_EQ(element.Number("b", 6), std::nullopt);
  EXPECT_EQ(Said(),
            "bad-value at 4\nbad-value at 22\nbad-value at 28\noctal-number at 36\n"
            "bad-value at 44\n");
}

TEST_F(XmlElementTest, ReadsFlagsHexNumbersClassesAndBusIds) {
  XmlElement& element =
      Parse("<a f='1' g='2' h='0xff' i='12345' c='0x03' d='bridge' b='0000:0A:00.0' e='here'/>");
  EXPECT_EQ(element.Flag("f"), true);
  EXPECT_EQ(element.Hex("h"), 0xffu);
  EXPECT_EQ(element.Hex16("h"), 0xffu);
  EXPECT_EQ(element.Class("c"), PciClass{0x030000});
  EXPECT_EQ(Said(), "");
  EXPECT_EQ(element.Flag("g"), true);
  EXPECT_EQ(element.Hex16("i"), std::nullopt);
  EXPECT_EQ(element.Class("d"), std::nullopt);
  EXPECT_EQ(element.Bus("b"), BusId::Of(0, 10, 0, 0));
  EXPECT_EQ(element.Bus("e"), std::nullopt);
  EXPECT_EQ(Said(),
            "bad-value at 10\nbad-value at 25\nbad-value at 44\nbus-id-spelling at 55\n"
            "bad-value at 72\n");
}

TEST_F(XmlElementTest, RefusesLongTextsAsNames) {
  XmlElement& element = Parse("<a b='" + std::string(256, 'x') + "'/>");
  EXPECT_EQ(element.Text("b"), std::nullopt);
  EXPECT_EQ(element.LongText("b")->size(), 256u);
  EXPECT_EQ(Said(), "bad-value at 4\n");
}

TEST_F(XmlElementTest, UnreadAttributesAreKept) {
  XmlElement& element = Parse("<a b='1' c='2' d='3' c='4'/>");
  element.Number("b");
  element.Ignore("d");
  element.StoreUnread();
  EXPECT_EQ(Said(), "unknown-attribute at 10\nattribute-twice at 10\n");
  EXPECT_EQ(context_->view.unknown_attributes,
            (std::vector<UnknownAttribute>{{{PartKind::kPci, 0}, "c", "2"}}));
  EXPECT_EQ(context_->positions.Of({PartKind::kPci, 0}, "b"), (TextPosition{1, 4}));
}

}  // namespace
}  // namespace ringlet::topology
