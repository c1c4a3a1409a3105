#include "base/settings/nccl_variables.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/settings/setting_table.hpp"

namespace ringlet {
namespace {

TEST(NcclVariables, RecognizesVariablesThatOnlyNcclReads) {
  EXPECT_TRUE(IsUnusedNcclVariable("NCCL_BUFFSIZE"));
  EXPECT_TRUE(IsUnusedNcclVariable("NCCL_IB_TC"));
  EXPECT_FALSE(IsUnusedNcclVariable("NCCL_BUFFSIZ"));
  EXPECT_FALSE(IsUnusedNcclVariable("BUFFSIZE"));
  EXPECT_FALSE(IsUnusedNcclVariable(""));
}

TEST(NcclVariables, ExcludesVariablesThatRingletReads) {
  for (const SettingSpec& spec : kSettings) {
    if (spec.has_nccl_alias) {
      EXPECT_FALSE(IsUnusedNcclVariable(fmt::format("NCCL_{}", spec.name))) << spec.name;
    }
  }
}

TEST(NcclVariables, RecognizesVariablesThatChangePlans) {
  EXPECT_TRUE(ChangesNcclPlans("NCCL_COLLNET_ENABLE"));
  EXPECT_FALSE(ChangesNcclPlans("NCCL_IB_TC"));
  EXPECT_FALSE(ChangesNcclPlans("COLLNET_ENABLE"));
}

TEST(NcclVariables, FindsTheMostSimilarName) {
  EXPECT_EQ(NearestNcclVariable("NCCL_BUFSIZE").name, "NCCL_BUFFSIZE");
  EXPECT_EQ(NearestNcclVariable("NCCL_BUFSIZE").edits, 1u);
  EXPECT_EQ(NearestNcclVariable("NCCL_BUFFSIZE").edits, 0u);
}

}  // namespace
}  // namespace ringlet
