/* Host streams: in-order queues of host functions, with events, capture and graphs.
 *
 * A stream runs its items in order on its own worker thread, so streams run concurrently. An event
 * marks a point of a stream; other streams can wait for it. A capture records items instead of
 * running them and produces a graph, which can be launched repeatedly. NCCL's functions
 * (ringlet/compat/nccl.h) accept these streams as cudaStream_t:
 *
 *   ringletStream_t stream;
 *   ringletStreamCreate(&stream, 0, 0, 0);
 *   ncclAllReduce(in, out, n, ncclFloat, ncclSum, comm, (cudaStream_t)stream);
 *   ringletStreamSynchronize(stream);
 *
 *   Handles   are looked up in a table of live objects. An unknown or destroyed handle is
 *             ringletInvalidHandle and never a crash. Handles are never reused.
 *   Devices   are numbers from 0 to RINGLET_STREAM_DEVICES_MAX - 1, which group streams: each has
 *             a legacy stream and, for each thread, a per-thread stream.
 *   Threads   any thread may call any function at any time. Calls of one thread take effect in
 *             their order.
 *   Failures  a host function fails by ringletStreamFail, an operation of NCCL by its error. Later
 *             items of its stream, and items that wait for it over an event or a legacy stream, do
 *             not run and fail with the same message. The stream works again when
 *             ringletStreamSynchronize or ringletStreamSynchronizeDevice has reported the failure,
 *             or when the communicator that caused it was aborted, destroyed or revoked.
 *   Waiting   calls that issue work return at once, unless RINGLET_STREAM_ITEMS_MAX items wait in
 *             the stream: then they wait for room, except on a worker. Calls that wait do so until
 *             the work is done, without a time limit. A host function may issue work, but it may
 *             not wait for work (ringletNotPermitted).
 *   fork      a child process has no streams of its parent: their handles are
 *             ringletInvalidHandle there, and ringletStreamLastMessage states the reason.
 *
 * A host function is `void (*)(void*)`. Its data belong to the caller and live until it has run; in
 * a graph, until the graph, its clones and its executables are destroyed (ringletGraphOnDestroy).
 * C99 or C++98; no CUDA.
 */
#ifndef RINGLET_STREAM_H_
#define RINGLET_STREAM_H_

#include <stddef.h>

#ifndef RINGLET_STREAM_API
#if defined(__GNUC__)
#define RINGLET_STREAM_API __attribute__((visibility("default")))
#else
#define RINGLET_STREAM_API
#endif
#endif

/* Callers may pass any number as an enum. C++ allows this only for an enum with a fixed type. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define RINGLET_STREAM_ENUM_TYPE : int
#else
#define RINGLET_STREAM_ENUM_TYPE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ----------------------------------------------------------------------------------- */

typedef struct ringletStream* ringletStream_t;
typedef struct ringletEvent* ringletEvent_t;
typedef struct ringletGraph* ringletGraph_t;
typedef struct ringletGraphExec* ringletGraphExec_t;
typedef struct ringletGraphNode* ringletGraphNode_t;

typedef enum RINGLET_STREAM_ENUM_TYPE {
  ringletSuccess = 0,
  ringletNotReady,           /* from queries: work is still pending; not an error */
  ringletInvalidArgument,    /* a null pointer, or a number out of range */
  ringletInvalidHandle,      /* not the handle of a live object */
  ringletFailed,             /* awaited work failed: ringletStreamLastError */
  ringletCaptureUnsupported, /* not possible while capturing; invalidates the capture */
  ringletCaptureInvalidated, /* an earlier call invalidated the capture */
  ringletCaptureUnmatched,   /* no capture is active, or it began on another stream */
  ringletOutOfMemory,        /* memory, or threads for the worker, ran out */
  ringletNotPermitted,       /* a host function may not wait */
  ringletCaptureMerge,       /* would join two captures; invalidates both */
  ringletCaptureUnjoined,    /* the capture has work that its first stream does not wait for */
  ringletCaptureIsolation,   /* a captured stream would wait for uncaptured work */
  ringletCaptureImplicit,    /* a legacy stream would wait for a captured stream */
  ringletCapturedEvent,      /* the event is a point of a capture, not of running work */
  ringletCaptureWrongThread, /* another thread began the capture, and its mode is not relaxed */
  ringletResults
} ringletResult_t;

/* Special streams of this thread's current device. Every function accepts them as a stream. NULL is
 * the legacy stream too. */
#define ringletStreamLegacy ((ringletStream_t)0x1)
#define ringletStreamPerThread ((ringletStream_t)0x2)

