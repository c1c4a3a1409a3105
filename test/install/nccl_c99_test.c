/* Checks that nccl.h and nccl_device.h have NCCL 2.32's binary interface. This file is only
 * compiled: as C99, and as C++. */
#include <nccl.h>
#include <nccl_device.h>
#include <stddef.h>

/* C99 has no _Static_assert; a negative array size stops the compiler as well. */
#define CHECK_2(condition, line) typedef char check_##line[(condition) ? 1 : -1]
#define CHECK_1(condition, line) CHECK_2(condition, line)
#define CHECK(condition) CHECK_1(condition, __LINE__)
#define CHECK_FIELD(field, at) CHECK(offsetof(ncclConfig_t, field) == (at))

CHECK(NCCL_MAJOR == 2);
CHECK(NCCL_MINOR == 32);
CHECK(NCCL_VERSION_CODE == NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH));
CHECK(NCCL_VERSION_CODE == 23203);
CHECK(NCCL_VERSION(2, 8, 4) == 2804);

CHECK(sizeof(ncclUniqueId) == 128);
CHECK(NCCL_UNIQUE_ID_BYTES == 128);
CHECK(sizeof(ncclComm_t) == sizeof(void*));
CHECK(sizeof(ncclWindow_t) == sizeof(void*));
CHECK(sizeof(ncclResult_t) == 4);
CHECK(sizeof(ncclDataType_t) == 4);
CHECK(sizeof(ncclRedOp_t) == 4);

/* The offsets of 64-bit Linux. */
CHECK(sizeof(ncclConfig_t) == 120);
CHECK_FIELD(size, 0);
CHECK_FIELD(magic, 8);
CHECK_FIELD(version, 12);
CHECK_FIELD(blocking, 16);
CHECK_FIELD(cgaClusterSize, 20);
CHECK_FIELD(minCTAs, 24);
CHECK_FIELD(maxCTAs, 28);
CHECK_FIELD(netName, 32);
CHECK_FIELD(splitShare, 40);
CHECK_FIELD(trafficClass, 44);
CHECK_FIELD(commName, 48);
CHECK_FIELD(collnetEnable, 56);
CHECK_FIELD(CTAPolicy, 60);
CHECK_FIELD(shrinkShare, 64);
CHECK_FIELD(nvlsCTAs, 68);
CHECK_FIELD(nChannelsPerNetPeer, 72);
CHECK_FIELD(nvlinkCentricSched, 76);
CHECK_FIELD(graphUsageMode, 80);
CHECK_FIELD(numRmaCtx, 84);
CHECK_FIELD(maxP2pPeers, 88);
CHECK_FIELD(graphStreamOrdering, 92);
CHECK_FIELD(launchOrderImplicit, 96);
CHECK_FIELD(numRmaSig, 100);
CHECK_FIELD(rmaEagerInit, 104);
CHECK_FIELD(hostCftMode, 108);
CHECK_FIELD(nvlsHostMode, 112);

CHECK(sizeof(ncclCollConfig_t) == 72);
CHECK(offsetof(ncclCollConfig_t, ext) == 16);
CHECK(offsetof(ncclCollConfig_t, minCTAs) == 24);
CHECK(offsetof(ncclCollConfig_t, algSelection) == 40);
CHECK(offsetof(ncclCollConfig_t, forceAlgSelection) == 48);
CHECK(offsetof(ncclCollConfig_t, CTAPolicy) == 52);
CHECK(offsetof(ncclCollConfig_t, userProfilerTag) == 56);
CHECK(offsetof(ncclCollConfig_t, launchCompletionEvent) == 64);
CHECK(sizeof(ncclConfigExt_t) == 24);
CHECK(sizeof(ncclEncryptionConfig_t) == 32);
CHECK(offsetof(ncclEncryptionConfig_t, psk) == 24);
CHECK(sizeof(ncclWaitSignalDesc_t) == 16);
CHECK(sizeof(ncclParamHandle_t) == sizeof(void*));

