/* The functions of libcudart and libcuda for the programs in this folder, and their expected
 * values. This is the published interface, written down here because headers of CUDA are
 * missing. */
#ifndef RINGLET_TEST_CUDA_CALLS_H
#define RINGLET_TEST_CUDA_CALLS_H
#include <stddef.h>

typedef void* Stream;
typedef void* Event;
typedef void* Graph;
typedef void* Executable;
typedef void* Node;
typedef struct {
  unsigned x, y, z;
} Dim3;
typedef struct {
  char bytes[64];
} IpcHandle;

enum {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInvalidConfiguration = 9,
  kInvalidSymbol = 13,
  kInvalidMemcpyDirection = 21,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kDeviceUninitialized = 201,
  kInvalidHandle = 400,
  kNotReady = 600,
  kPeerAlreadyEnabled = 704,
  kHostAlreadyRegistered = 712,
  kHostNotRegistered = 713,
  kNotSupported = 801,
};
enum { kDisableTiming = 2, kInterprocess = 4 };
enum { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kDefault = 4 };

struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  long reserved[8];
};
/* The tests only read the begin of the structure. */
struct DeviceProperties {
  char name[256];
  unsigned char uuid[16];
  char rest[1024];
};
struct HostNode {
  void (*function)(void*);
  void* data;
};
struct MemsetNode {
  void* target;
  size_t pitch;
  unsigned value, element_bytes;
  size_t width, height;
};
struct KernelNode {
  const void* function;
  Dim3 grid, block;
  unsigned shared_bytes;
  void** arguments;
  void** extra;
};
struct LaunchConfiguration {
  Dim3 grid, block;
  size_t shared_bytes;
  Stream stream;
  const void* attributes;
  unsigned count;
};

int cudaGetDeviceCount(int*);
int cudaLogsRegisterCallback(void (*)(void*, int, char*, size_t), void*, void**);
int cudaLogsUnregisterCallback(void*);
int cudaSetDevice(int);
int cudaGetDevice(int*);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaDeviceGetAttribute(int*, int, int);
int cudaDeviceGetPCIBusId(char*, int, int);
int cudaDeviceGetByPCIBusId(int*, const char*);
int cudaDeviceCanAccessPeer(int*, int, int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaDeviceDisablePeerAccess(int);
int cudaDeviceGetStreamPriorityRange(int*, int*);
int cudaDeviceGetP2PAttribute(int*, int, int, int);
int cudaDeviceGetLimit(size_t*, int);
int cudaDeviceSetLimit(int, size_t);
#if RINGLET_CUDART >= 13
int cudaGetDeviceProperties(struct DeviceProperties*, int);
#else
int cudaGetDeviceProperties_v2(struct DeviceProperties*, int);
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
#endif
int cudaRuntimeGetVersion(int*);
int cudaDriverGetVersion(int*);
int cudaGetDriverEntryPoint(const char*, void**, unsigned long long, int*);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
const char* cudaGetErrorName(int);
const char* cudaGetErrorString(int);

int cudaMalloc(void**, size_t);
int cudaFree(void*);
int cudaMallocAsync(void**, size_t, Stream);
int cudaFreeAsync(void*, Stream);
int cudaMallocManaged(void**, size_t, unsigned);
int cudaMallocPitch(void**, size_t*, size_t, size_t);
int cudaMallocHost(void**, size_t);
int cudaHostAlloc(void**, size_t, unsigned);
int cudaFreeHost(void*);
int cudaHostRegister(void*, size_t, unsigned);
int cudaHostUnregister(void*);
int cudaHostGetDevicePointer(void**, void*, unsigned);
int cudaHostGetFlags(unsigned*, void*);
int cudaMemGetInfo(size_t*, size_t*);
int cudaPointerGetAttributes(struct PointerAttributes*, const void*);
int cudaIpcGetMemHandle(IpcHandle*, void*);
int cudaIpcOpenMemHandle(void**, IpcHandle, unsigned);
int cudaIpcCloseMemHandle(void*);
int cudaIpcGetEventHandle(IpcHandle*, Event);
int cudaIpcOpenEventHandle(Event*, IpcHandle);

int cudaMemcpy(void*, const void*, size_t, int);
int cudaMemcpyAsync(void*, const void*, size_t, int, Stream);
int cudaMemcpyPeerAsync(void*, int, const void*, int, size_t, Stream);
int cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, int);
int cudaMemset(void*, int, size_t);
int cudaMemsetAsync(void*, int, size_t, Stream);
int cudaMemset2D(void*, size_t, int, size_t, size_t);
int cudaGetSymbolAddress(void**, const void*);
int cudaGetSymbolSize(size_t*, const void*);
int cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, int);
int cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, int);

