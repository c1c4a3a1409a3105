/* NCCL's C interface, version 2.32, for programs that run on Ringlet.
 *
 * Names, numbers and layouts are NCCL's. A program compiles unchanged. With Ringlet's libnccl.so.2,
 * a compiled program runs unchanged. This header describes the behaviour of Ringlet, which moves
 * host memory:
 *
 *   Buffers   are CPU memory. Device memory is ncclInvalidArgument if the process had loaded
 *             NVIDIA's libcuda.so.1 when it made its last communicator.
 *   Streams   a call on a null stream is complete on return. Inside a group, it is complete when
 *             the outermost ncclGroupEnd returns; on a non-blocking communicator (below), when
 *             ncclCommGetAsyncError reports ncclSuccess. Any other stream belongs to
 *             ringlet/stream.h: the call is checked, queued behind the earlier work of the stream
 *             and of the communicator, and returns.
 *   Threads   one thread at a time per communicator, except ncclCommAbort, ncclCommRevoke and
 *             ncclCommGetAsyncError, which any thread may call at any time.
 *   Errors    every call returns a ncclResult_t. ncclGetLastError returns the full message: rank,
 *             host, address and the cure. After any result except ncclSuccess,
 *             ncclInvalidArgument and ncclInProgress, abort the communicator.
 *   Missing   a function that requires a GPU changes nothing and returns ncclInvalidUsage;
 *             ncclGetLastError states the reason. The same holds for nccl_device.h.
 *
 * "Collective" means that every rank of the communicator makes the call, in the same order. Each
 * function has an alias with a leading p, so that a profiler can define the plain name and call the
 * alias.
 *
 * The installation folder of this header is not on any compiler's default path, so the header never
 * shadows a real NCCL. It needs C99 or C++98 and no CUDA. Like NCCL's header, it includes
 * cuda_runtime.h if the compiler finds it; define RINGLET_NO_CUDA_HEADERS to prevent that.
 */
#ifndef RINGLET_COMPAT_NCCL_H_
#define RINGLET_COMPAT_NCCL_H_

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(RINGLET_NO_CUDA_HEADERS) && defined(__has_include)
#if __has_include(<cuda_runtime.h>)
#include <cuda_runtime.h>
#if __has_include(<cuda_fp16.h>)
#include <cuda_fp16.h>
#endif
#if __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#endif
#if defined(__cplusplus) && __has_include(<cuda_fp8.h>)
#include <cuda_fp8.h>
#endif
#endif
#endif
#if !defined(__DRIVER_TYPES_H__) && !defined(__CUDA_RUNTIME_H__)
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
#endif

#if defined(__GNUC__)
#define RINGLET_C_API __attribute__((visibility("default")))
#else
#define RINGLET_C_API
#endif

/* Callers may pass any number as an enum. C++ allows this only for an enum with a fixed type. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define RINGLET_C_ENUM_TYPE : int
#else
#define RINGLET_C_ENUM_TYPE
#endif

/* ---- Version --------------------------------------------------------------------------------- */

#define NCCL_MAJOR 2
#define NCCL_MINOR 32
#define NCCL_PATCH 3
#define NCCL_SUFFIX ""

/* The code of a version. Up to 2.8, the minor number had one digit less. */
#define NCCL_VERSION(major, minor, patch)                                \
  (((major) <= 2 && (minor) <= 8) ? (major)*1000 + (minor)*100 + (patch) \
                                  : (major)*10000 + (minor)*100 + (patch))
#define NCCL_VERSION_CODE 23203

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ----------------------------------------------------------------------------------- */

/* One rank's handle of a communicator. */
typedef struct ncclComm* ncclComm_t;
#define NCCL_COMM_NULL NULL

/* A buffer that all ranks registered together. */
typedef struct ncclWindow_vidmem* ncclWindow_t;

/* Names a future communicator and contains its secret: each holder of the id can join. Opaque and
 * copied by value. The caller transports it to the other ranks. */
#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum RINGLET_C_ENUM_TYPE {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1, /* Ringlet calls no CUDA and never returns this */
  ncclSystemError = 2,        /* a system call failed */
  ncclInternalError = 3,      /* a defect of Ringlet */
  ncclInvalidArgument = 4,    /* the call had no effect; the communicator is unchanged */
  ncclInvalidUsage = 5,       /* not possible here, not implemented, or ranks do not match */
  ncclRemoteError = 6,        /* a rank is lost or aborted */
  ncclInProgress = 7,         /* a non-blocking communicator is still working */
  ncclTimeout = 8,            /* a rank did not respond before the deadline */
  ncclNumResults = 9
} ncclResult_t;

typedef enum RINGLET_C_ENUM_TYPE {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11,
  ncclNumTypes = 12
} ncclDataType_t;

/* The type from which NCCL computes ncclMaxRedOp. Clients may name it. */
typedef enum { ncclNumOps_dummy = 5 } ncclRedOp_dummy_t;

/* Values from ncclNumOps to ncclMaxRedOp are operations from ncclRedOpCreatePreMulSum. */
typedef enum RINGLET_C_ENUM_TYPE {
  ncclSum = 0,
  ncclProd = 1,
  ncclMax = 2,
  ncclMin = 3,
  ncclAvg = 4, /* the sum divided by the number of ranks, once, at the end */
  ncclNumOps = 5,
  ncclMaxRedOp = 0x7fffffff
} ncclRedOp_t;

typedef enum RINGLET_C_ENUM_TYPE {
  ncclScalarDevice = 0,       /* CPU memory, read when the collective runs */
  ncclScalarHostImmediate = 1 /* read before ncclRedOpCreatePreMulSum returns */
} ncclScalarResidence_t;