CHECK(sizeof(ncclTeam_t) == 12);
CHECK(sizeof(ncclCommProperties_t) == 152);
CHECK(offsetof(ncclCommProperties_t, hostRmaSupport) == 44);
CHECK(offsetof(ncclCommProperties_t, commHash) == 56);
CHECK(offsetof(ncclCommProperties_t, devCommRuntimeVersionSize) == 136);
CHECK(sizeof(ncclDevComm_t) == 248);
CHECK(sizeof(ncclDevCommRequirements_t) == 120);
CHECK(sizeof(ncclDevResourceRequirements_t) == 56);
CHECK(sizeof(ncclTeamRequirements_t) == 32);

CHECK(sizeof(ncclSimInfo_t) == 24);
CHECK(offsetof(ncclSimInfo_t, estimatedTime) == 16);

CHECK(ncclSuccess == 0);
CHECK(ncclUnhandledCudaError == 1);
CHECK(ncclSystemError == 2);
CHECK(ncclInternalError == 3);
CHECK(ncclInvalidArgument == 4);
CHECK(ncclInvalidUsage == 5);
CHECK(ncclRemoteError == 6);
CHECK(ncclInProgress == 7);
CHECK(ncclTimeout == 8);
CHECK(ncclNumResults == 9);

CHECK(ncclInt8 == 0 && ncclChar == 0);
CHECK(ncclUint8 == 1);
CHECK(ncclInt32 == 2 && ncclInt == 2);
CHECK(ncclUint32 == 3);
CHECK(ncclInt64 == 4);
CHECK(ncclUint64 == 5);
CHECK(ncclFloat16 == 6 && ncclHalf == 6);
CHECK(ncclFloat32 == 7 && ncclFloat == 7);
CHECK(ncclFloat64 == 8 && ncclDouble == 8);
CHECK(ncclBfloat16 == 9);
CHECK(ncclFloat8e4m3 == 10);
CHECK(ncclFloat8e5m2 == 11);
CHECK(ncclNumTypes == 12);

CHECK(ncclSum == 0);
CHECK(ncclProd == 1);
CHECK(ncclMax == 2);
CHECK(ncclMin == 3);
CHECK(ncclAvg == 4);
CHECK(ncclNumOps == 5);
CHECK(ncclMaxRedOp == 0x7fffffff);
CHECK(ncclScalarDevice == 0);
CHECK(ncclScalarHostImmediate == 1);

CHECK(NCCL_SPLIT_NOCOLOR == -1);
CHECK(NCCL_CTA_POLICY_EFFICIENCY == 1 && NCCL_CTA_POLICY_ZERO == 2);
CHECK(NCCL_SHRINK_DEFAULT == 0 && NCCL_SHRINK_ABORT == 1);
CHECK(NCCL_WIN_COLL_SYMMETRIC == 1 && NCCL_WIN_STRICT_ORDERING == 2);
CHECK(NCCL_WIN_GIN_ONLY == 4 && NCCL_WIN_CFT_COUNTED == 8);
CHECK(NCCL_SUSPEND_MEM == 1);
CHECK(NCCL_API_MAGIC == 0xcafebeef);
CHECK(ncclStatGpuMemSuspend == 0 && ncclStatGpuMemTotal == 3);
CHECK(ncclHostCftFallback == 3 && ncclNvlsHostModeDisableSymmetricMultimem == 2);
CHECK(NCCL_ENCRYPTION_MODE_PSK == 1);
CHECK(NCCL_GIN_TYPE_EFA_GDA == 5 && NCCL_GIN_CONNECTION_CUSTOM_STRIDE == 3);
CHECK(NCCL_WIN_REQUIRED_ALIGNMENT == 4096);

/* The initializers fit their structs, and a client may pass every option. */
extern ncclResult_t Form(ncclComm_t* comm, ncclUniqueId id);
ncclResult_t Form(ncclComm_t* comm, ncclUniqueId id) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  ncclCollConfig_t call = NCCL_COLLCONFIG_INITIALIZER;
  ncclEncryptionConfig_t encryption = NCCL_ENCRYPTION_CONFIG_INITIALIZER;
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  if (call.forceAlgSelection != 1 || encryption.psk || properties.rank != 0)
    return ncclInternalError;
  if (requirements.ginContextCount != 4) return ncclInternalError;
  config.blocking = 0;
  config.commName = "c99";
  if (ncclGroupSimulateEnd(&info) != ncclSuccess) return ncclInternalError;
  return pncclCommInitRankConfig(comm, 1, id, 0, &config);
}
