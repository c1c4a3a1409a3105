/* NCCL's C interface, version 2.32, for programs that run on Ringlet.
 *
 * Names, numbers and layouts are NCCL's, so that a program compiles unchanged, and, with our
 * libnccl.so.2, runs unchanged. The behaviour is described here for Ringlet, which moves host
 * memory:
 *
 *   Buffers   are CPU memory. Device memory is ncclInvalidArgument where the process had loaded
 *             NVIDIA's libcuda.so.1 when it made its last communicator.
 *   Streams   a null stream means "complete on return"; inside a group, when the outermost
 *             ncclGroupEnd returns; without blocking (below), when ncclCommGetAsyncError says
 *             ncclSuccess. Another stream is one of ringlet/stream.h: the call is checked, issued
 *             behind what the stream and the communicator have, and returns.
 *   Threads   one thread at a time per communicator, except ncclCommAbort, ncclCommRevoke and
 *             ncclCommGetAsyncError, which any thread may call at any time.
 *   Errors    every call returns a ncclResult_t; ncclGetLastError has the whole sentence: which
 *             rank, host and address, and what to do. After anything but ncclInvalidArgument and
 *             ncclInProgress, abort the communicator.
 *   Missing   a function that only a GPU can carry out changes nothing, returns ncclInvalidUsage,
 *             and ncclGetLastError says so. So do those of nccl_device.h.
 *
 * "Collective" means that every rank of the communicator makes the call, in the same order.
 * Each function has a twin with a leading p, the same under another name, so that a profiler can
 * define the plain name and call on.
 *
 * This header is installed where no compiler looks by itself, so it never shadows a real NCCL.
 * It needs C99 or C++98 and no CUDA. It includes cuda_runtime.h where the compiler finds it, as
 * NCCL's header does; define RINGLET_NO_CUDA_HEADERS to have it left alone.
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

/* Callers may pass any number as an enum. C++ allows it where the enum has a fixed type. */
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

/* The code of a version. Up to 2.8 it had a digit less for the minor number. */
#define NCCL_VERSION(major, minor, patch)                                \
  (((major) <= 2 && (minor) <= 8) ? (major)*1000 + (minor)*100 + (patch) \
                                  : (major)*10000 + (minor)*100 + (patch))
#define NCCL_VERSION_CODE 23203

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ----------------------------------------------------------------------------------- */

/* A communicator, as one of its ranks holds it. */
typedef struct ncclComm* ncclComm_t;
#define NCCL_COMM_NULL NULL

/* A buffer registered by all ranks together. */
typedef struct ncclWindow_vidmem* ncclWindow_t;

/* Names a communicator that is about to be formed, and holds its secret: who has the id can join.
 * Opaque, copied by value, carried to the other ranks by the caller. */
#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum RINGLET_C_ENUM_TYPE {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1, /* Ringlet calls no CUDA and never returns this */
  ncclSystemError = 2,        /* a system call failed */
  ncclInternalError = 3,      /* a defect of Ringlet */
  ncclInvalidArgument = 4,    /* nothing happened; the communicator is as before */
  ncclInvalidUsage = 5,       /* not possible here, not implemented, or ranks do not fit */
  ncclRemoteError = 6,        /* a rank is lost or has aborted */
  ncclInProgress = 7,         /* a non-blocking communicator is still at it */
  ncclTimeout = 8,            /* a rank is silent beyond the deadline */
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

/* The type from which NCCL computes ncclMaxRedOp; clients may name it. */
typedef enum { ncclNumOps_dummy = 5 } ncclRedOp_dummy_t;

/* Values from ncclNumOps to ncclMaxRedOp are operations made by ncclRedOpCreate functions. */
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
  ncclScalarDevice = 0,       /* read when the collective runs; here, too, it is CPU memory */
  ncclScalarHostImmediate = 1 /* read before ncclRedOpCreatePreMulSum returns */
} ncclScalarResidence_t;

/* ---- Options --------------------------------------------------------------------------------- */

#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_UNDEF_FLOAT -1.0f

/* In every struct that an INITIALIZER of this header makes; nothing for callers to set. */
#define NCCL_API_MAGIC 0xcafebeef