/* ---- Options --------------------------------------------------------------------------------- */

#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_UNDEF_FLOAT -1.0f

/* The value of `magic` in structs from an INITIALIZER of this header. Callers do not set it. */
#define NCCL_API_MAGIC 0xcafebeef

#define NCCL_SPLIT_NOCOLOR -1 /* this rank takes part in the split but joins no child */

#define NCCL_CTA_POLICY_DEFAULT 0x00
#define NCCL_CTA_POLICY_EFFICIENCY 0x01
#define NCCL_CTA_POLICY_ZERO 0x02

#define NCCL_SHRINK_DEFAULT 0x00 /* the parent is idle */
#define NCCL_SHRINK_ABORT 0x01   /* the parent is broken: abort its running operations first */

#define NCCL_REVOKE_DEFAULT 0x00

#define NCCL_WIN_DEFAULT 0x00
#define NCCL_WIN_COLL_SYMMETRIC 0x01 /* required for the source and the target of a put */
#define NCCL_WIN_STRICT_ORDERING 0x02
#define NCCL_WIN_GIN_ONLY 0x04    /* GPU only */
#define NCCL_WIN_CFT_COUNTED 0x08 /* GPU only */
#define NCCL_WIN_REQUIRED_ALIGNMENT 4096

#define NCCL_SUSPEND_MEM 0x01 /* for ncclCommSuspend: free memory */

/* Values of ncclConfig_t::hostCftMode. GPU only. */
typedef enum RINGLET_C_ENUM_TYPE {
  ncclHostCftDefault = NCCL_CONFIG_UNDEF_INT,
  ncclHostCftEnable = 1,
  ncclHostCftDisable = 2,
  ncclHostCftFallback = 3
} ncclHostCftMode_t;

/* Values of ncclConfig_t::nvlsHostMode: a sum of the features to disable. GPU only. */
typedef enum RINGLET_C_ENUM_TYPE {
  ncclNvlsHostModeDefault = NCCL_CONFIG_UNDEF_INT,
  ncclNvlsHostModeEnable = 0,
  ncclNvlsHostModeDisableTransport = 1,
  ncclNvlsHostModeDisableSymmetricMultimem = 2,
  ncclNvlsHostModeDisable = INT_MAX
} ncclNvlsHostMode_t;

/* The options of a communicator. Always start from NCCL_CONFIG_INITIALIZER. The first three fields
 * contain the version of this struct at the caller's compilation; the library accepts all versions
 * from 2.14 on. A field with its UNDEF value takes the default. The library checks each field. A
 * field that is set but has no effect on CPU memory is logged once. */
typedef struct ncclConfig_v23100 {
  size_t size;
  unsigned int magic;
  unsigned int version;

  int blocking; /* 0: calls that wait for other ranks return ncclInProgress, and a thread completes
                   them: poll ncclCommGetAsyncError. Until then other calls on the communicator are
                   ncclInvalidArgument */
  int cgaClusterSize;      /* GPU only */
  int minCTAs;             /* GPU only */
  int maxCTAs;             /* GPU only */
  const char* netName;     /* no effect: RINGLET_NET chooses the network */
  int splitShare;          /* no effect: children share all that they can */
  int trafficClass;        /* no effect */
  const char* commName;    /* appears in the log beside the communicator's number */
  int collnetEnable;       /* in-network reduction; not available */
  int CTAPolicy;           /* GPU only; NCCL_CTA_POLICY_ */
  int shrinkShare;         /* no effect, as splitShare */
  int nvlsCTAs;            /* GPU only */
  int nChannelsPerNetPeer; /* no effect: RINGLET_SOCKETS_PER_LINK sets the number of connections */
  int nvlinkCentricSched;  /* GPU only */
  int graphUsageMode;      /* GPU only */
  int numRmaCtx;           /* contexts of ncclPutSignal; default 1 */
  int maxP2pPeers;         /* no effect: a rank connects to a peer on first use */
  int graphStreamOrdering; /* GPU only */
  int launchOrderImplicit; /* GPU only */
  int numRmaSig;           /* signals of each context; default 1 */
  int rmaEagerInit;        /* no effect: puts need no preparation */
  int hostCftMode;         /* GPU only; ncclHostCftMode_t */
  int nvlsHostMode;        /* GPU only; ncclNvlsHostMode_t */
} ncclConfig_t;

#define NCCL_CONFIG_INITIALIZER                          \
  {                                                      \
    sizeof(ncclConfig_t),      /* size */                \
        NCCL_API_MAGIC,        /* magic */               \
        NCCL_VERSION_CODE,     /* version */             \
        NCCL_CONFIG_UNDEF_INT, /* blocking */            \
        NCCL_CONFIG_UNDEF_INT, /* cgaClusterSize */      \
        NCCL_CONFIG_UNDEF_INT, /* minCTAs */             \
        NCCL_CONFIG_UNDEF_INT, /* maxCTAs */             \
        NCCL_CONFIG_UNDEF_PTR, /* netName */             \
        NCCL_CONFIG_UNDEF_INT, /* splitShare */          \
        NCCL_CONFIG_UNDEF_INT, /* trafficClass */        \
        NCCL_CONFIG_UNDEF_PTR, /* commName */            \
        NCCL_CONFIG_UNDEF_INT, /* collnetEnable */       \
        NCCL_CONFIG_UNDEF_INT, /* CTAPolicy */           \
        NCCL_CONFIG_UNDEF_INT, /* shrinkShare */         \
        NCCL_CONFIG_UNDEF_INT, /* nvlsCTAs */            \
        NCCL_CONFIG_UNDEF_INT, /* nChannelsPerNetPeer */ \
        NCCL_CONFIG_UNDEF_INT, /* nvlinkCentricSched */  \
        NCCL_CONFIG_UNDEF_INT, /* graphUsageMode */      \
        NCCL_CONFIG_UNDEF_INT, /* numRmaCtx */           \
        NCCL_CONFIG_UNDEF_INT, /* maxP2pPeers */         \
        NCCL_CONFIG_UNDEF_INT, /* graphStreamOrdering */ \
        NCCL_CONFIG_UNDEF_INT, /* launchOrderImplicit */ \
        NCCL_CONFIG_UNDEF_INT, /* numRmaSig */           \
        NCCL_CONFIG_UNDEF_INT, /* rmaEagerInit */        \
        NCCL_CONFIG_UNDEF_INT, /* hostCftMode */         \
        NCCL_CONFIG_UNDEF_INT  /* nvlsHostMode */        \
  }

