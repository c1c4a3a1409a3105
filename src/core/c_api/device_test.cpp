#include <gmock/gmock.h>

#include <cstddef>

#include "c_api/comms_for_test.hpp"
#include "ringlet/compat/nccl_device.h"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

TEST(Device, PropertiesReportThatTheDeviceApiIsMissing) {
  const auto comms = InitAll(3);
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  ASSERT_EQ(ncclCommQueryProperties(comms[1], &properties), ncclSuccess) << LastMessage();
  EXPECT_EQ(properties.rank, 1);
  EXPECT_EQ(properties.nRanks, 3);
  EXPECT_EQ(properties.cudaDev, 1);
  EXPECT_FALSE(properties.deviceApiSupport);
  EXPECT_FALSE(properties.multimemSupport);
  EXPECT_TRUE(properties.hostRmaSupport);
  EXPECT_EQ(properties.nLsaTeams, 1);
  EXPECT_NE(properties.commHash, 0u);
  ncclCommProperties_t others = NCCL_COMM_PROPERTIES_INITIALIZER;
  ASSERT_EQ(ncclCommQueryProperties(comms[2], &others), ncclSuccess);
  EXPECT_EQ(others.commHash, properties.commHash);

  ncclCommProperties_t older = NCCL_COMM_PROPERTIES_INITIALIZER;
  older.size = offsetof(ncclCommProperties_t, commHash);
  older.commHash = 99;
  ASSERT_EQ(ncclCommQueryProperties(comms[0], &older), ncclSuccess);
  EXPECT_EQ(older.commHash, 99u) << "beyond the caller's struct";
  older.magic = 0;
  EXPECT_EQ(ncclCommQueryProperties(comms[0], &older), ncclInvalidUsage);
  older = NCCL_COMM_PROPERTIES_INITIALIZER;
  older.size = 3;
  EXPECT_EQ(ncclCommQueryProperties(comms[0], &older), ncclInvalidArgument);
  EXPECT_EQ(ncclCommQueryProperties(comms[0], nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommQueryProperties(nullptr, &older), ncclInvalidArgument);
  DestroyAll(comms);
}

TEST(Device, TeamsGroupRanksByHost) {
  const auto comms = InitAll(4);
  const ncclTeam_t world = ncclTeamWorld(comms[2]), lsa = ncclTeamLsa(comms[2]),
                   rail = ncclTeamRail(comms[2]);
  EXPECT_EQ(world.nRanks, 4);
  EXPECT_EQ(world.rank, 2);
  EXPECT_EQ(world.stride, 1);
  EXPECT_EQ(lsa.nRanks, 4);
  EXPECT_EQ(lsa.rank, 2);
  EXPECT_EQ(rail.nRanks, 1);
  EXPECT_EQ(rail.rank, 0);
  EXPECT_EQ(ncclTeamRankToWorld(comms[2], lsa, 3), 3);
  EXPECT_EQ(ncclTeamRankToLsa(comms[2], world, 1), 1);
  EXPECT_EQ(ncclTeamWorld(nullptr).nRanks, 0);
  EXPECT_EQ(ncclTeamRankToWorld(nullptr, world, 0), -1);
  EXPECT_EQ(ncclTeamCft(comms[0], NCCL_CFT_TEAM_FLAT).nRanks, 0);
  EXPECT_THAT(LastMessage(), HasSubstr("needs a GPU"));
  EXPECT_EQ(ncclTeamCftMultimem(comms[0]).nRanks, 0);
  DestroyAll(comms);
}

TEST(Device, TeamsNest) {
  const ncclTeam_t parent = {12, 7, 1};
  const ncclTeam_t inner = ncclTeamInnerFactor(parent, 4), outer = ncclTeamOuterFactor(parent, 4);
  EXPECT_EQ(inner.rank, 3);
  EXPECT_EQ(outer.nRanks, 3);
  EXPECT_EQ(outer.rank, 1);
  EXPECT_EQ(outer.stride, 4);
  EXPECT_TRUE(ncclTeamRankIsMember(outer, parent, 11));
  EXPECT_FALSE(ncclTeamRankIsMember(outer, parent, 10));
  EXPECT_EQ(ncclTeamRankToTeam(outer, parent, 11), 2);
  EXPECT_EQ(ncclTeamRankInDifference(parent, inner, 4), 8);
  EXPECT_EQ(ncclTeamRankInDifference(parent, inner, 8), -1);
}

TEST(Device, KernelResourcesAreRefusedWithAReason) {
  const auto comms = InitAll(1);
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  ncclDevComm_t device = {};
  ncclDevResourceRequirements_t resources = {};
  const ncclTeam_t team = ncclTeamWorld(comms[0]);
  void* pointer = nullptr;
  std::size_t offset = 0;
  ncclCftLeId endpoint = 0;
  const ncclResult_t results[] = {
      ncclDevCommCreate(comms[0], &requirements, &device),
      ncclDevCommDestroy(comms[0], &device),
      ncclGetLsaMultimemDevicePointer(nullptr, 0, &pointer),
      ncclGetMultimemDevicePointer(nullptr, 0, {}, &pointer),
      ncclGetLsaDevicePointer(nullptr, 0, 0, &pointer),
      ncclGetPeerDevicePointer(nullptr, 0, 0, &pointer),
      ncclGetMultimemDeviceLeInfo(nullptr, 0, &endpoint, &offset),
      ncclGetCftDeviceLeInfo(nullptr, 0, 0, team, &endpoint, &offset),
      ncclGetPeerDeviceLeInfo(nullptr, 0, 0, &endpoint, &offset),
      ncclLsaBarrierCreateRequirement(team, 1, nullptr, &resources),
      ncclGinBarrierCreateRequirement(comms[0], team, 1, nullptr, &resources),
      ncclCftBarrierCreateRequirement(team, 1, nullptr, &resources),
      ncclLLA2ACreateRequirement(1, 1, nullptr, &resources),
      ncclGinOutboxCreateRequirement(1, 1, nullptr, &resources),
      ncclGinInboxA2ACreateRequirement(team, 1, 1, nullptr, &resources)};
  for (const ncclResult_t result : results) EXPECT_EQ(result, ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("needs a GPU"));
  EXPECT_EQ(ncclLLA2ACalcSlots(3, 16), 6);
  EXPECT_EQ(ncclLLA2ACalcSlots(5, 12), 10);
  EXPECT_EQ(ncclLLA2ACalcSlots(7, 3), 7);
  ExpectSum(comms);
  DestroyAll(comms);
}

TEST(Device, ASuspendedCommunicatorReleasesItsMemory) {
  const auto comms = InitAll(2);
  const auto stat = [&](ncclCommMemStat_t which) {
    std::uint64_t value = 0;
    EXPECT_EQ(ncclCommMemStats(comms[0], which, &value), ncclSuccess) << LastMessage();
    return value;
  };
  // An in-place all-to-all copies its input.
  std::vector<std::vector<float>> data(2, std::vector<float>(2'000, 1.0f));
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclAlltoAll(data[i].data(), data[i].data(), 1'000, ncclFloat, comms[i], nullptr),
              ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  EXPECT_GE(stat(ncclStatGpuMemSuspend), 8'000u);
  EXPECT_GT(stat(ncclStatGpuMemPersist), 0u);
  EXPECT_EQ(stat(ncclStatGpuMemTotal), stat(ncclStatGpuMemSuspend) + stat(ncclStatGpuMemPersist));
  EXPECT_EQ(stat(ncclStatGpuMemSuspended), 0u);

  EXPECT_EQ(ncclCommResume(comms[0]), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("not suspended"));
  EXPECT_EQ(ncclCommSuspend(comms[0], NCCL_SUSPEND_MEM), ncclSuccess) << LastMessage();
  EXPECT_EQ(stat(ncclStatGpuMemSuspend), 0u);
  EXPECT_EQ(stat(ncclStatGpuMemSuspended), 1u);
  EXPECT_EQ(ncclCommSuspend(comms[0], NCCL_SUSPEND_MEM), ncclInvalidUsage);
  float one = 1;
  EXPECT_EQ(ncclAllReduce(&one, &one, 1, ncclFloat, ncclSum, comms[0], nullptr), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("ncclCommResume first"));
  ncclComm_t child = nullptr;
  EXPECT_EQ(ncclCommSplit(comms[0], 0, 0, &child, nullptr), ncclInvalidUsage);
  EXPECT_EQ(ncclCommResume(comms[0]), ncclSuccess) << LastMessage();
  EXPECT_EQ(stat(ncclStatGpuMemSuspended), 0u);
  ExpectSum(comms);
  DestroyAll(comms);
}

}  // namespace
}  // namespace ringlet::c_api
