/* The host part of NCCL's device API, version 2.32.
 *
 * The device API lets kernels on GPUs communicate by themselves. Ringlet runs no kernels: a
 * function that creates resources for kernels changes nothing and returns ncclInvalidUsage, and
 * ncclGetLastError states the reason. ncclCommQueryProperties reports deviceApiSupport as false, so
 * a program can check it first. Functions about the arrangement of ranks work. It declares no
 * device code.
 *
 * It needs C99 or C++11, and nccl.h of the same folder.
 */
#ifndef RINGLET_COMPAT_NCCL_DEVICE_H_
#define RINGLET_COMPAT_NCCL_DEVICE_H_

#include <stdbool.h>
#include "nccl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Teams ----------------------------------------------------------------------------------- */

/* nRanks ranks of a communicator, `stride` apart; the caller has number `rank`. */
typedef struct ncclTeam {
  int nRanks, rank, stride;
} ncclTeam_t;

typedef enum RINGLET_C_ENUM_TYPE {
  NCCL_CFT_TEAM_FLAT,
  NCCL_CFT_TEAM_HIER_MULTIMEM,
  NCCL_CFT_TEAM_HIER_LSA
} ncclCftTeamMode_t;

/* All ranks. If the communicator does not exist, the functions for teams return 0 ranks. */
RINGLET_C_API ncclTeam_t ncclTeamWorld(ncclComm_t comm);
RINGLET_C_API ncclTeam_t pncclTeamWorld(ncclComm_t comm);

/* The ranks of this host, if all hosts have equally many, consecutive ranks; else this rank
 * alone. */
RINGLET_C_API ncclTeam_t ncclTeamLsa(ncclComm_t comm);
RINGLET_C_API ncclTeam_t pncclTeamLsa(ncclComm_t comm);

/* One rank of each host, at this rank's position on its host. */
RINGLET_C_API ncclTeam_t ncclTeamRail(ncclComm_t comm);
RINGLET_C_API ncclTeam_t pncclTeamRail(ncclComm_t comm);

/* GPU only; returns 0 ranks. */
RINGLET_C_API ncclTeam_t ncclTeamCft(ncclComm_t comm, ncclCftTeamMode_t mode);
RINGLET_C_API ncclTeam_t pncclTeamCft(ncclComm_t comm, ncclCftTeamMode_t mode);
RINGLET_C_API ncclTeam_t ncclTeamCftMultimem(ncclComm_t comm);
RINGLET_C_API ncclTeam_t pncclTeamCftMultimem(ncclComm_t comm);

/* Returns the number of `rank` of `team` in the communicator, or in ncclTeamLsa. */
RINGLET_C_API int ncclTeamRankToWorld(ncclComm_t comm, ncclTeam_t team, int rank);
RINGLET_C_API int pncclTeamRankToWorld(ncclComm_t comm, ncclTeam_t team, int rank);
RINGLET_C_API int ncclTeamRankToLsa(ncclComm_t comm, ncclTeam_t team, int rank);
RINGLET_C_API int pncclTeamRankToLsa(ncclComm_t comm, ncclTeam_t team, int rank);

/* The number of `bPeer` of `b` in `a`, and whether `a` contains it. Both teams are of one rank. */
static inline int ncclTeamRankToTeam(ncclTeam_t a, ncclTeam_t b, int bPeer) {
  return a.rank + (bPeer - b.rank) * b.stride / a.stride;
}
static inline bool ncclTeamRankIsMember(ncclTeam_t a, ncclTeam_t b, int bPeer) {
  const int away = (bPeer - b.rank) * b.stride;
  const int number = a.rank + away / a.stride;
  return away % a.stride == 0 && number >= 0 && number < a.nRanks;
}
/* Cuts `parent` into blocks of `innerSize`. The inner team is the caller's block; the outer team
 * contains the ranks with the caller's position in each block. */
