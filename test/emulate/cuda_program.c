/* A CUDA program without kernels of its own: cuda_program GROUP calls one group of libcudart's
 * functions as programs do, and ends with 0 if all answers are right. It links with libcudart.so.13
 * and .12. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_calls.h"

static void TestDevices(void) {
  int number = -1, value = -1, least = 0, greatest = 0;
  char address[32];
  struct DeviceProperties first, second;
  size_t limit = 0;
  OK(cudaGetDeviceCount(&number));
  EXPECT(3, number);
  OK(cudaGetDevice(&number));
  EXPECT(0, number);
  OK(cudaSetDevice(2));
  OK(cudaGetDevice(&number));
  EXPECT(2, number);
  EXPECT(kInvalidDevice, cudaSetDevice(3));
  EXPECT(kInvalidDevice, cudaSetDevice(-1));
  OK(cudaDeviceGetAttribute(&value, 10, 0));
  EXPECT(32, value);
  EXPECT(kInvalidValue, cudaDeviceGetAttribute(&value, 99999, 0));
  OK(cudaGetDeviceProperties(&first, 0));
  OK(cudaGetDeviceProperties(&second, 1));
  TRUE(strlen(first.name) > 0);
  TRUE(memcmp(first.uuid, second.uuid, 16) != 0);
  OK(cudaDeviceGetPCIBusId(address, sizeof address, 1));
  OK(cudaDeviceGetByPCIBusId(&number, address));
  EXPECT(1, number);
  EXPECT(kInvalidValue, cudaDeviceGetPCIBusId(address, 4, 1));
  EXPECT(kInvalidDevice, cudaDeviceGetByPCIBusId(&number, "0000:00:00.0"));
  OK(cudaDeviceCanAccessPeer(&value, 0, 1));
  EXPECT(1, value);
  OK(cudaDeviceCanAccessPeer(&value, 1, 1));
  EXPECT(0, value);
  OK(cudaDeviceEnablePeerAccess(0, 0));
  EXPECT(kPeerAlreadyEnabled, cudaDeviceEnablePeerAccess(0, 0));
  OK(cudaDeviceDisablePeerAccess(0));
  OK(cudaDeviceGetP2PAttribute(&value, 2, 0, 1));
  EXPECT(1, value);
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  TRUE(greatest < least);
  OK(cudaDeviceSetLimit(2, 12345));
  OK(cudaDeviceGetLimit(&limit, 2));
  EXPECT(12345, limit);
  OK(cudaRuntimeGetVersion(&value));
  EXPECT(RINGLET_CUDART, value / 1000);
  OK(cudaDriverGetVersion(&value));
  TRUE(value >= 13000);
}

static void TestErrors(void) {
  void* memory = NULL;
  void* function = NULL;
  int state = -1;
  EXPECT(kInvalidValue, cudaMalloc(NULL, 1));
  OK(cudaMalloc(&memory, 1)); /* does not clear the error */
  EXPECT(kInvalidValue, cudaPeekAtLastError());
  EXPECT(kInvalidValue, cudaGetLastError());
  EXPECT(kSuccess, cudaGetLastError());
  TRUE(strcmp(cudaGetErrorName(kInvalidValue), "cudaErrorInvalidValue") == 0);
  TRUE(strlen(cudaGetErrorString(kMemoryAllocation)) > 0);
  EXPECT(kNotSupported, cudaGraphUpload(NULL, NULL));
  EXPECT(kNotSupported, cudaGraphUpload(NULL, NULL)); /* reported once */
  EXPECT(kNotSupported, cudaGetLastError());
  OK(cudaGetDriverEntryPoint("cuMemAlloc", &function, 0, &state));
  TRUE(function != NULL && state == 0);
  OK(cudaGetDriverEntryPoint("cuNoSuchFunction", &function, 0, &state));
  TRUE(function == NULL && state == 1);
  OK(cudaFree(memory));
}

