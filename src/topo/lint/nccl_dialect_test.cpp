#include "topo/lint/nccl_dialect.hpp"

#include <gmock/gmock.h>

namespace ringlet::topology {
namespace {

using testing::ElementsAre;

/// Returns "rule line:column" of each finding.
std::vector<std::string> FindingLines(const std::string& text) {
  std::vector<std::string> said;
  for (const Finding& finding : LintDialect(text, ""))
    said.push_back(finding.rule + " " + std::to_string(finding.at.line) + ":" +
                   std::to_string(finding.at.column));
  return said;
}

TEST(NcclDialectTest, AcceptsFilesWrittenByNccl) {
  EXPECT_THAT(FindingLines("\n<!-- a\tb <c> -->\n<system version=\"1\">\n  <cpu a='1' b=\"\"/>\r\n"
                           "</system>\n"),
              ElementsAre());
  EXPECT_THAT(FindingLines("<a  b='1' />"), ElementsAre());
}

TEST(NcclDialectTest, ReportsXmlThatNcclCannotRead) {
  EXPECT_THAT(FindingLines("\xef\xbb\xbf<a/>"), ElementsAre("byte-order-mark 1:1"));
  EXPECT_THAT(FindingLines("<?xml version='1.0'?>\n<a/>"), ElementsAre("declaration 1:1"));
  EXPECT_THAT(FindingLines("<!DOCTYPE a>\n<a/>"), ElementsAre("declaration 1:1"));
  EXPECT_THAT(FindingLines("<a><![CDATA[<\t>]]></a>"), ElementsAre("declaration 1:4"));
  EXPECT_THAT(FindingLines("<a>\n\t<b/>\n\t</a>"), ElementsAre("tab 2:1"));
  EXPECT_THAT(FindingLines("<a\nb='1'\nc='2'/>"), ElementsAre("newline-in-tag 1:3"));
  EXPECT_THAT(FindingLines("<a b = '1'/>"), ElementsAre("blank-at-equals 1:4"));
  EXPECT_THAT(FindingLines("<a b='&lt;'/>"), ElementsAre("entity 1:4"));
}

TEST(NcclDialectTest, ReportsLongValuesAndManyAttributes) {
  EXPECT_THAT(FindingLines("<a b='" + std::string(253, 'x') + "'/>"), ElementsAre());
  EXPECT_THAT(FindingLines("<a b='" + std::string(254, 'x') + "'/>"),
              ElementsAre("long-value 1:4"));
  std::string many = "<a";
  for (int i = 0; i < 18; ++i) many += " a" + std::to_string(i) + "=''";
  EXPECT_THAT(FindingLines(many + ">"), ElementsAre("too-many-attributes 1:1"));
}

TEST(NcclDialectTest, ParsingBrokenTextsTerminates) {
  for (const char* text :
       {"<", "<a", "<a b", "<a b=", "<a b='", "<a b='x", "<!--", "<?", "<a =''", "</a", "<a / b/>"})
    LintDialect(text, "");
}

}  // namespace
}  // namespace ringlet::topology