/* A vendor-specific option, in a list that ends with NULL. Ringlet ignores all of them. */
typedef struct ncclConfigExt {
  struct ncclConfigExt* next;
  struct {
    int vendorId;
    int optionId;
  } key;
  union {
    int i;
    const char* s;
    void* raw;
  } val;
} ncclConfigExt_t;

/* The options of one collective call. Always start from NCCL_COLLCONFIG_INITIALIZER. The library
 * reads them before the call returns. They are the same on all ranks. */
typedef struct ncclCollConfig_v23200 {
  size_t size;
  unsigned int magic;
  unsigned int version;

  ncclConfigExt_t* ext;
  int minCTAs;        /* GPU only */
  int maxCTAs;        /* GPU only */
  int nvlsCTAs;       /* GPU only */
  int cgaClusterSize; /* GPU only */

  /* Allowed algorithms: names separated by commas, or ^ and the forbidden names. "ring" and "tree"
   * are NCCL's; RINGLET_HOST_ALGO's names are accepted too. NULL and "": Ringlet chooses */
  const char* algSelection;
  int forceAlgSelection;    /* 1 (default): fail if none of them can run; 0: use any */
  int CTAPolicy;            /* GPU only; NCCL_CTA_POLICY_ */
  uint64_t userProfilerTag; /* no effect: profiler plugins are not supported */
  /* Recorded when the call begins, behind the earlier work of its stream and communicator. An event
   * of CUDA or of ringlet/stream.h, without timing. NULL: no event */
  cudaEvent_t launchCompletionEvent;
} ncclCollConfig_t;

#define NCCL_COLLCONFIG_INITIALIZER                        \
  {                                                        \
    sizeof(ncclCollConfig_t),  /* size */                  \
        NCCL_API_MAGIC,        /* magic */                 \
        NCCL_VERSION_CODE,     /* version */               \
        NCCL_CONFIG_UNDEF_PTR, /* ext */                   \
        NCCL_CONFIG_UNDEF_INT, /* minCTAs */               \
        NCCL_CONFIG_UNDEF_INT, /* maxCTAs */               \
        NCCL_CONFIG_UNDEF_INT, /* nvlsCTAs */              \
        NCCL_CONFIG_UNDEF_INT, /* cgaClusterSize */        \
        NCCL_CONFIG_UNDEF_PTR, /* algSelection */          \
        1,                     /* forceAlgSelection */     \
        NCCL_CONFIG_UNDEF_INT, /* CTAPolicy */             \
        0,                     /* userProfilerTag */       \
        NCCL_CONFIG_UNDEF_PTR  /* launchCompletionEvent */ \
  }

/* The result of ncclGroupSimulateEnd. Start from NCCL_SIM_INFO_INITIALIZER. */
typedef struct ncclSimInfo_v22200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  float estimatedTime; /* microseconds */
} ncclSimInfo_t;

#define NCCL_SIM_INFO_INITIALIZER \
  { sizeof(ncclSimInfo_t), 0x74685283, NCCL_VERSION_CODE, NCCL_UNDEF_FLOAT }

/* ---- The library ----------------------------------------------------------------------------- */

/* Writes NCCL_VERSION_CODE of the library, which may be newer than this header. */
RINGLET_C_API ncclResult_t ncclGetVersion(int* version);
RINGLET_C_API ncclResult_t pncclGetVersion(int* version);

/* Returns a fixed sentence for a code. Static storage, never null. */
RINGLET_C_API const char* ncclGetErrorString(ncclResult_t result);
RINGLET_C_API const char* pncclGetErrorString(ncclResult_t result);

/* Returns the message of the last failure on this thread; if it had none, in this process. Ignores
 * `comm`, which may be null. Valid until this thread's next call. */
RINGLET_C_API const char* ncclGetLastError(ncclComm_t comm);
RINGLET_C_API const char* pncclGetLastError(ncclComm_t comm);

/* No effect, because Ringlet reads settings only once. Deprecated by NCCL; kept for callers. */
RINGLET_C_API void ncclResetDebugInit(void);
RINGLET_C_API void pncclResetDebugInit(void);

/* As ncclResetDebugInit. NCCL exports this function without declaring it. */
RINGLET_C_API void ncclResetDebugInitInternal(void);
RINGLET_C_API void pncclResetDebugInitInternal(void);

/* ---- Forming a communicator ------------------------------------------------------------------ */