static void TestMemory(void) {
  void *a = NULL, *b = NULL, *managed = NULL, *pinned = NULL, *device_side = NULL;
  size_t before = 0, after = 0, total = 0, pitch = 0;
  unsigned flags = 0;
  char own[4096];
  struct PointerAttributes is;
  OK(cudaMemGetInfo(&before, &total));
  EXPECT(8 << 20, total);
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&a, 1 << 20));
  OK(cudaMemGetInfo(&after, &total));
  EXPECT(1 << 20, before - after);
  EXPECT(kMemoryAllocation, cudaMalloc(&b, 8 << 20)); /* the limit */
  OK(cudaMalloc(&b, 0));
  TRUE(b == NULL);
  OK(cudaPointerGetAttributes(&is, (char*)a + 100));
  TRUE(is.type == 2 && is.device == 1 && is.device_pointer == (char*)a + 100);
  TRUE(is.host_pointer == NULL);
  OK(cudaPointerGetAttributes(&is, own));
  TRUE(is.type == 0 && is.host_pointer == own && is.device_pointer == NULL);
  EXPECT(kInvalidValue, cudaFree((char*)a + 1));
  EXPECT(kInvalidValue, cudaFree(own));
  OK(cudaFree(a));
  EXPECT(kInvalidValue, cudaFree(a));
  OK(cudaFree(NULL));
  OK(cudaMallocManaged(&managed, 100, 1));
  memset(managed, 1, 100);
  OK(cudaPointerGetAttributes(&is, managed));
  TRUE(is.type == 3 && is.host_pointer == managed && is.device_pointer == managed);
  OK(cudaFree(managed));
  OK(cudaMallocHost(&pinned, 100));
  OK(cudaPointerGetAttributes(&is, pinned));
  TRUE(is.type == 1 && is.host_pointer == pinned);
  EXPECT(kInvalidValue, cudaFree(pinned));
  OK(cudaFreeHost(pinned));
  EXPECT(kInvalidValue, cudaFreeHost(pinned));
  OK(cudaHostRegister(own, sizeof own, 2));
  EXPECT(kHostAlreadyRegistered, cudaHostRegister(own, 8, 0));
  OK(cudaHostGetDevicePointer(&device_side, own + 8, 0));
  TRUE(device_side == own + 8);
  OK(cudaHostGetFlags(&flags, own));
  EXPECT(2, flags);
  OK(cudaHostUnregister(own));
  EXPECT(kHostNotRegistered, cudaHostUnregister(own));
  OK(cudaMallocPitch(&a, &pitch, 100, 3));
  TRUE(pitch >= 100 && pitch % 512 == 0);
  OK(cudaFree(a));
  OK(cudaMallocAsync(&a, 4096, NULL));
  OK(cudaFreeAsync(a, NULL));
  OK(cudaDeviceSynchronize());
  EXPECT(kInvalidValue, cudaFreeAsync(a, NULL));
  OK(cudaMalloc(&a, 4096));
  OK(cudaDeviceReset());
  EXPECT(kInvalidValue, cudaFree(a));
}

static void TestCopies(void) {
  unsigned char in[256], out[256], rows[2][8] = {{0}};
  unsigned char *a = NULL, *b = NULL;
  Stream stream;
  for (int i = 0; i < 256; i++) in[i] = (unsigned char)i;
  OK(cudaMalloc((void**)&a, 256));
  OK(cudaSetDevice(1));
  OK(cudaMalloc((void**)&b, 256));
  OK(cudaMemcpy(a, in, 256, kHostToDevice));
  OK(cudaMemcpy(b, a, 256, kDeviceToDevice));
  memset(out, 0, 256);
  OK(cudaMemcpy(out, b, 256, kDefault));
  TRUE(memcmp(in, out, 256) == 0);
  EXPECT(kInvalidValue, cudaMemcpy(a + 1, in, 256, kHostToDevice)); /* ends beyond the allocation */
  EXPECT(kInvalidValue, cudaMemcpy(out, in, 1, kDeviceToHost));
  EXPECT(kInvalidValue, cudaMemcpy(out, in, 1, kHostToDevice));
  EXPECT(kInvalidMemcpyDirection, cudaMemcpy(a, in, 1, 9));
  EXPECT(kInvalidValue, cudaMemcpy(a, NULL, 1, kDefault));
  OK(cudaMemcpy(NULL, NULL, 0, kDefault));
  OK(cudaMemset(a, 7, 256));
  OK(cudaMemcpy(out, a, 256, kDeviceToHost));
  EXPECT(7, out[255]);
  EXPECT(kInvalidValue, cudaMemset(a, 7, 257));
  EXPECT(kInvalidValue, cudaMemset(out, 7, 1));
  OK(cudaStreamCreate(&stream));
  OK(cudaMemcpyAsync(a, in, 256, kHostToDevice, stream));
  memset(in, 0xee, 256); /* pageable memory belongs to the program again */
  OK(cudaMemcpyPeerAsync(b, 1, a, 0, 256, stream));
  OK(cudaMemsetAsync(b + 10, 9, 10, stream));
  OK(cudaMemcpyAsync(out, b, 256, kDeviceToHost, stream)); /* has ended: pageable */
  EXPECT(9, out[10]);
  EXPECT(9, out[19]);
  EXPECT(20, out[20]);
  OK(cudaMemset2D(a, 16, 1, 4, 2));
  OK(cudaMemcpy2D(rows, 8, a, 16, 8, 2, kDeviceToHost));
  TRUE(rows[0][3] == 1 && rows[0][4] == 4 && rows[1][0] == 1 && rows[1][4] == 20);
  OK(cudaFree(a));
  EXPECT(kInvalidValue, cudaMemcpy(out, a, 1, kDeviceToHost));
  OK(cudaStreamDestroy(stream));
}