#define NCCL_SPLIT_NOCOLOR -1 /* this rank takes part in the split but in none of its results */

#define NCCL_CTA_POLICY_DEFAULT 0x00
#define NCCL_CTA_POLICY_EFFICIENCY 0x01
#define NCCL_CTA_POLICY_ZERO 0x02

#define NCCL_SHRINK_DEFAULT 0x00 /* the parent is idle */
#define NCCL_SHRINK_ABORT 0x01   /* the parent is broken: end what it is doing first */

#define NCCL_REVOKE_DEFAULT 0x00

#define NCCL_WIN_DEFAULT 0x00
#define NCCL_WIN_COLL_SYMMETRIC 0x01 /* peers may put into it, and what is put lies in one */
#define NCCL_WIN_STRICT_ORDERING 0x02
#define NCCL_WIN_GIN_ONLY 0x04    /* GPU only */
#define NCCL_WIN_CFT_COUNTED 0x08 /* GPU only */
#define NCCL_WIN_REQUIRED_ALIGNMENT 4096

#define NCCL_SUSPEND_MEM 0x01 /* ncclCommSuspend: gives memory back */

/* Of ncclConfig_t::hostCftMode. GPU only. */
typedef enum RINGLET_C_ENUM_TYPE {
  ncclHostCftDefault = NCCL_CONFIG_UNDEF_INT,
  ncclHostCftEnable = 1,
  ncclHostCftDisable = 2,
  ncclHostCftFallback = 3
} ncclHostCftMode_t;

/* Of ncclConfig_t::nvlsHostMode: a sum of what is to be left out. GPU only. */
typedef enum RINGLET_C_ENUM_TYPE {
  ncclNvlsHostModeDefault = NCCL_CONFIG_UNDEF_INT,
  ncclNvlsHostModeEnable = 0,
  ncclNvlsHostModeDisableTransport = 1,
  ncclNvlsHostModeDisableSymmetricMultimem = 2,
  ncclNvlsHostModeDisable = INT_MAX
} ncclNvlsHostMode_t;

/* The options of a communicator. Always start from NCCL_CONFIG_INITIALIZER: its first three
 * fields tell the library which version of this struct the caller was compiled with; all versions
 * from 2.14 on are taken. A field left at its UNDEF value takes the default. Each field is checked.
 * One that has no effect on CPU memory is named in the log the first time that it is set. */