/* Creates an id for one communicator and waits for its ranks in the background of this process,
 * which must live until all ranks have joined. Call it on one rank, then transport the id to the
 * others. With NCCL_COMM_ID=host:port set, every rank may call it and gets the same id. Under
 * `ringlet run`, every rank may call it once without an exchange: the first communicator of all
 * ranks of the job accepts the first id of any of its processes. */
RINGLET_C_API ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId);
RINGLET_C_API ncclResult_t pncclGetUniqueId(ncclUniqueId* uniqueId);

/* Joins the communicator of `commId` as rank `rank` of `nranks`. Collective. Returns when all ranks
 * are connected. On failure, the error message names the missing ranks. Several ranks in one thread
 * need a group around these calls. */
RINGLET_C_API ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId,
                                            int rank);
RINGLET_C_API ncclResult_t pncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId,
                                             int rank);

/* Forms a communicator of `ndev` ranks in this process. `devlist` contains a different device
 * number for each rank; null means 0 to ndev - 1. CPU memory does not belong to a device: only
 * ncclCommCuDevice reports these numbers. Under `ringlet emulate` they are CUDA's. */
RINGLET_C_API ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist);
RINGLET_C_API ncclResult_t pncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist);

/* As ncclCommInitRank, with options. A null `config` selects the defaults. */
RINGLET_C_API ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId,
                                                  int rank, ncclConfig_t* config);
RINGLET_C_API ncclResult_t pncclCommInitRankConfig(ncclComm_t* comm, int nranks,
                                                   ncclUniqueId commId, int rank,
                                                   ncclConfig_t* config);

/* As ncclCommInitRankConfig with `nId` ids, 1 to nranks, in the same array on every rank. Each id's
 * process serves a share of the ranks. */
RINGLET_C_API ncclResult_t ncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank,
                                                    int nId, ncclUniqueId* commIds,
                                                    ncclConfig_t* config);
RINGLET_C_API ncclResult_t pncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank,
                                                     int nId, ncclUniqueId* commIds,
                                                     ncclConfig_t* config);

/* Forms one communicator for each `color`, with ranks ordered by `key` and then by rank.
 * Collective over `comm`, which stays usable. A rank that passes NCCL_SPLIT_NOCOLOR takes part
 * and gets NCCL_COMM_NULL; if non-blocking, poll the state of `comm`. A null `config`: the
 * parent's options. */
RINGLET_C_API ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
                                         ncclConfig_t* config);
RINGLET_C_API ncclResult_t pncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
                                          ncclConfig_t* config);

/* Forms a communicator of the ranks of `comm` that are not in the list, in the same order.
 * Collective over the remaining ranks. NCCL_SHRINK_ABORT is for a parent with lost ranks. */
RINGLET_C_API ncclResult_t ncclCommShrink(ncclComm_t comm, int* excludeRanksList,
                                          int excludeRanksCount, ncclComm_t* newcomm,
                                          ncclConfig_t* config, int shrinkFlags);
RINGLET_C_API ncclResult_t pncclCommShrink(ncclComm_t comm, int* excludeRanksList,
                                           int excludeRanksCount, ncclComm_t* newcomm,
                                           ncclConfig_t* config, int shrinkFlags);

/* Creates an id with which `comm` grows, on any one of its ranks. The caller transports it to the
 * new ranks. Until ncclCommGrow has used it, another call is ncclInvalidUsage. */
RINGLET_C_API ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* uniqueId);
RINGLET_C_API ncclResult_t pncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* uniqueId);

/* Forms a communicator of `nRanks` ranks: the ranks of `comm`, which keep their numbers, and new
 * ranks. Collective over both. Ranks of `comm` pass `comm`, a rank of -1, and NULL or, on the
 * rank that created it, the id. New ranks pass NULL for `comm`, the id and their rank, from the
 * size of `comm` up. `comm` is unchanged. A null `config`: the parent's options; on new ranks
 * the defaults. */
RINGLET_C_API ncclResult_t ncclCommGrow(ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId,
                                        int rank, ncclComm_t* newcomm, ncclConfig_t* config);
RINGLET_C_API ncclResult_t pncclCommGrow(ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId,
                                         int rank, ncclComm_t* newcomm, ncclConfig_t* config);

/* ---- Ending a communicator ------------------------------------------------------------------- */

/* Completes all issued operations of `comm`. Collective; called once. Afterwards only
 * ncclCommDestroy and ncclCommAbort are allowed. Returns the error of an operation on a stream,
 * or of a non-blocking operation, that did not complete. */
RINGLET_C_API ncclResult_t ncclCommFinalize(ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclCommFinalize(ncclComm_t comm);

/* Frees `comm`. If it is not finalized yet, finalizes it first and returns the same errors. Frees
 * `comm` even on error, unless it is busy or not a communicator (ncclInvalidArgument). */
RINGLET_C_API ncclResult_t ncclCommDestroy(ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclCommDestroy(ncclComm_t comm);

/* Ends the operations of `comm` on this rank, notifies the other ranks, and frees it. Not
 * collective. A blocked call in another thread returns an error first. */
RINGLET_C_API ncclResult_t ncclCommAbort(ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclCommAbort(ncclComm_t comm);

/* Ends the operations of `comm` on all its ranks, but keeps it. Afterwards it can be shrunk, split
 * (if every rank has revoked it), destroyed and aborted; all other calls are ncclInvalidUsage. On a
 * rank that has not revoked it, it has failed. `revokeFlags` is NCCL_REVOKE_DEFAULT. */
RINGLET_C_API ncclResult_t ncclCommRevoke(ncclComm_t comm, int revokeFlags);
RINGLET_C_API ncclResult_t pncclCommRevoke(ncclComm_t comm, int revokeFlags);

/* ---- Querying a communicator ----------------------------------------------------------------- */

/* Writes the state of `comm`: ncclSuccess, ncclInProgress, or its failure. Never blocks. */
RINGLET_C_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError);
RINGLET_C_API ncclResult_t pncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError);

/* Writes the number of ranks. */
RINGLET_C_API ncclResult_t ncclCommCount(const ncclComm_t comm, int* count);
RINGLET_C_API ncclResult_t pncclCommCount(const ncclComm_t comm, int* count);

/* Writes the device number. It is the number passed to ncclCommInitAll; otherwise
 * RINGLET_LOCAL_RANK, if that differs among all ranks of the host; otherwise the rank's index among
 * the ranks of its host. A child has its parent's number. Under `ringlet emulate` it is the
 * caller's current CUDA device, in CUDA's numbering, unless that is the first and
 * RINGLET_LOCAL_RANK is another. */
RINGLET_C_API ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device);
RINGLET_C_API ncclResult_t pncclCommCuDevice(const ncclComm_t comm, int* device);