static void Append(void* list) {
  char** end = list;
  *(*end)++ = 'f';
}
static void CallBack(Stream stream, int status, void* list) {
  char** end = list;
  *(*end)++ = stream != NULL && status == 0 ? 'c' : '?';
}
static void Wait(void* flag) {
  while (!__atomic_load_n((int*)flag, __ATOMIC_ACQUIRE)) continue;
}

static void TestStreams(void) {
  char order[8] = "", *end = order;
  int open = 0, stray = 0, number = -1;
  unsigned flags = 9;
  float milliseconds = -1;
  Stream a, b;
  Event early, late, untimed;
  OK(cudaSetDevice(1));
  OK(cudaStreamCreateWithPriority(&a, 1, -3));
  OK(cudaStreamCreateWithFlags(&b, 1));
  OK(cudaStreamGetPriority(a, &number));
  EXPECT(-3, number);
  OK(cudaStreamGetFlags(a, &flags));
  EXPECT(1, flags);
  OK(cudaStreamGetDevice(a, &number));
  EXPECT(1, number);
  OK(cudaEventCreate(&early));
  OK(cudaEventCreate(&late));
  OK(cudaEventCreateWithFlags(&untimed, 2));
  OK(cudaEventRecord(early, a));
  OK(cudaLaunchHostFunc(a, Wait, &open));
  OK(cudaLaunchHostFunc(a, Append, &end));
  OK(cudaStreamAddCallback(a, CallBack, &end, 0));
  OK(cudaEventRecord(late, a));
  OK(cudaStreamWaitEvent(b, late, 0));
  OK(cudaLaunchHostFunc(b, Append, &end));
  EXPECT(kNotReady, cudaStreamQuery(a));
  EXPECT(kNotReady, cudaEventQuery(late));
  EXPECT(kNotReady, cudaGetLastError());
  EXPECT(kNotReady, cudaEventElapsedTime(&milliseconds, early, late));
  __atomic_store_n(&open, 1, __ATOMIC_RELEASE);
  OK(cudaEventSynchronize(late));
  OK(cudaEventElapsedTime(&milliseconds, early, late));
  TRUE(milliseconds >= 0);
  OK(cudaStreamSynchronize(b));
  OK(cudaStreamQuery(a));
  TRUE(strcmp(order, "fcf") == 0);
  OK(cudaEventRecord(untimed, a));
  OK(cudaEventSynchronize(untimed));
  EXPECT(kInvalidHandle, cudaEventElapsedTime(&milliseconds, early, untimed));
  OK(cudaEventDestroy(untimed));
  EXPECT(kInvalidHandle, cudaEventQuery(untimed));
  EXPECT(kInvalidHandle, cudaStreamSynchronize((Stream)&stray));
  EXPECT(kInvalidHandle, cudaEventRecord((Event)&stray, a));
  EXPECT(kInvalidHandle, cudaEventRecord(late, (Stream)&stray));
  OK(cudaStreamDestroy(b));
  EXPECT(kInvalidHandle, cudaStreamSynchronize(b));
  EXPECT(kInvalidHandle, cudaStreamDestroy(b));
  OK(cudaStreamDestroy(a));
}

