#include "topo/lint/lint_bytes.hpp"

#include <gtest/gtest.h>

namespace ringlet::topology {
namespace {

TEST(LintBytesTest, AcceptsUtf8) {
  EXPECT_TRUE(LintBytes("plain", "f").empty());
  EXPECT_TRUE(LintBytes("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "f").empty());
}

TEST(LintBytesTest, NamesTheFirstInvalidByte) {
  const std::vector<Finding> findings = LintBytes("<a>\n b\xe4r \xff", "f");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "invalid-utf8");
  EXPECT_EQ(findings[0].at, (TextPosition{2, 3}));
  EXPECT_EQ(findings[0].reason, "byte 0xe4 is not valid UTF-8; 2 such bytes");
}

TEST(LintBytesTest, ReportsOverlongFormsSurrogatesAndCutCharacters) {
  for (const char* odd : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xe2\x82", "\xf5\x80\x80\x80", "\xf0\x80\x80\x80"})
    EXPECT_EQ(LintBytes(odd, "f").size(), 1u) << odd;
}

}  // namespace
}  // namespace ringlet::topology