typedef struct ncclConfig_v23100 {
  size_t size;
  unsigned int magic;
  unsigned int version;

  int blocking;            /* 0: calls that wait for other ranks return ncclInProgress, and a
                            * thread goes on with them: ask ncclCommGetAsyncError. Until then
                            * other calls on the communicator are ncclInvalidArgument */
  int cgaClusterSize;      /* GPU only */
  int minCTAs;             /* GPU only */
  int maxCTAs;             /* GPU only */
  const char* netName;     /* no effect: RINGLET_NET chooses the network */
  int splitShare;          /* no effect: children share what they can */
  int trafficClass;        /* no effect */
  const char* commName;    /* in the log beside the communicator's number */
  int collnetEnable;       /* in-network reduction; not available */
  int CTAPolicy;           /* GPU only; NCCL_CTA_POLICY_ */
  int shrinkShare;         /* no effect, as splitShare */
  int nvlsCTAs;            /* GPU only */
  int nChannelsPerNetPeer; /* no effect: RINGLET_SOCKETS_PER_LINK says how many connections */
  int nvlinkCentricSched;  /* GPU only */
  int graphUsageMode;      /* GPU only */
  int numRmaCtx;           /* contexts of ncclPutSignal, 1 unless set */
  int maxP2pPeers;         /* no effect: connections are made as peers are first met */
  int graphStreamOrdering; /* GPU only */
  int launchOrderImplicit; /* GPU only */
  int numRmaSig;           /* signals of each context, 1 unless set */
  int rmaEagerInit;        /* no effect: there is nothing to prepare */
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

/* An option of some vendor's library, in a list that ends with NULL. Ringlet has none: each is
 * passed over. */
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

/* The choices for one call of a collective. Always start from NCCL_COLLCONFIG_INITIALIZER.
 * Read before the call returns; the same on all ranks. */
typedef struct ncclCollConfig_v23200 {
  size_t size;
  unsigned int magic;
  unsigned int version;

  ncclConfigExt_t* ext;
  int minCTAs;        /* GPU only */
  int maxCTAs;        /* GPU only */
  int nvlsCTAs;       /* GPU only */
  int cgaClusterSize; /* GPU only */

  /* Which algorithms may run this call: names with commas between, or ^ and those that are not to
   * be used. "ring" and "tree" are NCCL's; RINGLET_HOST_ALGO's names are taken too. NULL and "":
   * Ringlet chooses */
  const char* algSelection;
  int forceAlgSelection;    /* 1, the default: an error where none of them can; 0: then any */
  int CTAPolicy;            /* GPU only; NCCL_CTA_POLICY_ */
  uint64_t userProfilerTag; /* no effect: there are no profiler plugins */
  /* Recorded where the call begins: behind what is before it on its stream and communicator. An
   * event of CUDA's, or of ringlet/stream.h, without timing. NULL: none */
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

/* Writes NCCL_VERSION_CODE of the library, which may be newer than this header's. */
RINGLET_C_API ncclResult_t ncclGetVersion(int* version);
RINGLET_C_API ncclResult_t pncclGetVersion(int* version);

/* A fixed sentence for a code. Static storage, never null. */
RINGLET_C_API const char* ncclGetErrorString(ncclResult_t result);
RINGLET_C_API const char* pncclGetErrorString(ncclResult_t result);

/* The sentence of the last failure in this process. `comm` is not looked at and may be null.
 * Valid until the next failure on this thread. */
RINGLET_C_API const char* ncclGetLastError(ncclComm_t comm);
RINGLET_C_API const char* pncclGetLastError(ncclComm_t comm);

/* Does nothing: settings are read once. Deprecated by NCCL; kept for its callers. */
RINGLET_C_API void ncclResetDebugInit(void);
RINGLET_C_API void pncclResetDebugInit(void);

/* The same. NCCL exports it and does not declare it. */
RINGLET_C_API void ncclResetDebugInitInternal(void);
RINGLET_C_API void pncclResetDebugInitInternal(void);

/* ---- Forming a communicator ------------------------------------------------------------------ */

/* Makes an id for one communicator and waits for its ranks in the background of this process,
 * which must live until they all came. Call on one rank, then carry the id to the others. With
 * NCCL_COMM_ID=host:port set, every rank may call it and gets the same id. Under `ringlet run`
 * every rank may call it once without an exchange: the first communicator of all ranks of the job
 * accepts the first id of any of its processes. */
RINGLET_C_API ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId);
RINGLET_C_API ncclResult_t pncclGetUniqueId(ncclUniqueId* uniqueId);

/* Joins the communicator of `commId` as rank `rank` of `nranks`. Collective. Returns when all
 * ranks are there and connected, or with the reason why not, which names the missing ranks.
 * Several ranks in one thread need a group around these calls. */
RINGLET_C_API ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId,
                                            int rank);
RINGLET_C_API ncclResult_t pncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId,
                                             int rank);

/* Forms a communicator of `ndev` ranks that all live in this process. `devlist` gives each
 * rank's device number, all different; null means 0 to ndev - 1. CPU memory has no devices: the
 * numbers are only reported back by ncclCommCuDevice. Under `ringlet emulate` they are CUDA's. */
RINGLET_C_API ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist);
RINGLET_C_API ncclResult_t pncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist);

/* As ncclCommInitRank, with options. A null `config` means the defaults. */
RINGLET_C_API ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId,
                                                  int rank, ncclConfig_t* config);
RINGLET_C_API ncclResult_t pncclCommInitRankConfig(ncclComm_t* comm, int nranks,
                                                   ncclUniqueId commId, int rank,
                                                   ncclConfig_t* config);

/* As ncclCommInitRankConfig with `nId` ids, 1 to nranks, the same array on every rank: each id's
 * process serves a share of the ranks. */
RINGLET_C_API ncclResult_t ncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank,
                                                    int nId, ncclUniqueId* commIds,
                                                    ncclConfig_t* config);