static inline ncclTeam_t ncclTeamInnerFactor(ncclTeam_t parent, int innerSize) {
  ncclTeam_t team;
  team.nRanks = innerSize;
  team.rank = parent.rank % innerSize;
  team.stride = parent.stride;
  return team;
}
static inline ncclTeam_t ncclTeamOuterFactor(ncclTeam_t parent, int innerSize) {
  ncclTeam_t team;
  team.nRanks = parent.nRanks / innerSize;
  team.rank = parent.rank / innerSize;
  team.stride = parent.stride * innerSize;
  return team;
}
/* Returns the rank in `parent` of the `index`-th member that is not in `subset`; -1 if there are
 * fewer.
 */
static inline int ncclTeamRankInDifference(ncclTeam_t parent, ncclTeam_t subset, int index) {
  int rank;
  for (rank = 0; rank < parent.nRanks; ++rank)
    if (!ncclTeamRankIsMember(subset, parent, rank) && index-- == 0) return rank;
  return -1;
}

/* ---- What a communicator can do -------------------------------------------------------------- */

typedef enum RINGLET_C_ENUM_TYPE {
  NCCL_GIN_CONNECTION_NONE,
  NCCL_GIN_CONNECTION_FULL,
  NCCL_GIN_CONNECTION_RAIL,
  NCCL_GIN_CONNECTION_CUSTOM_STRIDE
} ncclGinConnectionType_t;

typedef enum RINGLET_C_ENUM_TYPE {
  NCCL_GIN_TYPE_NONE = 0,
  NCCL_GIN_TYPE_PROXY = 2,
  NCCL_GIN_TYPE_GDAKI = 3,
  NCCL_GIN_TYPE_GPI = 4,
  NCCL_GIN_TYPE_EFA_GDA = 5,
  NCCL_GIN_MAX_TYPES = 6
} ncclGinType_t;

/* Start from NCCL_COMM_PROPERTIES_INITIALIZER. GPU fields are false, NONE or 0. */
typedef struct ncclCommProperties {
  size_t size;
  unsigned int magic;
  unsigned int version;

  int rank;
  int nRanks;
  int cudaDev; /* as ncclCommCuDevice */
  int nvmlDev; /* the device number on this host */
  bool deviceApiSupport;
  bool multimemSupport;
  ncclGinType_t ginType;
  int nLsaTeams;       /* number of teams such as ncclTeamLsa */
  bool hostRmaSupport; /* true: ncclPutSignal works */
  ncclGinType_t railedGinType;
  uint64_t commHash; /* the same on all ranks; appears in the log */
  int ginMinStride;
  ncclGinConnectionType_t ginConnectionType;
  bool ginSupport[64];
  size_t devCommRuntimeVersionSize;
  bool cftSupport;
  bool cftMulticastSupport;
  bool cftCountedSupport;
} ncclCommProperties_t;

#define NCCL_COMM_PROPERTIES_INITIALIZER                                                           \
  {                                                                                                \
    sizeof(ncclCommProperties_t), NCCL_API_MAGIC, NCCL_VERSION_CODE, 0, 0, 0, 0, false, false,     \
        NCCL_GIN_TYPE_NONE, 0, false, NCCL_GIN_TYPE_NONE, 0, 0, NCCL_GIN_CONNECTION_NONE, {false}, \
        0, false, false, false                                                                     \
  }

/* Fills `props` up to the size of the caller's version. */
RINGLET_C_API ncclResult_t ncclCommQueryProperties(ncclComm_t comm, ncclCommProperties_t* props);
RINGLET_C_API ncclResult_t pncclCommQueryProperties(ncclComm_t comm, ncclCommProperties_t* props);

/* ---- Resources of kernels: refused ----------------------------------------------------------- */

#define NCCL_GIN_MAX_CONNECTIONS 4
#define NCCL_GIN_MAX_ACTIVE_BACKENDS 4

typedef enum { NCCL_CFT_NONE = 0x0, NCCL_CFT = 0x1, NCCL_CFT_MULTIMEM = 0x2 } ncclCftCap_t;

