#include "topo/check/defect.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ringlet::topology {
namespace {

TEST(DefectTest, FindsEachRuleByItsWord) {
  std::set<std::string_view> words;
  for (const DefectRule& rule : DefectRules()) {
    EXPECT_TRUE(words.insert(rule.word).second) << rule.word;
    EXPECT_EQ(&DefectRuleOf(rule.word), &rule);
    EXPECT_FALSE(rule.title.empty());
  }
}

TEST(DefectTest, OnlyNotesLackARemedy) {
  for (const DefectRule& rule : DefectRules())
    EXPECT_EQ(rule.severity == Severity::kNote, rule.remedy == Remedy::kNone) << rule.word;
  EXPECT_EQ(NameOf(Remedy::kEditFile), "edit-file");
  EXPECT_EQ(NameOf(Remedy::kDrain), "drain");
}

}  // namespace
}  // namespace ringlet::topology