RINGLET_C_API ncclResult_t pncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank,
                                                     int nId, ncclUniqueId* commIds,
                                                     ncclConfig_t* config);

/* Forms a communicator of each set of ranks that give the same `color`, ordered by `key` and
 * then by rank. Collective over `comm`, which stays usable. NCCL_SPLIT_NOCOLOR takes part and
 * gets NCCL_COMM_NULL: without blocking, ask how `comm` is. A null `config` means the parent's. */
RINGLET_C_API ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
                                         ncclConfig_t* config);
RINGLET_C_API ncclResult_t pncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
                                          ncclConfig_t* config);

/* Forms a communicator of the ranks of `comm` that are not in the list, in the same order.
 * Collective over those that remain. NCCL_SHRINK_ABORT is for a parent with lost ranks. */
RINGLET_C_API ncclResult_t ncclCommShrink(ncclComm_t comm, int* excludeRanksList,
                                          int excludeRanksCount, ncclComm_t* newcomm,
                                          ncclConfig_t* config, int shrinkFlags);
RINGLET_C_API ncclResult_t pncclCommShrink(ncclComm_t comm, int* excludeRanksList,
                                           int excludeRanksCount, ncclComm_t* newcomm,
                                           ncclConfig_t* config, int shrinkFlags);

/* Makes an id with which `comm` grows, on any one of its ranks, to be carried to the new ranks. One
 * at a time: until ncclCommGrow has used it up another one is ncclInvalidUsage. */
RINGLET_C_API ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* uniqueId);
RINGLET_C_API ncclResult_t pncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* uniqueId);

/* Forms a communicator of the ranks of `comm`, which keep their numbers, and new ones, `nRanks` in
 * all. Collective over both. Ranks of `comm` pass it, a rank of -1, and NULL or, on the rank that
 * made it, the id. New ranks pass NULL for `comm`, the id and their rank, from the size of `comm`
 * on. `comm` stays as it is. A null `config` means the parent's, of new ranks the defaults. */
RINGLET_C_API ncclResult_t ncclCommGrow(ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId,
                                        int rank, ncclComm_t* newcomm, ncclConfig_t* config);
RINGLET_C_API ncclResult_t pncclCommGrow(ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId,
                                         int rank, ncclComm_t* newcomm, ncclConfig_t* config);

/* ---- Ending it ------------------------------------------------------------------------------- */

/* Completes everything issued on `comm`, once, collectively. Afterwards only ncclCommDestroy and
 * ncclCommAbort may follow. Returns the error of an operation on a stream, or of one that did not
 * block, whose result is not there. */
RINGLET_C_API ncclResult_t ncclCommFinalize(ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclCommFinalize(ncclComm_t comm);

/* Frees `comm`; finalizes it first if that was not done, and returns the same errors. `comm` is
 * freed even then, unless it is busy or no communicator (ncclInvalidArgument). */
RINGLET_C_API ncclResult_t ncclCommDestroy(ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclCommDestroy(ncclComm_t comm);

/* Ends what `comm` is doing on this rank, tells the other ranks, and frees it. Not collective. A
 * call that is blocked in another thread returns an error first. */
RINGLET_C_API ncclResult_t ncclCommAbort(ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclCommAbort(ncclComm_t comm);

/* Ends what `comm` is doing, on all its ranks, but keeps it: afterwards it can be shrunk, split
 * (where every rank has revoked it), destroyed and aborted; all else is ncclInvalidUsage. A rank
 * that has not revoked it finds it failed. `revokeFlags` is NCCL_REVOKE_DEFAULT. */
RINGLET_C_API ncclResult_t ncclCommRevoke(ncclComm_t comm, int revokeFlags);
RINGLET_C_API ncclResult_t pncclCommRevoke(ncclComm_t comm, int revokeFlags);

/* ---- Asking it ------------------------------------------------------------------------------- */

/* Writes how `comm` is: ncclSuccess, ncclInProgress, or the error that it died of. Never blocks. */
RINGLET_C_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError);
RINGLET_C_API ncclResult_t pncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError);

/* Writes the number of ranks. */
RINGLET_C_API ncclResult_t ncclCommCount(const ncclComm_t comm, int* count);
RINGLET_C_API ncclResult_t pncclCommCount(const ncclComm_t comm, int* count);

/* Writes the device number: what ncclCommInitAll was given; else what RINGLET_LOCAL_RANK says if it
 * says another number to each rank of the host; else the rank's number among those of its host. A
 * child has its parent's. Under `ringlet emulate` it is the caller's current CUDA device, by CUDA's
 * number, unless that is the first and RINGLET_LOCAL_RANK says another. */
RINGLET_C_API ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device);
RINGLET_C_API ncclResult_t pncclCommCuDevice(const ncclComm_t comm, int* device);

