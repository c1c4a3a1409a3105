/* Host streams: in-order queues of host functions, with events, capture and graphs.
 *
 * A stream runs what is issued to it in order, on a worker thread of its own, so that streams run
 * beside each other. An event marks a point of a stream, which others can wait for. A capture
 * writes down what is issued instead of running it, and gives a graph that can be launched as often
 * as wanted. NCCL's functions (ringlet/compat/nccl.h) take these streams where they take a
 * cudaStream_t:
 *
 *   ringletStream_t stream;
 *   ringletStreamCreate(&stream, 0, 0, 0);
 *   ncclAllReduce(in, out, n, ncclFloat, ncclSum, comm, (cudaStream_t)stream);
 *   ringletStreamSynchronize(stream);
 *
 *   Handles   are looked up in a table of those that live. Another pointer, or one that was
 *             destroyed, is ringletInvalidHandle and never a crash; numbers are not used twice.
 *   Devices   are numbers from 0 to RINGLET_STREAM_DEVICES_MAX - 1, which group streams: each has
 *             a legacy stream and, for each thread, a per-thread stream.
 *   Threads   any thread may call anything at any time. Calls of one thread take effect in their
 *             order.
 *   Failures  a host function fails by ringletStreamFail, an operation of NCCL by its error. Items
 *             that are behind it in its stream, or wait for it over an event or a legacy stream, do
 *             not run and fail with the same sentence. The stream works again once
 *             ringletStreamSynchronize or ringletStreamSynchronizeDevice has reported the failure,
 *             or the communicator it came from was aborted, destroyed or revoked.
 *   Waiting   calls that issue work return at once, unless RINGLET_STREAM_ITEMS_MAX items wait in
 *             the stream: then they wait for room, except on a worker. Calls that wait do so until
 *             the work is done, however long it takes. A host function may issue work; it may wait
 *             for none (ringletNotPermitted).
 *   fork      the child has none of the streams of its parent: their handles are
 *             ringletInvalidHandle there, and ringletStreamLastMessage says why.
 *
 * A host function is `void (*)(void*)`. Its data belong to the caller and live until it has run;
 * in a graph, until the graph, its clones and its executables are gone (ringletGraphOnDestroy).
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

/* Callers may pass any number as an enum. C++ allows it where the enum has a fixed type. */
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
  ringletNotReady,           /* of queries: there is work that is not done; no mistake */
  ringletInvalidArgument,    /* a null pointer, or a number out of range */
  ringletInvalidHandle,      /* not the handle of anything that lives */
  ringletFailed,             /* work that this waits for has failed: ringletStreamLastError */
  ringletCaptureUnsupported, /* not possible while capturing; the capture is invalidated */
  ringletCaptureInvalidated, /* the capture was made invalid by an earlier call */
  ringletCaptureUnmatched,   /* there is no capture, or it began on another stream */
  ringletOutOfMemory,        /* of memory, or of threads for the worker */
  ringletNotPermitted,       /* a host function may not wait */
  ringletCaptureMerge,       /* would join two captures; both are invalidated */
  ringletCaptureUnjoined,    /* the capture has work that its first stream does not wait for */
  ringletCaptureIsolation,   /* a captured stream would wait for what is not captured */
  ringletCaptureImplicit,    /* a legacy stream would wait for a captured one */
  ringletCapturedEvent,      /* the event is a point of a capture, not of running work */
  ringletCaptureWrongThread, /* the capture was begun by another thread, and not as relaxed */
  ringletResults
} ringletResult_t;

/* Special streams, everywhere where a stream is asked for: those of this thread's current device.
 * NULL is the legacy stream as well. */
#define ringletStreamLegacy ((ringletStream_t)0x1)
#define ringletStreamPerThread ((ringletStream_t)0x2)

#define RINGLET_STREAM_DEVICES_MAX 1024
/* Items that may wait in a stream: more than any program has ahead of itself; bounds memory. */
#define RINGLET_STREAM_ITEMS_MAX 16384

enum {
  ringletStreamDefault = 0,
  ringletStreamNonBlocking = 1 /* is not ordered with the legacy stream */
};
enum {
  ringletEventBlockingSync = 1, /* accepted: waiting always sleeps */
  ringletEventDisableTiming = 2,
  ringletEventInterprocess = 4 /* only with ringletEventDisableTiming */
};
enum { ringletCaptureGlobal = 0, ringletCaptureThreadLocal = 1, ringletCaptureRelaxed = 2 };
enum { ringletCaptureNone = 0, ringletCaptureActive = 1, ringletCaptureBroken = 2 };

