#include "topology/paths/path_options.hpp"

#include <gmock/gmock.h>

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

Result<PathOptions> Read(const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(const Settings settings, ParseSettings(environment));
  return ReadPathOptions(settings);
}

TEST(PathOptionsTest, DefaultsMatchNccl) {
  const PathOptions options = Read({}).value();
  EXPECT_FALSE(options.p2p_level);
  EXPECT_TRUE(options.nvb && options.shm && options.net_intra && options.pxn && options.pxn_c2c);
  EXPECT_FALSE(options.gdr_level || options.gdr_read);
  EXPECT_EQ(options.net_policy, NetPolicy{});
}

TEST(PathOptionsTest, EveryVariableIsRead) {
  const PathOptions options = Read({{"NCCL_P2P_LEVEL", "sys"},
                                    {"NCCL_NVB_DISABLE", "1"},
                                    {"NCCL_SHM_DISABLE", "1"},
                                    {"NCCL_NET_DISABLE_INTRA", "1"},
                                    {"NCCL_PXN_DISABLE", "1"},
                                    {"NCCL_PXN_C2C", "0"},
                                    {"NCCL_NET_GDR_LEVEL", "3"},
                                    {"NCCL_NET_GDR_READ", "1"},
                                    {"NCCL_NET_GDR_C2C", "0"},
                                    {"NCCL_NET_GDR_MLOPART", "1"},
                                    {"NCCL_IGNORE_DISABLED_P2P", "2"},
                                    {"NCCL_NETDEVS_POLICY", "MAX:3"}})
                                  .value();
  EXPECT_EQ(options.p2p_level, PathType::kSys);
  EXPECT_FALSE(options.nvb || options.shm || options.net_intra || options.pxn || options.pxn_c2c ||
               options.gdr_c2c);
  EXPECT_EQ(options.gdr_level, PathType::kPhb);
  EXPECT_EQ(options.gdr_read, true);
  EXPECT_TRUE(options.gdr_split);
  EXPECT_EQ(options.ignore_disabled_p2p, 2u);
  EXPECT_EQ(options.net_policy, (NetPolicy{NetPolicy::Kind::kMax, 3}));
  EXPECT_EQ(Read({{"NCCL_P2P_LEVEL", "SYS"}, {"NCCL_P2P_DISABLE", "1"}})->p2p_level,
            PathType::kLoc);
  EXPECT_EQ(Read({{"NCCL_NETDEVS_POLICY", "ALL"}})->net_policy.kind, NetPolicy::Kind::kAll);
}

TEST(PathOptionsTest, LevelsHaveNamesAndOldNumbers) {
  EXPECT_EQ(ParsePathType("LOC").value(), PathType::kLoc);
  EXPECT_EQ(ParsePathType("PXN").value(), PathType::kPxn);
  EXPECT_EQ(ParsePathType("1").value(), PathType::kPix);
  EXPECT_EQ(ParsePathType("7").value(), PathType::kSys);
  for (const char* bad : {"NET", "DIS", "PXI", "-1", ""}) EXPECT_FALSE(ParsePathType(bad).ok());
}

TEST(PathOptionsTest, AnInvalidValueIsNamed) {
  for (const auto& [name, value] :
       {std::pair("RINGLET_P2P_LEVEL", "near"), std::pair("RINGLET_PXN_DISABLE", "yes"),
        std::pair("RINGLET_NETDEVS_POLICY", "MAX:0"),
        std::pair("RINGLET_IGNORE_DISABLED_P2P", "3")}) {
    const Result<PathOptions> options = Read({{name, value}});
    ASSERT_FALSE(options.ok()) << name;
    EXPECT_THAT(options.error().message, HasSubstr(name));
    EXPECT_THAT(options.error().message, HasSubstr(value));
  }
}

}  // namespace
}  // namespace ringlet::topology