typedef uint32_t ncclDevResourceHandle;
typedef ncclDevResourceHandle ncclDevResourceHandle_t;
typedef uint32_t ncclGinSignal_t;
typedef uint32_t ncclGinCounter_t;
typedef uint32_t ncclCftLeId;
typedef ncclCftLeId ncclCftLeId_t;

typedef struct ncclMultimemHandle {
  void* mcBasePtr;
} ncclMultimemHandle_t;
typedef struct ncclLsaBarrierHandle {
  ncclDevResourceHandle_t bufHandle;
  int nBarriers;
} ncclLsaBarrierHandle_t;
typedef struct ncclGinBarrierHandle {
  ncclGinSignal_t signal0;
  ncclDevResourceHandle_t unused;
} ncclGinBarrierHandle_t;
typedef struct ncclCftBarrierHandle {
  ncclDevResourceHandle_t bufHandle;
  int nBarriers;
} ncclCftBarrierHandle_t;
typedef struct ncclLLA2AHandle {
  ncclDevResourceHandle_t bufHandle;
  uint32_t nSlots;
} ncclLLA2AHandle_t;
typedef struct ncclGinOutboxHandle ncclGinOutboxHandle_t;
typedef struct ncclGinInboxA2AHandle ncclGinInboxA2AHandle_t;

typedef struct ncclResourceWindow_vidmem {
  char* lsaFlatBase;
  uint32_t stride4G;
  uint32_t mcOffset4K;
} ncclResourceWindow_vidmem_t;

/* ncclDevCommCreate would fill it. */
typedef struct ncclDevComm {
  unsigned int magic;
  unsigned int version;
  int rank, nRanks;
  uint32_t nRanks_rcp32;
  int lsaRank, lsaSize;
  uint32_t lsaSize_rcp32;
  struct ncclDevCommWindowTable* windowTable;
  ncclWindow_t resourceWindow;
  ncclResourceWindow_vidmem_t resourceWindow_inlined;
  ncclGinBarrierHandle_t hybridDenseGinBarrier;
  ncclMultimemHandle_t lsaMultimem;
  ncclLsaBarrierHandle_t lsaBarrier;
  ncclGinBarrierHandle_t railGinBarrier;
  uint8_t ginConnectionCount;
  uint8_t backendIndex;
  uint8_t ginNetDeviceTypes[NCCL_GIN_MAX_CONNECTIONS];
  void* ginHandles[NCCL_GIN_MAX_CONNECTIONS];
  int ginSignalCount;
  int ginCounterCount;
  uint64_t* ginSignalShadows;
  uint32_t ginContextCount;
  int ginConnectionStride;
  int ginContextStride;
  bool ginStrongLegacySignals;
  uint32_t* abortFlag;
  ncclLsaBarrierHandle_t hybridLsaBarrier;
  ncclGinBarrierHandle_t hybridRailGinBarrier;
  ncclGinBarrierHandle_t worldGinBarrier;
  uint32_t ginConnectionStride_rcp32;
  int cftRank, cftSize;
  int cftMultimemRank, cftMultimemSize;
  uint32_t cftMultimemSize_rcp32;
  ncclCftLeId ucLeId;
  ncclCftLeId mcLeId;
  ncclCftBarrierHandle_t cftBarrier;
  ncclCftBarrierHandle_t cftMultimemBarrier;
} ncclDevComm_t;

typedef struct ncclDevResourceRequirements {
  struct ncclDevResourceRequirements* next;
  size_t bufferSize, bufferAlign;
  ncclDevResourceHandle_t* outBufferHandle;
  int ginSignalCount;
  int ginCounterCount;
  ncclGinSignal_t* outGinSignalStart;
  ncclGinCounter_t* outGinCounterStart;
} ncclDevResourceRequirements_t;

typedef struct ncclTeamRequirements {
  struct ncclTeamRequirements* next;
  ncclTeam_t team;
  bool multimem;
  ncclMultimemHandle_t* outMultimemHandle;
} ncclTeamRequirements_t;