typedef void (*ringletHostFunction_t)(void* data);

/* ---- Errors ---------------------------------------------------------------------------------- */

/* The name of a result, such as "ringletNotReady". Never NULL; lives forever. */
RINGLET_STREAM_API const char* ringletStreamResultName(ringletResult_t result);

/* The sentence of the last call on this thread that was neither ringletSuccess nor ringletNotReady;
 * "" if there was none. Valid until the next call of this header on this thread. */
RINGLET_STREAM_API const char* ringletStreamLastMessage(void);

/* The sentence of the last item of `stream` that failed or was not run because of a failure; ""
 * where none has, or there is no such stream. Stays when the failure has been reported. Valid until
 * the next call of this header on this thread. */
RINGLET_STREAM_API const char* ringletStreamLastError(ringletStream_t stream);

/* In a host function that a stream or graph runs: it has failed. The first sentence counts.
 * \param why  copied; NULL: "a host function failed"
 * ringletNotPermitted  elsewhere */
RINGLET_STREAM_API ringletResult_t ringletStreamFail(const char* why);

/* ---- Devices --------------------------------------------------------------------------------- */

/* The current device of this thread, at first 0; in a host function, its stream's.
 * ringletInvalidArgument  below 0, or RINGLET_STREAM_DEVICES_MAX or more */
RINGLET_STREAM_API ringletResult_t ringletStreamSetDevice(int device);
RINGLET_STREAM_API ringletResult_t ringletStreamGetDevice(int* device);

/* Waits for all that was issued to all streams of the device, destroyed ones included.
 * ringletFailed  some of it has failed: the first sentence is in ringletStreamLastMessage; streams
 * of the device work again. ringletCaptureUnsupported  one of its streams is captured. */
RINGLET_STREAM_API ringletResult_t ringletStreamSynchronizeDevice(int device);

/* As ringletStreamSynchronizeDevice, but captures of its streams are left alone: for what takes
 * memory away, which no captured call has used. */
RINGLET_STREAM_API ringletResult_t ringletStreamAwaitDevice(int device);

/* With `on`, NULL as the stream of a call of NCCL is the legacy stream of this thread's current
 * device. Without, as at first, such a call is complete when it returns. For the whole process; to
 * be said before communicators are used. */
RINGLET_STREAM_API void ringletStreamUseNull(int on);

/* ---- Streams --------------------------------------------------------------------------------- */

/* Makes a stream. Its worker starts with its first work.
 * \param flags     ringletStreamDefault: what is issued to it waits for what was issued to the
 *                  legacy stream before, and the other way round; or ringletStreamNonBlocking
 * \param priority  kept for ringletStreamGetPriority; has no effect
 * ringletInvalidArgument ; Cost  a microsecond; a thread at the first work */
RINGLET_STREAM_API ringletResult_t ringletStreamCreate(ringletStream_t* stream, int device,
                                                       unsigned int flags, int priority);

/* The handle ends; work that was issued still runs. Does not wait. A capture of the stream is
 * invalidated if it began there. ringletInvalidArgument  a special stream */
RINGLET_STREAM_API ringletResult_t ringletStreamDestroy(ringletStream_t stream);

/* ringletSuccess  all work is done ; ringletNotReady ; ringletFailed  until it is reported by a
 * call that waits ; ringletCaptureUnsupported  it is captured */
RINGLET_STREAM_API ringletResult_t ringletStreamQuery(ringletStream_t stream);

/* Waits until what was issued before is done.
 * ringletFailed  some of it failed; the stream works again ; ringletCaptureUnsupported */
RINGLET_STREAM_API ringletResult_t ringletStreamSynchronize(ringletStream_t stream);

/* Items issued to `stream` from now on wait for the record of `event` that was last issued
 * before this call, whatever becomes of the event. An event without a record is not waited for.
 * A record in a capture takes `stream` into that capture.
 * ringletCaptureMerge ; ringletCaptureIsolation ; ringletCaptureUnsupported ; ringletCapturedEvent
 * the capture of the record is over */