/* Writes this rank's number. */
RINGLET_C_API ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank);
RINGLET_C_API ncclResult_t pncclCommUserRank(const ncclComm_t comm, int* rank);

/* Memory figures: in NCCL, GPU memory; here, the communicator's memory on this host. */
typedef enum RINGLET_C_ENUM_TYPE {
  ncclStatGpuMemSuspend = 0,   /* bytes that ncclCommSuspend frees */
  ncclStatGpuMemSuspended = 1, /* 1: they are freed */
  ncclStatGpuMemPersist = 2,   /* bytes that stay allocated */
  ncclStatGpuMemTotal = 3      /* the sum of both */
} ncclCommMemStat_t;

/* Writes one of these figures. */
RINGLET_C_API ncclResult_t ncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat,
                                            uint64_t* value);
RINGLET_C_API ncclResult_t pncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat,
                                             uint64_t* value);

/* Suspends `comm`: until ncclCommResume, calls on it are ncclInvalidUsage. `flags` is 0 or
 * NCCL_SUSPEND_MEM, which frees working memory; the next call allocates it again. Local. No
 * operation of `comm` may be running. */
RINGLET_C_API ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags);
RINGLET_C_API ncclResult_t pncclCommSuspend(ncclComm_t comm, int flags);

/* Ends the suspension. A communicator that is not suspended is ncclInvalidUsage. */
RINGLET_C_API ncclResult_t ncclCommResume(ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclCommResume(ncclComm_t comm);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Allocates `size` bytes of zeroed CPU memory. Once registered, collectives within a host use it
 * without a copy. All pages are allocated at once. 0 bytes: null. Free it with ncclMemFree. */
RINGLET_C_API ncclResult_t ncclMemAlloc(void** ptr, size_t size);
RINGLET_C_API ncclResult_t pncclMemAlloc(void** ptr, size_t size);

/* Frees memory from ncclMemAlloc. Null is allowed. ncclInvalidArgument: the pointer is not from
 * ncclMemAlloc or is freed already; the call has no effect. Memory that is still registered is
 * freed, but its addresses stay reserved until it is deregistered or the communicator ends. */
RINGLET_C_API ncclResult_t ncclMemFree(void* ptr);
RINGLET_C_API ncclResult_t pncclMemFree(void* ptr);

/* Announces frequent use of `buff`, so that `comm` can prepare it. Local to this rank. The memory
 * must outlive the registration. Memory from ncclMemAlloc is used without a copy if all ranks have
 * registered theirs; other memory is accepted and copied. Registering the same memory again returns
 * the same handle; deregister it as often. If an operation fails while a rank is stopped but alive,
 * that rank may still write up to 256 KiB into an output here when it continues. */
RINGLET_C_API ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buff, size_t size,
                                            void** handle);
RINGLET_C_API ncclResult_t pncclCommRegister(const ncclComm_t comm, void* buff, size_t size,
                                             void** handle);

/* Undoes ncclCommRegister. */
RINGLET_C_API ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle);
RINGLET_C_API ncclResult_t pncclCommDeregister(const ncclComm_t comm, void* handle);

/* Registers a buffer of every rank as one window. Collective, but waits for no rank; otherwise as
 * ncclCommRegister. `winFlags` is a sum of NCCL_WIN_ flags. The address is a multiple of
 * NCCL_WIN_REQUIRED_ALIGNMENT. */
RINGLET_C_API ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size,
                                                  ncclWindow_t* win, int winFlags);
RINGLET_C_API ncclResult_t pncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size,
                                                   ncclWindow_t* win, int winFlags);

/* Undoes ncclCommWindowRegister. Collective. */
RINGLET_C_API ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win);
RINGLET_C_API ncclResult_t pncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win);

/* Writes the address of the window on this rank. */
RINGLET_C_API ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** outUserPtr);
RINGLET_C_API ncclResult_t pncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** outUserPtr);

/* ---- User-defined reductions ----------------------------------------------------------------- */

/* Creates an operation that multiplies this rank's elements by `*scalar`, of type `datatype`, and
 * then sums. Belongs to `comm`. */
RINGLET_C_API ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar,
                                                    ncclDataType_t datatype,
                                                    ncclScalarResidence_t residence,
                                                    ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar,
                                                     ncclDataType_t datatype,
                                                     ncclScalarResidence_t residence,
                                                     ncclComm_t comm);

/* Frees such an operation. Issued collectives keep it. */
RINGLET_C_API ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);