/* Start from NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER. */
typedef struct ncclDevCommRequirements {
  size_t size;
  unsigned int magic;
  unsigned int version;

  ncclDevResourceRequirements_t* resourceRequirementsList;
  ncclTeamRequirements_t* teamRequirementsList;
  bool lsaMultimem;
  int barrierCount;
  int lsaBarrierCount;
  int railGinBarrierCount;
  int lsaLLA2ABlockCount, lsaLLA2ASlotCount;
  bool ginForceEnable;
  int ginContextCount;
  int ginSignalCount;
  int ginCounterCount;
  ncclGinConnectionType_t ginConnectionType;
  bool ginExclusiveContexts;
  int ginQueueDepth;
  int ginTrafficClass;
  int worldGinBarrierCount;
  bool ginStrongSignalsRequired;
  bool ginVaSignalsRequired;
  int ginCustomStride;
  ncclGinType_t ginType;
  bool useRuntimeVersion;
  int cftCaps;
  int cftBarrierCount;
} ncclDevCommRequirements_t;

#define NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER                                                     \
  {                                                                                                \
    sizeof(ncclDevCommRequirements_t), NCCL_API_MAGIC, NCCL_VERSION_CODE, NULL, NULL, false, 0, 0, \
        0, 0, 0, false, 4, 0, 0, NCCL_GIN_CONNECTION_NONE, false, 0, NCCL_CONFIG_UNDEF_INT, 0,     \
        true, true, 1, NCCL_GIN_TYPE_NONE, false, NCCL_CFT_NONE, 0                                 \
  }

/* A communicator for kernels. */
RINGLET_C_API ncclResult_t ncclDevCommCreate(ncclComm_t comm, const ncclDevCommRequirements_t* reqs,
                                             ncclDevComm_t* outDevComm);
RINGLET_C_API ncclResult_t pncclDevCommCreate(ncclComm_t comm,
                                              const ncclDevCommRequirements_t* reqs,
                                              ncclDevComm_t* outDevComm);
RINGLET_C_API ncclResult_t ncclDevCommDestroy(ncclComm_t comm, const ncclDevComm_t* devComm);
RINGLET_C_API ncclResult_t pncclDevCommDestroy(ncclComm_t comm, const ncclDevComm_t* devComm);

/* Address of a peer's window for kernels. Host code of the owner uses ncclWinGetUserPtr. */
RINGLET_C_API ncclResult_t ncclGetLsaMultimemDevicePointer(ncclWindow_t window, size_t offset,
                                                           void** outPtr);
RINGLET_C_API ncclResult_t pncclGetLsaMultimemDevicePointer(ncclWindow_t window, size_t offset,
                                                            void** outPtr);
RINGLET_C_API ncclResult_t ncclGetMultimemDevicePointer(ncclWindow_t window, size_t offset,
                                                        ncclMultimemHandle_t multimem,
                                                        void** outPtr);
RINGLET_C_API ncclResult_t pncclGetMultimemDevicePointer(ncclWindow_t window, size_t offset,
                                                         ncclMultimemHandle_t multimem,
                                                         void** outPtr);
RINGLET_C_API ncclResult_t ncclGetLsaDevicePointer(ncclWindow_t window, size_t offset, int lsaRank,
                                                   void** outPtr);
RINGLET_C_API ncclResult_t pncclGetLsaDevicePointer(ncclWindow_t window, size_t offset, int lsaRank,
                                                    void** outPtr);
RINGLET_C_API ncclResult_t ncclGetPeerDevicePointer(ncclWindow_t window, size_t offset, int peer,
                                                    void** outPtr);
RINGLET_C_API ncclResult_t pncclGetPeerDevicePointer(ncclWindow_t window, size_t offset, int peer,
                                                     void** outPtr);
RINGLET_C_API ncclResult_t ncclGetMultimemDeviceLeInfo(ncclWindow_t window, size_t offset,
                                                       ncclCftLeId* leId, size_t* leOffset);