RINGLET_STREAM_API ringletResult_t ringletStreamWaitEvent(ringletStream_t stream,
                                                          ringletEvent_t event);

/* Issues a host function. In a capture it becomes a node, and runs with every launch.
 * ringletOutOfMemory  no worker could be started ; ringletCaptureImplicit ; ... */
RINGLET_STREAM_API ringletResult_t ringletStreamLaunch(ringletStream_t stream,
                                                       ringletHostFunction_t function, void* data);

/* The same, with data that the stream ends: `release(data)` is called once, by any thread, when
 * `function` will not be called again: after it has run or was passed over; in a capture, when the
 * graph, its clones, executables and launches are gone. If the call fails, data stay the
 * caller's. */
RINGLET_STREAM_API ringletResult_t ringletStreamLaunchOwned(ringletStream_t stream,
                                                            ringletHostFunction_t function,
                                                            void* data,
                                                            ringletHostFunction_t release);

RINGLET_STREAM_API ringletResult_t ringletStreamGetFlags(ringletStream_t stream,
                                                         unsigned int* flags);
RINGLET_STREAM_API ringletResult_t ringletStreamGetPriority(ringletStream_t stream, int* priority);
/* Not of this thread (ringletStreamGetDevice) but of a stream. */
RINGLET_STREAM_API ringletResult_t ringletStreamGetDeviceOf(ringletStream_t stream, int* device);
/* A number that no other stream of the process ever has. */
RINGLET_STREAM_API ringletResult_t ringletStreamGetId(ringletStream_t stream,
                                                      unsigned long long* id);

/* ---- Events ---------------------------------------------------------------------------------- */

/* \param flags  a sum of ringletEvent...; ringletInvalidArgument for others */
RINGLET_STREAM_API ringletResult_t ringletEventCreate(ringletEvent_t* event, unsigned int flags);

/* At any time: who waits for a record of it goes on waiting. Does not wait. */
RINGLET_STREAM_API ringletResult_t ringletEventDestroy(ringletEvent_t event);

/* The event is from now on the point of `stream` behind what was issued before. */
RINGLET_STREAM_API ringletResult_t ringletEventRecord(ringletEvent_t event, ringletStream_t stream);

/* ringletSuccess  the stream has come past it, or there is no record ; ringletNotReady ;
 * ringletFailed  what was before it failed ; ringletCapturedEvent */
RINGLET_STREAM_API ringletResult_t ringletEventQuery(ringletEvent_t event);

/* Waits until the stream has come past the last record. Errors as ringletEventQuery; a failure
 * stays unreported for its stream. */
RINGLET_STREAM_API ringletResult_t ringletEventSynchronize(ringletEvent_t event);

/* Milliseconds between the times at which the streams came past the two.
 * ringletInvalidHandle  one has no record, or no timing ; ringletNotReady ; ringletFailed */
RINGLET_STREAM_API ringletResult_t ringletEventElapsedTime(float* milliseconds,
                                                           ringletEvent_t start,
                                                           ringletEvent_t end);

/* ---- Capture --------------------------------------------------------------------------------- */

/* Items issued to `stream` from now on become nodes of a graph, and those that wait over events for
 * one of them are captured as well. Those streams come back by an event that `stream` waits for.
 * \param mode  ringletCaptureGlobal, ringletCaptureThreadLocal, ringletCaptureRelaxed: whom
 *              ringletStreamCheckCapture refuses; but for the last the thread that began ends it
 * ringletCaptureUnsupported  the legacy stream ; ringletInvalidArgument  it is captured already */
RINGLET_STREAM_API ringletResult_t ringletStreamBeginCapture(ringletStream_t stream, int mode);

/* Ends the capture that began on `stream`. A failure other than
 * ringletCaptureWrongThread and ringletCaptureUnmatched ends the capture too; *graph is NULL then.
 * \param graph  the caller's, to be destroyed */
RINGLET_STREAM_API ringletResult_t ringletStreamEndCapture(ringletStream_t stream,
                                                           ringletGraph_t* graph);

/* Never changes a capture.
 * \param status  ringletCaptureNone, ringletCaptureActive or ringletCaptureBroken (invalidated)
 * \param id      of the capture, while it is active; no two captures of a process have the same.
 *                May be NULL
 * \param graph   the capture's, while it is active; not to be destroyed. May be NULL */