static void CountUp(void* number) {
  ++*(int*)number;
}

static void TestCapture(void) {
  int status = -1, runs = 0, ended = 0;
  unsigned long long id = 0;
  size_t count = 0;
  unsigned char *memory, out[64];
  void *object, *unused, *pinned;
  const Node* nodes = NULL;
  Stream stream, other;
  Event fork, join;
  Graph graph, held, clone;
  Executable executable;
  OK(cudaMalloc((void**)&memory, 64));
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreate(&other));
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  OK(cudaStreamIsCapturing(stream, &status));
  EXPECT(0, status);
  OK(cudaMalloc(&unused, 64));
  OK(cudaHostAlloc(&pinned, 64, 0));
  OK(cudaStreamBeginCapture(stream, 2));
  OK(cudaFree(unused)); /* the capture continues */
  OK(cudaFreeHost(pinned));
  OK(cudaMemsetAsync(memory, 3, 64, stream));
  OK(cudaEventRecord(fork, stream));
  OK(cudaStreamWaitEvent(other, fork, 0));
  OK(cudaLaunchHostFunc(other, CountUp, &runs));
  OK(cudaEventRecord(join, other));
  OK(cudaStreamWaitEvent(stream, join, 0));
  OK(cudaStreamGetCaptureInfo(stream, &status, &id, &held, &nodes, NULL, &count));
  TRUE(status == 1 && count >= 1 && nodes != NULL && held != NULL);
  OK(cudaUserObjectCreate(&object, &ended, CountUp, 1, 1));
  OK(cudaGraphRetainUserObject(held, object, 1, 1));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphGetNodes(graph, NULL, &count));
  TRUE(count >= 2);
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphInstantiate(&executable, graph, 0));
  EXPECT(0, runs);
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaMemcpyAsync(out, memory, 64, kDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(2, runs);
  EXPECT(3, out[63]);
  OK(cudaGraphDestroy(graph));
  EXPECT(kInvalidHandle, cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(clone));
  EXPECT(0, ended);
  OK(cudaGraphExecDestroy(executable));
  EXPECT(1, ended);
  EXPECT(kInvalidHandle, cudaGraphLaunch(executable, stream));
  OK(cudaFree(memory));
}

static void TestGraphs(void) {
  int runs = 0;
  unsigned char *memory, out[64];
  struct HostNode host = {CountUp, &runs};
  struct MemsetNode fill;
  Stream stream;
  Graph graph;
  Node first, second, third;
  Executable executable;
  OK(cudaMalloc((void**)&memory, 64));
  OK(cudaStreamCreate(&stream));
  OK(cudaGraphCreate(&graph, 0));
  memset(&fill, 0, sizeof fill);
  fill.target = memory;
  fill.value = 0x01020304;
  fill.element_bytes = 4;
  fill.width = 8;
  fill.height = 1;
  OK(cudaGraphAddMemsetNode(&first, graph, NULL, 0, &fill));
  OK(cudaGraphAddMemcpyNode1D(&second, graph, &first, 1, memory + 32, memory, 32, kDeviceToDevice));
  OK(cudaGraphAddEmptyNode(&third, graph, &second, 1));
  OK(cudaGraphAddHostNode(NULL, graph, &third, 1, &host));
  EXPECT(kInvalidValue, cudaGraphAddHostNode(NULL, graph, NULL, 0, NULL));
  fill.width = 17;
  EXPECT(kInvalidValue, cudaGraphAddMemsetNode(NULL, graph, NULL, 0, &fill));
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(1, runs);
  OK(cudaMemcpy(out, memory, 64, kDeviceToHost));
  TRUE(out[32] == 4 && out[63] == 1);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
}