/* Writes this rank's number. */
RINGLET_C_API ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank);
RINGLET_C_API ncclResult_t pncclCommUserRank(const ncclComm_t comm, int* rank);

/* Figures about memory: in NCCL of GPUs, here of what the communicator has on this host. */
typedef enum RINGLET_C_ENUM_TYPE {
  ncclStatGpuMemSuspend = 0,   /* bytes that ncclCommSuspend gives back */
  ncclStatGpuMemSuspended = 1, /* 1: they have been given back */
  ncclStatGpuMemPersist = 2,   /* bytes that it keeps */
  ncclStatGpuMemTotal = 3      /* the sum of both */
} ncclCommMemStat_t;

/* Writes one of them. */
RINGLET_C_API ncclResult_t ncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat,
                                            uint64_t* value);
RINGLET_C_API ncclResult_t pncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat,
                                             uint64_t* value);

/* Lets `comm` rest: until ncclCommResume calls on it are ncclInvalidUsage. `flags` is 0 or
 * NCCL_SUSPEND_MEM, which gives back working memory that the next call needs again. Local; no
 * operation of `comm` may be under way. */
RINGLET_C_API ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags);
RINGLET_C_API ncclResult_t pncclCommSuspend(ncclComm_t comm, int flags);

/* Ends that. A communicator that does not rest is ncclInvalidUsage. */
RINGLET_C_API ncclResult_t ncclCommResume(ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclCommResume(ncclComm_t comm);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Allocates `size` bytes of CPU memory, zero, which collectives of one host can use without
 * copying once it is registered. All of it is there at once. 0 bytes give a null pointer. Free it
 * with ncclMemFree. */
RINGLET_C_API ncclResult_t ncclMemAlloc(void** ptr, size_t size);
RINGLET_C_API ncclResult_t pncclMemAlloc(void** ptr, size_t size);

/* Frees what ncclMemAlloc gave. Null is allowed. ncclInvalidArgument: it is something else or was
 * freed already; nothing has happened then. Memory that is still registered is freed; only its
 * addresses stay taken until it is deregistered or the communicator ends. */
RINGLET_C_API ncclResult_t ncclMemFree(void* ptr);
RINGLET_C_API ncclResult_t pncclMemFree(void* ptr);

/* Announces that `buff` will be used often, so that `comm` may prepare it. Local to this rank.
 * The memory must live until ncclCommDeregister or the end of `comm`. Memory of ncclMemAlloc is
 * then used without a copy if all ranks have registered theirs; all else is accepted and copied.
 * The same memory again gives the same handle, to be taken back as often. When an operation has
 * failed while a rank was stopped, not dead, that rank may still write up to 256 KiB into an output
 * here once it goes on. */
RINGLET_C_API ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buff, size_t size,
                                            void** handle);
RINGLET_C_API ncclResult_t pncclCommRegister(const ncclComm_t comm, void* buff, size_t size,
                                             void** handle);

/* Takes back ncclCommRegister. */
RINGLET_C_API ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle);
RINGLET_C_API ncclResult_t pncclCommDeregister(const ncclComm_t comm, void* handle);

/* Registers a buffer of every rank as one window: as ncclCommRegister, and it waits for no rank.
 * Collective. `winFlags` is a sum of NCCL_WIN_
 * flags; the address is a multiple of NCCL_WIN_REQUIRED_ALIGNMENT. */
RINGLET_C_API ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size,
                                                  ncclWindow_t* win, int winFlags);
RINGLET_C_API ncclResult_t pncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size,
                                                   ncclWindow_t* win, int winFlags);