#define RINGLET_STREAM_DEVICES_MAX 1024
/* Maximum number of items that wait in a stream. Bounds memory; exceeds any program's backlog. */
#define RINGLET_STREAM_ITEMS_MAX 16384

enum {
  ringletStreamDefault = 0,
  ringletStreamNonBlocking = 1 /* not ordered with the legacy stream */
};
enum {
  ringletEventBlockingSync = 1, /* accepted without effect: waiting always sleeps */
  ringletEventDisableTiming = 2,
  ringletEventInterprocess = 4 /* only with ringletEventDisableTiming */
};
enum { ringletCaptureGlobal = 0, ringletCaptureThreadLocal = 1, ringletCaptureRelaxed = 2 };
enum { ringletCaptureNone = 0, ringletCaptureActive = 1, ringletCaptureBroken = 2 };

typedef void (*ringletHostFunction_t)(void* data);

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Returns the name of a result, such as "ringletNotReady". Never NULL; lives forever. */
RINGLET_STREAM_API const char* ringletStreamResultName(ringletResult_t result);

/* Returns the message of the last call on this thread that returned neither ringletSuccess nor
 * ringletNotReady; "" if every call succeeded. Valid until this thread's next call. */
RINGLET_STREAM_API const char* ringletStreamLastMessage(void);

/* Returns the message of the last item of `stream` that failed, or did not run because of a
 * failure; "" if no item failed or the stream does not exist. Stays after the failure was reported.
 * Valid until the next call of this header on this thread. */
RINGLET_STREAM_API const char* ringletStreamLastError(ringletStream_t stream);

/* Marks the running host function of a stream or graph as failed. Only its first call counts.
 * \param why  copied; NULL: "a host function failed"
 * ringletNotPermitted  the caller is not a host function of a stream */
RINGLET_STREAM_API ringletResult_t ringletStreamFail(const char* why);

/* ---- Devices --------------------------------------------------------------------------------- */

/* The current device of this thread, initially 0; in a host function, its stream's device.
 * ringletInvalidArgument  below 0, or RINGLET_STREAM_DEVICES_MAX or more */
RINGLET_STREAM_API ringletResult_t ringletStreamSetDevice(int device);
RINGLET_STREAM_API ringletResult_t ringletStreamGetDevice(int* device);

/* Waits for all work issued to all streams of the device, including destroyed streams.
 * ringletFailed  some work failed; ringletStreamLastMessage has the first message, and the device's
 *                streams work again
 * ringletCaptureUnsupported  one of its streams is captured */
RINGLET_STREAM_API ringletResult_t ringletStreamSynchronizeDevice(int device);

/* As ringletStreamSynchronizeDevice, but ignores captures. For functions that free memory, because
 * captured calls have not used the memory. */
RINGLET_STREAM_API ringletResult_t ringletStreamAwaitDevice(int device);

/* Selects the meaning of NULL as the stream of an NCCL call. With `on`, NULL is the legacy stream
 * of the communicator's device: the device in the list of ncclCommInitAll, or the current device of
 * the thread that formed the communicator. Without it, the default, such a call is complete on
 * return. Applies to the whole process; call it before communicators are used. */
RINGLET_STREAM_API void ringletStreamUseNull(int on);

/* ---- Streams --------------------------------------------------------------------------------- */

/* Creates a stream. Its worker starts with its first work.
 * \param flags     ringletStreamDefault: new items wait for earlier items of the legacy stream, and
 *                  new items of the legacy stream wait for this stream; or ringletStreamNonBlocking
 * \param priority  kept for ringletStreamGetPriority; has no effect
 * ringletInvalidArgument ; Cost  a microsecond; a thread at the first work */
RINGLET_STREAM_API ringletResult_t ringletStreamCreate(ringletStream_t* stream, int device,
                                                       unsigned int flags, int priority);

/* Ends the handle; issued work still runs. Does not wait. Invalidates a capture that began on the
 * stream. ringletInvalidArgument  a special stream */
RINGLET_STREAM_API ringletResult_t ringletStreamDestroy(ringletStream_t stream);

/* ringletSuccess  all work is done ; ringletNotReady ; ringletFailed  until a waiting call reports
 *                 the failure ; ringletCaptureUnsupported  the stream is captured */
RINGLET_STREAM_API ringletResult_t ringletStreamQuery(ringletStream_t stream);

/* Waits until all previously issued work is done.
 * ringletFailed  some work failed; the stream works again ; ringletCaptureUnsupported */
RINGLET_STREAM_API ringletResult_t ringletStreamSynchronize(ringletStream_t stream);