int cudaStreamCreate(Stream*);
int cudaStreamCreateWithFlags(Stream*, unsigned);
int cudaStreamCreateWithPriority(Stream*, unsigned, int);
int cudaStreamDestroy(Stream);
int cudaStreamQuery(Stream);
int cudaStreamSynchronize(Stream);
int cudaStreamWaitEvent(Stream, Event, unsigned);
int cudaStreamGetFlags(Stream, unsigned*);
int cudaStreamGetPriority(Stream, int*);
int cudaStreamGetDevice(Stream, int*);
int cudaStreamAddCallback(Stream, void (*)(Stream, int, void*), void*, unsigned);
int cudaLaunchHostFunc(Stream, void (*)(void*), void*);
int cudaStreamBeginCapture(Stream, int);
int cudaStreamEndCapture(Stream, Graph*);
int cudaStreamIsCapturing(Stream, int*);
#if RINGLET_CUDART >= 13
int cudaStreamGetCaptureInfo(Stream, int*, unsigned long long*, Graph*, const Node**, const void**,
                             size_t*);
#else
int cudaStreamGetCaptureInfo_v3(Stream, int*, unsigned long long*, Graph*, const Node**,
                                const void**, size_t*);
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#endif

int cudaEventCreate(Event*);
int cudaEventCreateWithFlags(Event*, unsigned);
int cudaEventDestroy(Event);
int cudaEventRecord(Event, Stream);
int cudaEventQuery(Event);
int cudaEventSynchronize(Event);
int cudaEventElapsedTime(float*, Event, Event);

int cudaGraphCreate(Graph*, unsigned);
int cudaGraphDestroy(Graph);
int cudaGraphAddHostNode(Node*, Graph, const Node*, size_t, const struct HostNode*);
int cudaGraphAddEmptyNode(Node*, Graph, const Node*, size_t);
int cudaGraphAddMemsetNode(Node*, Graph, const Node*, size_t, const struct MemsetNode*);
int cudaGraphAddMemcpyNode1D(Node*, Graph, const Node*, size_t, void*, const void*, size_t, int);
int cudaGraphAddKernelNode(Node*, Graph, const Node*, size_t, const struct KernelNode*);
int cudaGraphClone(Graph*, Graph);
int cudaGraphGetNodes(Graph, Node*, size_t*);
int cudaGraphInstantiate(Executable*, Graph, unsigned long long);
int cudaGraphLaunch(Executable, Stream);
int cudaGraphExecDestroy(Executable);
int cudaUserObjectCreate(void**, void*, void (*)(void*), unsigned, unsigned);
int cudaUserObjectRelease(void*, unsigned);
int cudaGraphRetainUserObject(Graph, void*, unsigned, unsigned);

int cudaGraphUpload(Executable, Stream); /* missing: a trap */

void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(Dim3, Dim3, size_t, Stream);
int __cudaPopCallConfiguration(Dim3*, Dim3*, size_t*, void*);
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, size_t, Stream);
int cudaLaunchKernelExC(const struct LaunchConfiguration*, const void*, void**);
int cudaFuncSetAttribute(const void*, int, int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, size_t);

/* Ends the program with the line and the result of the first unexpected call. */
#define EXPECT(expected, call)                                                             \
  do {                                                                                     \
    const long expect_is = (long)(call), expect_wanted = (long)(expected);                 \
    if (expect_is != expect_wanted) {                                                      \
      fprintf(stderr, "%s:%d: %s is %ld, not %ld\n", __FILE__, __LINE__, #call, expect_is, \
              expect_wanted);                                                              \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)
#define OK(call) EXPECT(kSuccess, call)
#define TRUE(condition) EXPECT(1, (condition) ? 1 : 0)

#endif