/* ---- Collectives --------------------------------------------------------------------------------
 *
 * Counts are in elements of `datatype`. Buffers may be the same where "in place" is described,
 * and do not overlap otherwise. All ranks pass the same count, type, operation and root; all
 * ranks report a rank that differs. A collective with a count of 0 moves no data and waits for
 * no rank. */

/* Reduces `count` elements of every rank to `recvbuff` of the root. In place: sendbuff == recvbuff.
 * On other ranks, `recvbuff` is unchanged. */
RINGLET_C_API ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count,
                                      ncclDataType_t datatype, ncclRedOp_t op, int root,
                                      ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclReduce(const void* sendbuff, void* recvbuff, size_t count,
                                       ncclDataType_t datatype, ncclRedOp_t op, int root,
                                       ncclComm_t comm, cudaStream_t stream);

/* Copies `count` elements of the root's `buff` to `buff` of every rank. In-place ncclBroadcast. */
RINGLET_C_API ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root,
                                     ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root,
                                      ncclComm_t comm, cudaStream_t stream);

/* Copies `count` elements of the root's `sendbuff` to `recvbuff` of every rank. In place: both are
 * equal on the root. Ignores `sendbuff` on other ranks. */
RINGLET_C_API ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                                         ncclDataType_t datatype, int root, ncclComm_t comm,
                                         cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                                          ncclDataType_t datatype, int root, ncclComm_t comm,
                                          cudaStream_t stream);

/* Reduces `count` elements of every rank to `recvbuff` of every rank. In place: sendbuff ==
 * recvbuff. The result has the same bits on all ranks. */
RINGLET_C_API ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                                         ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                         cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                                          ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                          cudaStream_t stream);

/* Reduces nranks * recvcount elements of every rank; rank r gets the r-th block of `recvcount`.
 * In place: recvbuff == sendbuff + rank * recvcount. */
RINGLET_C_API ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                             ncclDataType_t datatype, ncclRedOp_t op,
                                             ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclReduceScatter(const void* sendbuff, void* recvbuff,
                                              size_t recvcount, ncclDataType_t datatype,
                                              ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);

/* Every rank gets nranks * sendcount elements: rank r's are the r-th block. In place: sendbuff
 * == recvbuff + rank * sendcount. */
RINGLET_C_API ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                                         ncclDataType_t datatype, ncclComm_t comm,
                                         cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                                          ncclDataType_t datatype, ncclComm_t comm,
                                          cudaStream_t stream);

/* Sends block r of this rank's `sendbuff` to rank r, which stores it as the block with this rank's
 * number. `count` elements per block, nranks blocks per buffer. */
RINGLET_C_API ncclResult_t ncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count,
                                        ncclDataType_t datatype, ncclComm_t comm,
                                        cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count,
                                         ncclDataType_t datatype, ncclComm_t comm,
                                         cudaStream_t stream);

