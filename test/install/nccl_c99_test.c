/* nccl.h promises NCCL 2.28's binary interface. This file is only compiled: as C99, and as C++. */
#include <nccl.h>
#include <stddef.h>

/* C99 has no _Static_assert; a negative array size stops the compiler as well. */
#define CHECK_2(condition, line) typedef char check_##line[(condition) ? 1 : -1]
#define CHECK_1(condition, line) CHECK_2(condition, line)
#define CHECK(condition) CHECK_1(condition, __LINE__)
#define CHECK_FIELD(field, at) CHECK(offsetof(ncclConfig_t, field) == (at))

CHECK(NCCL_MAJOR == 2);
CHECK(NCCL_MINOR == 28);
CHECK(NCCL_VERSION_CODE == NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH));
CHECK(NCCL_VERSION_CODE == 22809);
CHECK(NCCL_VERSION(2, 8, 4) == 2804);

CHECK(sizeof(ncclUniqueId) == 128);
CHECK(NCCL_UNIQUE_ID_BYTES == 128);
CHECK(sizeof(ncclComm_t) == sizeof(void*));
CHECK(sizeof(ncclWindow_t) == sizeof(void*));
CHECK(sizeof(ncclResult_t) == 4);
CHECK(sizeof(ncclDataType_t) == 4);
CHECK(sizeof(ncclRedOp_t) == 4);

/* The offsets of 64-bit Linux. */
CHECK(sizeof(ncclConfig_t) == 80);
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
CHECK(ncclNumResults == 8);

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
CHECK(NCCL_WIN_COLL_SYMMETRIC == 1);
CHECK(NCCL_WIN_REQUIRED_ALIGNMENT == 4096);

/* The initializers fit their structs, and a client may pass every option. */
extern ncclResult_t Form(ncclComm_t* comm, ncclUniqueId id);
ncclResult_t Form(ncclComm_t* comm, ncclUniqueId id) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  config.blocking = 0;
  config.commName = "c99";
  if (ncclGroupSimulateEnd(&info) != ncclSuccess) return ncclInternalError;
  return pncclCommInitRankConfig(comm, 1, id, 0, &config);
}