/* Makes later items of `stream` wait for the last record of `event` before this call. Later records
 * and the destruction of the event have no influence. If the event has no record, the stream does
 * not wait. A record in a capture joins `stream` to that capture.
 * ringletCaptureMerge ; ringletCaptureIsolation ; ringletCaptureUnsupported ; ringletCapturedEvent
 * the capture of the record has ended */
RINGLET_STREAM_API ringletResult_t ringletStreamWaitEvent(ringletStream_t stream,
                                                          ringletEvent_t event);

/* Issues a host function. In a capture it becomes a node and runs with every launch.
 * ringletOutOfMemory  no worker could be started ; ringletCaptureImplicit ; ... */
RINGLET_STREAM_API ringletResult_t ringletStreamLaunch(ringletStream_t stream,
                                                       ringletHostFunction_t function, void* data);

/* As ringletStreamLaunch, with data that the stream releases: any thread calls `release(data)` once
 * when `function` will not be called again, after its run or skip; in a capture, at the end of the
 * graph, its clones, executables and launches. On failure the caller keeps the data. */
RINGLET_STREAM_API ringletResult_t ringletStreamLaunchOwned(ringletStream_t stream,
                                                            ringletHostFunction_t function,
                                                            void* data,
                                                            ringletHostFunction_t release);

RINGLET_STREAM_API ringletResult_t ringletStreamGetFlags(ringletStream_t stream,
                                                         unsigned int* flags);
RINGLET_STREAM_API ringletResult_t ringletStreamGetPriority(ringletStream_t stream, int* priority);
/* The stream's device, unlike ringletStreamGetDevice, which returns this thread's device. */
RINGLET_STREAM_API ringletResult_t ringletStreamGetDeviceOf(ringletStream_t stream, int* device);
/* A number that no other stream of the process ever has. */
RINGLET_STREAM_API ringletResult_t ringletStreamGetId(ringletStream_t stream,
                                                      unsigned long long* id);

/* ---- Events ---------------------------------------------------------------------------------- */

/* \param flags  a sum of ringletEvent...; ringletInvalidArgument for others */
RINGLET_STREAM_API ringletResult_t ringletEventCreate(ringletEvent_t* event, unsigned int flags);

/* Ends the handle at any time. Streams continue to wait for its records. Does not wait. */
RINGLET_STREAM_API ringletResult_t ringletEventDestroy(ringletEvent_t event);

/* Sets the event to the current end of `stream`, behind all issued items. */
RINGLET_STREAM_API ringletResult_t ringletEventRecord(ringletEvent_t event, ringletStream_t stream);

/* ringletSuccess  the stream has passed the record, or no record exists ; ringletNotReady ;
 *                 ringletFailed  earlier work failed ; ringletCapturedEvent */
RINGLET_STREAM_API ringletResult_t ringletEventQuery(ringletEvent_t event);

/* Waits until the stream has passed the last record. The stream still reports a failure. Errors as
 * ringletEventQuery. */
RINGLET_STREAM_API ringletResult_t ringletEventSynchronize(ringletEvent_t event);

/* Returns the milliseconds between the times at which the streams passed the two records.
 * ringletInvalidHandle  an event has no record or no timing ; ringletNotReady ; ringletFailed */
RINGLET_STREAM_API ringletResult_t ringletEventElapsedTime(float* milliseconds,
                                                           ringletEvent_t start,
                                                           ringletEvent_t end);

/* ---- Capture --------------------------------------------------------------------------------- */

/* Turns later items of `stream` into nodes of a graph. Other streams that wait over an event for a
 * captured item are captured too. They rejoin through an event that `stream` waits for.
 * \param mode  ringletCaptureGlobal, ringletCaptureThreadLocal or ringletCaptureRelaxed: determines
 *              the threads that ringletStreamCheckCapture refuses. Unless relaxed, the thread that
 *              began the capture must end it
 * ringletCaptureUnsupported  the legacy stream ; ringletInvalidArgument  it is captured already */
RINGLET_STREAM_API ringletResult_t ringletStreamBeginCapture(ringletStream_t stream, int mode);

/* Ends the capture that began on `stream`. A failure ends the capture too and sets *graph to NULL,
 * except ringletCaptureWrongThread and ringletCaptureUnmatched.
 * \param graph  owned by the caller, which destroys it */
RINGLET_STREAM_API ringletResult_t ringletStreamEndCapture(ringletStream_t stream,
                                                           ringletGraph_t* graph);