/* Takes back ncclCommWindowRegister. Collective. */
RINGLET_C_API ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win);
RINGLET_C_API ncclResult_t pncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win);

/* Writes the address with which this rank registered the window. */
RINGLET_C_API ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** outUserPtr);
RINGLET_C_API ncclResult_t pncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** outUserPtr);

/* ---- Reduction operations of one's own ------------------------------------------------------- */

/* Makes an operation that multiplies this rank's elements by `*scalar`, of type `datatype`, and
 * then sums. Belongs to `comm`. */
RINGLET_C_API ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar,
                                                    ncclDataType_t datatype,
                                                    ncclScalarResidence_t residence,
                                                    ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar,
                                                     ncclDataType_t datatype,
                                                     ncclScalarResidence_t residence,
                                                     ncclComm_t comm);

/* Frees such an operation. Collectives already issued keep it. */
RINGLET_C_API ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);
RINGLET_C_API ncclResult_t pncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm);

/* ---- Collectives --------------------------------------------------------------------------------
 *
 * Counts are in elements of `datatype`. Buffers may be the same where "in place" is described, and
 * may not overlap otherwise. All ranks give the same count, type, operation and root; a rank that
 * differs is reported on all of them. A collective with a count of 0 moves nothing and waits for
 * no rank. */

/* Reduces `count` elements of every rank to `recvbuff` of the root. In place: sendbuff ==
 * recvbuff. Other ranks' `recvbuff` is not touched. */
RINGLET_C_API ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count,
                                      ncclDataType_t datatype, ncclRedOp_t op, int root,
                                      ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclReduce(const void* sendbuff, void* recvbuff, size_t count,
                                       ncclDataType_t datatype, ncclRedOp_t op, int root,
                                       ncclComm_t comm, cudaStream_t stream);

/* Copies `count` elements of the root's `buff` to `buff` of every rank. The older, in-place
 * form. */
RINGLET_C_API ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root,
                                     ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root,
                                      ncclComm_t comm, cudaStream_t stream);

/* Copies `count` elements of the root's `sendbuff` to `recvbuff` of every rank. In place: the
 * same on the root. Other ranks' `sendbuff` is not looked at. */
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

/* Block r of this rank's `sendbuff` goes to rank r, where it is the block of this rank's number.
 * `count` elements a block, nranks blocks in each buffer. */
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

/* The same with a choice for this one call; without one they are the functions above. */
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
 * One-sided: the peer makes no call for the data to arrive. It calls ncclWaitSignal before it reads
 * them. Puts and signals to one peer on one context take effect in their order; in a group they go
 * before sends and receives, waits after them. */

/* Writes `count` elements to `peer`'s part of the window, `peerWinOffset` bytes from its beginning,
 * and then raises its signal `sigIdx` of `ctx`. `localbuff` lies in a window of this rank, and is
 * free when the call is complete. `flags` is 0. */