/* The parent's handle and the child's answer travel over pipes of the test. */
static void TestExport(void) {
  unsigned char* memory;
  IpcHandle handle, of_event;
  char line[4];
  void* self;
  Event event, untold;
  OK(cudaSetDevice(1));
  OK(cudaMalloc((void**)&memory, 4096));
  OK(cudaMalloc((void**)&memory, 4096));
  OK(cudaMemset(memory, 5, 4096));
  OK(cudaEventCreateWithFlags(&event, kInterprocess | kDisableTiming));
  OK(cudaEventCreateWithFlags(&untold, kDisableTiming));
  OK(cudaEventRecord(event, NULL));
  OK(cudaIpcGetEventHandle(&of_event, event)); /* waits */
  OK(cudaEventQuery(event));
  EXPECT(kInvalidHandle, cudaIpcGetEventHandle(&of_event, untold));
  EXPECT(kDeviceUninitialized, cudaIpcOpenEventHandle(&untold, of_event));
  EXPECT(kInvalidValue, cudaIpcGetMemHandle(&handle, line));
  OK(cudaIpcGetMemHandle(&handle, memory + 17));
  EXPECT(kDeviceUninitialized, cudaIpcOpenMemHandle(&self, handle, 1));
  for (int i = 0; i < 64; i++) printf("%02x", (unsigned char)handle.bytes[i]);
  for (int i = 0; i < 64; i++) printf("%02x", (unsigned char)of_event.bytes[i]);
  printf("\n");
  fflush(stdout);
  TRUE(fgets(line, sizeof line, stdin) != NULL);
  OK(cudaMemcpy(line, memory + 4095, 1, kDeviceToHost));
  EXPECT(6, line[0]);
}

static void ReadHandle(const char* text, IpcHandle* handle) {
  for (int i = 0; i < 64; i++) {
    unsigned byte = 0;
    EXPECT(1, sscanf(text + 2 * i, "%2x", &byte));
    handle->bytes[i] = (char)byte;
  }
}

static void TestImport(const char* text) {
  IpcHandle handle, of_event;
  unsigned char *memory = NULL, *again = NULL, value = 0;
  struct PointerAttributes is;
  Event event;
  ReadHandle(text, &handle);
  ReadHandle(text + 128, &of_event);
  EXPECT(kInvalidHandle, cudaIpcOpenEventHandle(&event, handle));
  OK(cudaIpcOpenEventHandle(&event, of_event));
  OK(cudaStreamWaitEvent(NULL, event, 0));
  OK(cudaEventRecord(event, NULL));
  OK(cudaEventQuery(event));
  OK(cudaEventDestroy(event));
  EXPECT(kInvalidValue, cudaIpcOpenMemHandle((void**)&memory, handle, 0));
  OK(cudaIpcOpenMemHandle((void**)&memory, handle, 1));
  OK(cudaIpcOpenMemHandle((void**)&again, handle, 1));
  TRUE(memory == again);
  OK(cudaPointerGetAttributes(&is, memory));
  TRUE(is.type == 2 && is.device == 1);
  OK(cudaMemcpy(&value, memory + 4095, 1, kDeviceToHost));
  EXPECT(5, value);
  OK(cudaMemset(memory + 4095, 6, 1));
  EXPECT(kInvalidValue, cudaMemcpy(&value, memory + 4096, 1, kDeviceToHost));
  EXPECT(kInvalidValue, cudaFree(memory));
  OK(cudaIpcCloseMemHandle(memory));
  OK(cudaIpcCloseMemHandle(memory));
  EXPECT(kInvalidValue, cudaIpcCloseMemHandle(memory));
}

static void TestNone(void) {
  int count = -1;
  EXPECT(100, cudaGetDeviceCount(&count));
  EXPECT(0, count);
  EXPECT(100, cudaMalloc((void**)&count, 1));
}

int main(int argument_count, char** arguments) {
  const char* const group = argument_count > 1 ? arguments[1] : "";
  if (strcmp(group, "devices") == 0)
    TestDevices();
  else if (strcmp(group, "errors") == 0)
    TestErrors();
  else if (strcmp(group, "memory") == 0)
    TestMemory();
  else if (strcmp(group, "copies") == 0)
    TestCopies();
  else if (strcmp(group, "streams") == 0)
    TestStreams();
  else if (strcmp(group, "capture") == 0)
    TestCapture();
  else if (strcmp(group, "graphs") == 0)
    TestGraphs();
  else if (strcmp(group, "export") == 0)
    TestExport();
  else if (strcmp(group, "import") == 0 && argument_count > 2)
    TestImport(arguments[2]);
  else if (strcmp(group, "none") == 0)
    TestNone();
  else
    return 2;
  return 0;
}