/* Reads the state of a capture without changing it.
 * \param status  ringletCaptureNone, ringletCaptureActive or ringletCaptureBroken (invalidated)
 * \param id      id of an active capture, unique in the process. May be NULL
 * \param graph   graph of an active capture, owned by the capture. May be NULL */
RINGLET_STREAM_API ringletResult_t ringletStreamCaptureStatus(ringletStream_t stream, int* status,
                                                              unsigned long long* id,
                                                              ringletGraph_t* graph);

/* The nodes on which the next item of a captured stream will depend.
 * \param count  in: capacity of `nodes`, which may be NULL; out: the number of nodes */
RINGLET_STREAM_API ringletResult_t ringletStreamGetCaptureNodes(ringletStream_t stream,
                                                                ringletGraphNode_t* nodes,
                                                                size_t* count);
/* Makes the next item depend on these nodes; with `adds`, on the previous ones too. */
RINGLET_STREAM_API ringletResult_t ringletStreamSetCaptureNodes(ringletStream_t stream,
                                                                const ringletGraphNode_t* nodes,
                                                                size_t count, int adds);

/* Sets this thread's mode, initially ringletCaptureGlobal, and returns the previous mode. */
RINGLET_STREAM_API ringletResult_t ringletStreamExchangeCaptureMode(int* mode);

/* Call it before an immediate operation, such as an allocation, which a graph would miss.
 * ringletCaptureUnsupported  a capture forbids it and is invalidated. A global capture forbids it
 * to every thread with mode global. A capture that is not relaxed forbids it to the thread that
 * began it, unless that thread's mode is relaxed. */
RINGLET_STREAM_API ringletResult_t ringletStreamCheckCapture(void);

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* Creates an empty graph. A new node depends only on existing nodes, so a graph has no cycles. */
RINGLET_STREAM_API ringletResult_t ringletGraphCreate(ringletGraph_t* graph);

/* Ends the handles of the graph and its nodes. Executables and clones stay.
 * ringletInvalidArgument  the graph belongs to a running capture */
RINGLET_STREAM_API ringletResult_t ringletGraphDestroy(ringletGraph_t graph);

/* \param node          receives the new node, owned by the graph. May be NULL
 * \param dependencies  `count` nodes of this graph that run before it; NULL if `count` is 0
 * ringletInvalidHandle  a dependency is not a node of this graph */
RINGLET_STREAM_API ringletResult_t ringletGraphAddHostNode(
    ringletGraphNode_t* node, ringletGraph_t graph, const ringletGraphNode_t* dependencies,
    size_t count, ringletHostFunction_t function, void* data);
/* Adds a node that only waits for its dependencies. */
RINGLET_STREAM_API ringletResult_t ringletGraphAddEmptyNode(ringletGraphNode_t* node,
                                                            ringletGraph_t graph,
                                                            const ringletGraphNode_t* dependencies,
                                                            size_t count);

/* \param clone  a copy of the graph in its current state, owned by the caller */
RINGLET_STREAM_API ringletResult_t ringletGraphClone(ringletGraph_t* clone, ringletGraph_t graph);

/* Returns the nodes in the order in which they were added. \param count  as for
 * ringletStreamGetCaptureNodes */
RINGLET_STREAM_API ringletResult_t ringletGraphGetNodes(ringletGraph_t graph,
                                                        ringletGraphNode_t* nodes, size_t* count);

/* Creates an executable of the graph in its current state. \param exec  owned by the caller
 * Cost  linear in nodes and dependencies */
RINGLET_STREAM_API ringletResult_t ringletGraphInstantiate(ringletGraphExec_t* exec,
                                                           ringletGraph_t graph);

/* Issues all nodes as one item of `stream`. Independent nodes run concurrently on workers of the
 * executable. Two launches of one executable run one after the other. In a capture, the nodes are
 * added to the captured graph.
 * Cost  a graph without branches is one item, whatever its length */
RINGLET_STREAM_API ringletResult_t ringletGraphLaunch(ringletGraphExec_t exec,
                                                      ringletStream_t stream);

/* Ends the handle; running launches continue. Does not wait. */
RINGLET_STREAM_API ringletResult_t ringletGraphExecDestroy(ringletGraphExec_t exec);

/* Calls `function(data)` once, on any thread, when the graph, its clones and executables, and all
 * their launches have ended. The graph may belong to a capture. */
RINGLET_STREAM_API ringletResult_t ringletGraphOnDestroy(ringletGraph_t graph,
                                                         ringletHostFunction_t function,
                                                         void* data);

#ifdef __cplusplus
}
#endif

#endif /* RINGLET_STREAM_H_ */