RINGLET_STREAM_API ringletResult_t ringletStreamCaptureStatus(ringletStream_t stream, int* status,
                                                              unsigned long long* id,
                                                              ringletGraph_t* graph);

/* The nodes on which the next item of a captured stream will depend.
 * \param count  in: how many `nodes` takes (which may be NULL); out: how many there are */
RINGLET_STREAM_API ringletResult_t ringletStreamGetCaptureNodes(ringletStream_t stream,
                                                                ringletGraphNode_t* nodes,
                                                                size_t* count);
/* The next item depends on these; with `adds`, on those from before as well. */
RINGLET_STREAM_API ringletResult_t ringletStreamSetCaptureNodes(ringletStream_t stream,
                                                                const ringletGraphNode_t* nodes,
                                                                size_t count, int adds);

/* Sets this thread's mode, at first ringletCaptureGlobal, and gives back the one before. */
RINGLET_STREAM_API ringletResult_t ringletStreamExchangeCaptureMode(int* mode);

/* To be asked before a call that does its work at once (to allocate, say) and so would be missing
 * in a graph. ringletCaptureUnsupported  a capture forbids it to this thread, and is invalidated: a
 * global one to every thread whose mode is global, any but a relaxed one to the thread that began
 * it, unless the mode of that thread is relaxed. */
RINGLET_STREAM_API ringletResult_t ringletStreamCheckCapture(void);

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* An empty graph. Nodes are added behind nodes that it has, so it has no cycles. */
RINGLET_STREAM_API ringletResult_t ringletGraphCreate(ringletGraph_t* graph);

/* The handle ends, and those of its nodes. Executables and clones stay.
 * ringletInvalidArgument  it is being captured into */
RINGLET_STREAM_API ringletResult_t ringletGraphDestroy(ringletGraph_t graph);

/* \param node          gets the new node; belongs to the graph. May be NULL
 * \param dependencies  `count` nodes of this graph that are to be done before; NULL for none
 * ringletInvalidHandle  one is no node of this graph */
RINGLET_STREAM_API ringletResult_t ringletGraphAddHostNode(
    ringletGraphNode_t* node, ringletGraph_t graph, const ringletGraphNode_t* dependencies,
    size_t count, ringletHostFunction_t function, void* data);
/* A node that does nothing but wait. */
RINGLET_STREAM_API ringletResult_t ringletGraphAddEmptyNode(ringletGraphNode_t* node,
                                                            ringletGraph_t graph,
                                                            const ringletGraphNode_t* dependencies,
                                                            size_t count);

/* \param clone  the same as the graph is now; the caller's */
RINGLET_STREAM_API ringletResult_t ringletGraphClone(ringletGraph_t* clone, ringletGraph_t graph);

/* In the order in which they were added. \param count  as of ringletStreamGetCaptureNodes */
RINGLET_STREAM_API ringletResult_t ringletGraphGetNodes(ringletGraph_t graph,
                                                        ringletGraphNode_t* nodes, size_t* count);

/* Makes an executable of the graph as it is now. \param exec  the caller's
 * Cost  linear in nodes and dependencies */
RINGLET_STREAM_API ringletResult_t ringletGraphInstantiate(ringletGraphExec_t* exec,
                                                           ringletGraph_t graph);

/* Issues all nodes as one item of `stream`: those that do not depend on each other run beside each
 * other, on workers of the executable. Two launches of one executable run after one another. In a
 * capture its nodes are added to the graph.
 * Cost  a graph without branches is one item, whatever its length */
RINGLET_STREAM_API ringletResult_t ringletGraphLaunch(ringletGraphExec_t exec,
                                                      ringletStream_t stream);

/* The handle ends; launches go on. Does not wait. */
RINGLET_STREAM_API ringletResult_t ringletGraphExecDestroy(ringletGraphExec_t exec);

/* Calls `function(data)` once, on any thread, when the graph, its clones and executables, and all
 * their launches are gone. May be called for the graph of a capture. */
RINGLET_STREAM_API ringletResult_t ringletGraphOnDestroy(ringletGraph_t graph,
                                                         ringletHostFunction_t function,
                                                         void* data);

#ifdef __cplusplus
}
#endif

#endif /* RINGLET_STREAM_H_ */