RINGLET_C_API ncclResult_t ncclPutSignal(const void* localbuff, size_t count,
                                         ncclDataType_t datatype, int peer, ncclWindow_t peerWin,
                                         size_t peerWinOffset, int sigIdx, int ctx,
                                         unsigned int flags, ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclPutSignal(const void* localbuff, size_t count,
                                          ncclDataType_t datatype, int peer, ncclWindow_t peerWin,
                                          size_t peerWinOffset, int sigIdx, int ctx,
                                          unsigned int flags, ncclComm_t comm, cudaStream_t stream);

/* Raises the signal alone. */
RINGLET_C_API ncclResult_t ncclSignal(int peer, int sigIdx, int ctx, unsigned int flags,
                                      ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclSignal(int peer, int sigIdx, int ctx, unsigned int flags,
                                       ncclComm_t comm, cudaStream_t stream);

/* How often a peer's signal is to have been raised. */
typedef struct {
  int opCnt;
  int peer;
  int sigIdx;
  int ctx;
} ncclWaitSignalDesc_t;

/* Waits until all of them have been, and takes as many back. */
RINGLET_C_API ncclResult_t ncclWaitSignal(int nDesc, ncclWaitSignalDesc_t* signalDescs,
                                          ncclComm_t comm, cudaStream_t stream);
RINGLET_C_API ncclResult_t pncclWaitSignal(int nDesc, ncclWaitSignalDesc_t* signalDescs,
                                           ncclComm_t comm, cudaStream_t stream);

/* ---- Groups -------------------------------------------------------------------------------------
 *
 * Between start and end, calls only queue up; the outermost end carries them out together. Groups
 * are of one thread and may be nested. */

/* Opens a group. */
RINGLET_C_API ncclResult_t ncclGroupStart(void);
RINGLET_C_API ncclResult_t pncclGroupStart(void);

/* Closes it; the outermost one runs what has queued up and returns the first error. */
RINGLET_C_API ncclResult_t ncclGroupEnd(void);
RINGLET_C_API ncclResult_t pncclGroupEnd(void);

/* Closes the group without running it. Times are not estimated yet: it returns ncclInvalidUsage and
 * leaves `simInfo` as it is; what was in the group will not run. */
RINGLET_C_API ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* simInfo);
RINGLET_C_API ncclResult_t pncclGroupSimulateEnd(ncclSimInfo_t* simInfo);

/* ---- Encryption ------------------------------------------------------------------------------ */

typedef enum RINGLET_C_ENUM_TYPE {
  NCCL_ENCRYPTION_MODE_NONE = 0,
  NCCL_ENCRYPTION_MODE_PSK = 1 /* with a key that all ranks were given */
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

/* Before the first id or communicator of the process: RINGLET_ENCRYPT=1 and RINGLET_SECRET=psk, or
 * RINGLET_ENCRYPT=0. Later it is ncclInvalidUsage. */
RINGLET_C_API ncclResult_t ncclSetEncryption(const ncclEncryptionConfig_t* config);
RINGLET_C_API ncclResult_t pncclSetEncryption(const ncclEncryptionConfig_t* config);

/* ---- Settings -----------------------------------------------------------------------------------
 *
 * Every setting of Ringlet that docs/reference/settings.md names, to read. Their keys are the
 * variables, RINGLET_DEBUG, and of those that NCCL has too NCCL_DEBUG. Secrets read "(set)". */

/* One of them. Never to be freed. */
typedef struct ncclParamHandle* ncclParamHandle_t;

/* Finds one. A key that does not exist is ncclInvalidArgument. */
RINGLET_C_API ncclResult_t ncclParamBind(ncclParamHandle_t* out, const char* key);
RINGLET_C_API ncclResult_t pncclParamBind(ncclParamHandle_t* out, const char* key);

/* Its value as a number; ncclInvalidArgument where it is none, or does not fit. Yes and no are 1
 * and 0, choices are counted from 0, times are milliseconds. */
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

/* Its value as text, "" where it is unset. Valid until the next call on this thread. */
RINGLET_C_API ncclResult_t ncclParamGetStr(ncclParamHandle_t h, const char** out);
RINGLET_C_API ncclResult_t pncclParamGetStr(ncclParamHandle_t h, const char** out);

/* Its value as bytes: a number of 8 bytes, or the text without its end. `*len` is how many there
 * are, also where `maxLen` is below, which is ncclInvalidArgument. */
RINGLET_C_API ncclResult_t ncclParamGet(ncclParamHandle_t h, void* out, int maxLen, int* len);
RINGLET_C_API ncclResult_t pncclParamGet(ncclParamHandle_t h, void* out, int maxLen, int* len);

/* Text and its length by key. Valid until the next call on this thread. */
RINGLET_C_API ncclResult_t ncclParamGetParameter(const char* key, const char** value,
                                                 int* valueLen);
RINGLET_C_API ncclResult_t pncclParamGetParameter(const char* key, const char** value,
                                                  int* valueLen);

/* All keys. Valid until the next call on this thread. */
RINGLET_C_API ncclResult_t ncclParamGetAllParameterKeys(const char*** table, int* tableLen);
RINGLET_C_API ncclResult_t pncclParamGetAllParameterKeys(const char*** table, int* tableLen);

/* Writes all of them to the log, at any level. */
RINGLET_C_API void ncclParamDumpAll(void);
RINGLET_C_API void pncclParamDumpAll(void);

#ifdef __cplusplus
}
#endif

#endif /* RINGLET_COMPAT_NCCL_H_ */