RINGLET_C_API ncclResult_t pncclGetMultimemDeviceLeInfo(ncclWindow_t window, size_t offset,
                                                        ncclCftLeId* leId, size_t* leOffset);
RINGLET_C_API ncclResult_t ncclGetCftDeviceLeInfo(ncclWindow_t window, size_t offset, int peerCft,
                                                  ncclTeam_t cftTeam, ncclCftLeId* leId,
                                                  size_t* leOffset);
RINGLET_C_API ncclResult_t pncclGetCftDeviceLeInfo(ncclWindow_t window, size_t offset, int peerCft,
                                                   ncclTeam_t cftTeam, ncclCftLeId* leId,
                                                   size_t* leOffset);
RINGLET_C_API ncclResult_t ncclGetPeerDeviceLeInfo(ncclWindow_t window, size_t offset,
                                                   int peerWorld, ncclCftLeId* leId,
                                                   size_t* leOffset);
RINGLET_C_API ncclResult_t pncclGetPeerDeviceLeInfo(ncclWindow_t window, size_t offset,
                                                    int peerWorld, ncclCftLeId* leId,
                                                    size_t* leOffset);

/* Resources that ncclDevCommCreate would allocate. */
RINGLET_C_API ncclResult_t ncclLsaBarrierCreateRequirement(ncclTeam_t team, int nBarriers,
                                                           ncclLsaBarrierHandle_t* outHandle,
                                                           ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t pncclLsaBarrierCreateRequirement(ncclTeam_t team, int nBarriers,
                                                            ncclLsaBarrierHandle_t* outHandle,
                                                            ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t ncclGinBarrierCreateRequirement(ncclComm_t comm, ncclTeam_t team,
                                                           int nBarriers,
                                                           ncclGinBarrierHandle_t* outHandle,
                                                           ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t pncclGinBarrierCreateRequirement(ncclComm_t comm, ncclTeam_t team,
                                                            int nBarriers,
                                                            ncclGinBarrierHandle_t* outHandle,
                                                            ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t ncclCftBarrierCreateRequirement(ncclTeam_t team, int nBarriers,
                                                           ncclCftBarrierHandle_t* outHandle,
                                                           ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t pncclCftBarrierCreateRequirement(ncclTeam_t team, int nBarriers,
                                                            ncclCftBarrierHandle_t* outHandle,
                                                            ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t ncclLLA2ACreateRequirement(int nBlocks, int nSlots,
                                                      ncclLLA2AHandle_t* outHandle,
                                                      ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t pncclLLA2ACreateRequirement(int nBlocks, int nSlots,
                                                       ncclLLA2AHandle_t* outHandle,
                                                       ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t ncclGinOutboxCreateRequirement(int nBlocks, int size_log2,
                                                          ncclGinOutboxHandle_t* outHandle,
                                                          ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t pncclGinOutboxCreateRequirement(int nBlocks, int size_log2,
                                                           ncclGinOutboxHandle_t* outHandle,
                                                           ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t ncclGinInboxA2ACreateRequirement(ncclTeam_t peers, int nBlocks,
                                                            int size_log2,
                                                            ncclGinInboxA2AHandle_t* outHandle,
                                                            ncclDevResourceRequirements_t* outReq);
RINGLET_C_API ncclResult_t pncclGinInboxA2ACreateRequirement(ncclTeam_t peers, int nBlocks,
                                                             int size_log2,
                                                             ncclGinInboxA2AHandle_t* outHandle,
                                                             ncclDevResourceRequirements_t* outReq);

/* Returns the number of 8-byte slots for `maxElts` elements of `maxEltSize` bytes. */
RINGLET_C_API int ncclLLA2ACalcSlots(int maxElts, int maxEltSize);
RINGLET_C_API int pncclLLA2ACalcSlots(int maxElts, int maxEltSize);

#ifdef __cplusplus
}
#endif

#endif /* RINGLET_COMPAT_NCCL_DEVICE_H_ */