/* Rank r's `count` elements become block r of the root's `recvbuff`. */
RINGLET_C_API ncclResult_t ncclGather(const void* sendbuff, void* recvbuff, size_t count,
                                      ncclDataType_t datatype, int root, ncclComm_t comm,
                                      cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclGather(const void* sendbuff, void* recvbuff, size_t count,
                                       ncclDataType_t datatype, int root, ncclComm_t comm,
                                       cudaStream_t stream);

/* Block r of the root's `sendbuff`, `count` elements, becomes `recvbuff` of rank r. */
RINGLET_C_API ncclResult_t ncclScatter(const void* sendbuff, void* recvbuff, size_t count,
                                       ncclDataType_t datatype, int root, ncclComm_t comm,
                                       cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclScatter(const void* sendbuff, void* recvbuff, size_t count,
                                        ncclDataType_t datatype, int root, ncclComm_t comm,
                                        cudaStream_t stream);

/* The collectives above with options for one call. A null `config` selects the plain behaviour. */
RINGLET_C_API ncclResult_t ncclAllReduceConfig(const void* sendbuff, void* recvbuff, size_t count,
                                               ncclDataType_t datatype, ncclRedOp_t op,
                                               ncclComm_t comm, cudaStream_t stream,
                                               const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t pncclAllReduceConfig(const void* sendbuff, void* recvbuff, size_t count,
                                                ncclDataType_t datatype, ncclRedOp_t op,
                                                ncclComm_t comm, cudaStream_t stream,
                                                const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t ncclBroadcastConfig(const void* sendbuff, void* recvbuff, size_t count,
                                               ncclDataType_t datatype, int root, ncclComm_t comm,
                                               cudaStream_t stream, const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t pncclBroadcastConfig(const void* sendbuff, void* recvbuff, size_t count,
                                                ncclDataType_t datatype, int root, ncclComm_t comm,
                                                cudaStream_t stream,
                                                const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t ncclReduceConfig(const void* sendbuff, void* recvbuff, size_t count,
                                            ncclDataType_t datatype, ncclRedOp_t op, int root,
                                            ncclComm_t comm, cudaStream_t stream,
                                            const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t pncclReduceConfig(const void* sendbuff, void* recvbuff, size_t count,
                                             ncclDataType_t datatype, ncclRedOp_t op, int root,
                                             ncclComm_t comm, cudaStream_t stream,
                                             const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t ncclAllGatherConfig(const void* sendbuff, void* recvbuff,
                                               size_t sendcount, ncclDataType_t datatype,
                                               ncclComm_t comm, cudaStream_t stream,
                                               const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t pncclAllGatherConfig(const void* sendbuff, void* recvbuff,
                                                size_t sendcount, ncclDataType_t datatype,
                                                ncclComm_t comm, cudaStream_t stream,
                                                const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t ncclReduceScatterConfig(const void* sendbuff, void* recvbuff,
                                                   size_t recvcount, ncclDataType_t datatype,
                                                   ncclRedOp_t op, ncclComm_t comm,
                                                   cudaStream_t stream,
                                                   const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t pncclReduceScatterConfig(const void* sendbuff, void* recvbuff,
                                                    size_t recvcount, ncclDataType_t datatype,
                                                    ncclRedOp_t op, ncclComm_t comm,
                                                    cudaStream_t stream,
                                                    const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t ncclAlltoAllConfig(const void* sendbuff, void* recvbuff, size_t count,
                                              ncclDataType_t datatype, ncclComm_t comm,
                                              cudaStream_t stream, const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t pncclAlltoAllConfig(const void* sendbuff, void* recvbuff, size_t count,
                                               ncclDataType_t datatype, ncclComm_t comm,
                                               cudaStream_t stream, const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t ncclGatherConfig(const void* sendbuff, void* recvbuff, size_t count,
                                            ncclDataType_t datatype, int root, ncclComm_t comm,
                                            cudaStream_t stream, const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t pncclGatherConfig(const void* sendbuff, void* recvbuff, size_t count,
                                             ncclDataType_t datatype, int root, ncclComm_t comm,
                                             cudaStream_t stream, const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t ncclScatterConfig(const void* sendbuff, void* recvbuff, size_t count,
                                             ncclDataType_t datatype, int root, ncclComm_t comm,
                                             cudaStream_t stream, const ncclCollConfig_t* config);
RINGLET_C_API ncclResult_t pncclScatterConfig(const void* sendbuff, void* recvbuff, size_t count,
                                              ncclDataType_t datatype, int root, ncclComm_t comm,
                                              cudaStream_t stream, const ncclCollConfig_t* config);

/* ---- Between two ranks ----------------------------------------------------------------------- */

/* Sends to `peer`, which receives the same count and type. Messages between two ranks keep their
 * order. A send and a receive that wait for each other belong in one group. A count of 0 is a
 * message too: ncclRecv waits for its ncclSend. */
RINGLET_C_API ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype,
                                    int peer, ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype,
                                     int peer, ncclComm_t comm, cudaStream_t stream);

/* Receives from `peer`. */
RINGLET_C_API ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer,
                                    ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype,
                                     int peer, ncclComm_t comm, cudaStream_t stream);

/* ---- Into a peer's window -----------------------------------------------------------------------
 *
 * One-sided: the data arrive without a call of the peer. The peer calls ncclWaitSignal before it
 * reads them. Puts and signals to one peer on one context take effect in their order. A group runs
 * them before sends and receives, and runs waits last. */

/* Writes `count` elements to `peer`'s part of the window, `peerWinOffset` bytes from its beginning,
 * and then raises its signal `sigIdx` of `ctx`. `localbuff` lies in a window of this rank and may
 * be reused when the call is complete. `flags` is 0. */
RINGLET_C_API ncclResult_t ncclPutSignal(const void* localbuff, size_t count,
                                         ncclDataType_t datatype, int peer, ncclWindow_t peerWin,
                                         size_t peerWinOffset, int sigIdx, int ctx,
                                         unsigned int flags, ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclPutSignal(const void* localbuff, size_t count,
                                          ncclDataType_t datatype, int peer, ncclWindow_t peerWin,
                                          size_t peerWinOffset, int sigIdx, int ctx,
                                          unsigned int flags, ncclComm_t comm, cudaStream_t stream);

/* Raises the signal without data. */
RINGLET_C_API ncclResult_t ncclSignal(int peer, int sigIdx, int ctx, unsigned int flags,
                                      ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclSignal(int peer, int sigIdx, int ctx, unsigned int flags,
                                       ncclComm_t comm, cudaStream_t stream);

/* The number of times that a peer raises a signal before ncclWaitSignal returns. */
typedef struct {
  int opCnt;
  int peer;
  int sigIdx;
  int ctx;
} ncclWaitSignalDesc_t;

/* Waits for the signals of all descriptors and subtracts the awaited numbers. */
RINGLET_C_API ncclResult_t ncclWaitSignal(int nDesc, ncclWaitSignalDesc_t* signalDescs,
                                          ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclWaitSignal(int nDesc, ncclWaitSignalDesc_t* signalDescs,
                                           ncclComm_t comm, cudaStream_t stream);

/* ---- Groups -------------------------------------------------------------------------------------
 *
 * Calls between start and end are queued; the outermost end runs them together. A group belongs to
 * one thread. Groups may be nested. */

/* Opens a group. */
RINGLET_C_API ncclResult_t ncclGroupStart(void);
RINGLET_C_API ncclResult_t pncclGroupStart(void);

/* Closes the group. The outermost one runs the queued calls and returns the first error. */
RINGLET_C_API ncclResult_t ncclGroupEnd(void);
RINGLET_C_API ncclResult_t pncclGroupEnd(void);

/* Closes the group and drops its calls. Ringlet does not estimate times yet: it returns
 * ncclInvalidUsage and leaves `simInfo` unchanged. */
RINGLET_C_API ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* simInfo);
RINGLET_C_API ncclResult_t pncclGroupSimulateEnd(ncclSimInfo_t* simInfo);

/* ---- Encryption ------------------------------------------------------------------------------ */

typedef enum RINGLET_C_ENUM_TYPE {
  NCCL_ENCRYPTION_MODE_NONE = 0,
  NCCL_ENCRYPTION_MODE_PSK = 1 /* with a key that all ranks share */
} ncclEncryptionMode_t;

/* Start from NCCL_ENCRYPTION_CONFIG_INITIALIZER. */
typedef struct ncclEncryptionConfig_v23200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  int mode;
  const char* psk; /* the key, 32 to 4,096 bytes of text; copied */
} ncclEncryptionConfig_t;

#define NCCL_ENCRYPTION_CONFIG_INITIALIZER        \
  {                                               \
    sizeof(ncclEncryptionConfig_t), /* size */    \
        NCCL_API_MAGIC,             /* magic */   \
        NCCL_VERSION_CODE,          /* version */ \
        NCCL_ENCRYPTION_MODE_NONE,  /* mode */    \
        NCCL_CONFIG_UNDEF_PTR       /* psk */     \
  }

/* Sets RINGLET_ENCRYPT=1 and RINGLET_SECRET=psk, or RINGLET_ENCRYPT=0. Call it before the first id
 * or communicator of the process; later it is ncclInvalidUsage. */
RINGLET_C_API ncclResult_t ncclSetEncryption(const ncclEncryptionConfig_t* config);
RINGLET_C_API ncclResult_t pncclSetEncryption(const ncclEncryptionConfig_t* config);

/* ---- Settings -----------------------------------------------------------------------------------
 *
 * Read access to every setting in docs/reference/settings.md. A key is the setting's variable:
 * RINGLET_..., or NCCL_... if NCCL has the same setting, such as NCCL_DEBUG. Secrets read
 * "(set)". */

/* A setting. Never freed. */
typedef struct ncclParamHandle* ncclParamHandle_t;

/* Finds a setting. An unknown key is ncclInvalidArgument. */
RINGLET_C_API ncclResult_t ncclParamBind(ncclParamHandle_t* out, const char* key);
RINGLET_C_API ncclResult_t pncclParamBind(ncclParamHandle_t* out, const char* key);

/* Reads the value as a number. ncclInvalidArgument if the value is not a number or does not fit.
 * Yes and no are 1 and 0, choices are counted from 0, times are milliseconds. */
RINGLET_C_API ncclResult_t ncclParamGetI8(ncclParamHandle_t h, int8_t* out);
RINGLET_C_API ncclResult_t pncclParamGetI8(ncclParamHandle_t h, int8_t* out);
RINGLET_C_API ncclResult_t ncclParamGetI16(ncclParamHandle_t h, int16_t* out);
RINGLET_C_API ncclResult_t pncclParamGetI16(ncclParamHandle_t h, int16_t* out);
RINGLET_C_API ncclResult_t ncclParamGetI32(ncclParamHandle_t h, int32_t* out);
RINGLET_C_API ncclResult_t pncclParamGetI32(ncclParamHandle_t h, int32_t* out);
RINGLET_C_API ncclResult_t ncclParamGetI64(ncclParamHandle_t h, int64_t* out);
RINGLET_C_API ncclResult_t pncclParamGetI64(ncclParamHandle_t h, int64_t* out);
RINGLET_C_API ncclResult_t ncclParamGetU8(ncclParamHandle_t h, uint8_t* out);
RINGLET_C_API ncclResult_t pncclParamGetU8(ncclParamHandle_t h, uint8_t* out);
RINGLET_C_API ncclResult_t ncclParamGetU16(ncclParamHandle_t h, uint16_t* out);
RINGLET_C_API ncclResult_t pncclParamGetU16(ncclParamHandle_t h, uint16_t* out);
RINGLET_C_API ncclResult_t ncclParamGetU32(ncclParamHandle_t h, uint32_t* out);
RINGLET_C_API ncclResult_t pncclParamGetU32(ncclParamHandle_t h, uint32_t* out);
RINGLET_C_API ncclResult_t ncclParamGetU64(ncclParamHandle_t h, uint64_t* out);
RINGLET_C_API ncclResult_t pncclParamGetU64(ncclParamHandle_t h, uint64_t* out);

/* Reads the value as text; "" if unset. Valid until the next call on this thread. */
RINGLET_C_API ncclResult_t ncclParamGetStr(ncclParamHandle_t h, const char** out);
RINGLET_C_API ncclResult_t pncclParamGetStr(ncclParamHandle_t h, const char** out);

/* Reads the value as bytes: a number as 8 bytes, or the text without its terminator. Sets `*len` to
 * the required bytes, even if `maxLen` is smaller, which is ncclInvalidArgument. */
RINGLET_C_API ncclResult_t ncclParamGet(ncclParamHandle_t h, void* out, int maxLen, int* len);
RINGLET_C_API ncclResult_t pncclParamGet(ncclParamHandle_t h, void* out, int maxLen, int* len);

/* Reads text and its length by key. Valid until the next call on this thread. */
RINGLET_C_API ncclResult_t ncclParamGetParameter(const char* key, const char** value,
                                                 int* valueLen);
RINGLET_C_API ncclResult_t pncclParamGetParameter(const char* key, const char** value,
                                                  int* valueLen);

/* Lists all keys. Valid until the next call on this thread. */
RINGLET_C_API ncclResult_t ncclParamGetAllParameterKeys(const char*** table, int* tableLen);
RINGLET_C_API ncclResult_t pncclParamGetAllParameterKeys(const char*** table, int* tableLen);

/* Writes all settings to the log, at any log level. */
RINGLET_C_API void ncclParamDumpAll(void);
RINGLET_C_API void pncclParamDumpAll(void);

#ifdef __cplusplus
}
#endif

#endif /* RINGLET_COMPAT_NCCL_H_ */
