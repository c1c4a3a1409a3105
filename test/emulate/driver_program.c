/* A program of libcuda.so.1 that finds its functions by cuGetProcAddress, as most do. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_calls.h"

typedef unsigned long long DevicePointer;
int cuGetProcAddress_v2(const char*, void**, int, uint64_t, int*);

#define FIND(result, name, ...)                                  \
  result (*name)(__VA_ARGS__) = NULL;                            \
  OK(cuGetProcAddress_v2(#name, (void**)&name, 13000, 0, NULL)); \
  TRUE(name != NULL)

static char logged[512];

static void Hear(void* data, int level, char* text, size_t length) {
  TRUE(data == logged && level == 0 && strlen(text) == length && length < sizeof logged);
  strcpy(logged, text);
}

/* PyTorch adds the logged text to its exceptions. */
static void TestLog(void) {
  void *handle = NULL, *of_runtime = NULL, *memory = NULL;
  FIND(int, cuLogsRegisterCallback, void (*)(void*, int, char*, size_t), void*, void**);
  FIND(int, cuLogsUnregisterCallback, void*);
  EXPECT(kInvalidValue, cuLogsRegisterCallback(NULL, NULL, &handle));
  OK(cuLogsRegisterCallback(Hear, logged, &handle));
  EXPECT(kMemoryAllocation, cudaMalloc(&memory, (size_t)1 << 40));
  TRUE(strstr(logged, "cudaMalloc: cudaErrorMemoryAllocation: ") == logged);
  TRUE(strstr(logged, "--memory") != NULL);
  OK(cudaLogsRegisterCallback(Hear, logged, &of_runtime));
  OK(cuLogsUnregisterCallback(handle));
  EXPECT(kInvalidDevice, cudaSetDevice(77));
  TRUE(strstr(logged, "unknown device 77") != NULL);
  OK(cudaLogsUnregisterCallback(of_runtime));
  logged[0] = 0;
  EXPECT(kInvalidValue, cuLogsUnregisterCallback(handle));
  TRUE(logged[0] == 0);
}

static void TestFunctions(void) {
  void* missing = &missing;
  int state = -1, device = -1, count = 0, value = 0;
  unsigned type = 0;
  size_t bytes = 0;
  void *context = NULL, *current = NULL, *stream = NULL, *of_stream = NULL;
  DevicePointer memory = 0, begin = 0;
  char name[64], out[16] = {0};
  const char* text = NULL;
  FIND(int, cuInit, unsigned);
  FIND(int, cuDeviceGetCount, int*);
  FIND(int, cuDeviceGet, int*, int);
  FIND(int, cuDeviceGetName, char*, int, int);
  FIND(int, cuDeviceGetUuid, char*, int);
  FIND(int, cuDeviceGetAttribute, int*, int, int);
  FIND(int, cuDeviceTotalMem, size_t*, int);
  FIND(int, cuDevicePrimaryCtxRetain, void**, int);
  FIND(int, cuCtxSetCurrent, void*);
  FIND(int, cuCtxGetCurrent, void**);
  FIND(int, cuCtxPushCurrent, void*);
  FIND(int, cuCtxPopCurrent, void**);
  FIND(int, cuCtxGetDevice, int*);
  FIND(int, cuMemAlloc, DevicePointer*, size_t);
  FIND(int, cuMemFree, DevicePointer);
  FIND(int, cuMemGetAddressRange, DevicePointer*, size_t*, DevicePointer);
  FIND(int, cuMemcpyHtoD, DevicePointer, const void*, size_t);
  FIND(int, cuMemcpyDtoH, void*, DevicePointer, size_t);
  FIND(int, cuPointerGetAttribute, void*, int, DevicePointer);
  FIND(int, cuStreamCreate, void**, unsigned);
  FIND(int, cuStreamGetCtx, void*, void**);
  FIND(int, cuGetErrorName, int, const char**);
  FIND(int, cuModuleLoad, void**, const char*);
  EXPECT(500, cuGetProcAddress_v2("cuNoSuchFunction", &missing, 13000, 0, &state));
  TRUE(missing == NULL && state == 1);
  OK(cuInit(0));
  OK(cuDeviceGetCount(&count));
  EXPECT(3, count);
  OK(cuDeviceGet(&device, 2));
  EXPECT(kInvalidDevice, cuDeviceGet(&device, 3));
  OK(cuDeviceGetName(name, sizeof name, 2));
  TRUE(strlen(name) > 0);
  memset(name, 0, sizeof name);
  OK(cuDeviceGetUuid(name, 2));
  TRUE(memchr(name, 0, 16) != name || name[1] != 0);
  OK(cuDeviceGetAttribute(&value, 10, 2));
  EXPECT(32, value);
  OK(cuDeviceTotalMem(&bytes, 2));
  EXPECT(8 << 20, bytes);
  OK(cuDevicePrimaryCtxRetain(&context, 2));
  OK(cuCtxSetCurrent(context));
  OK(cuCtxGetCurrent(&current));
  TRUE(current == context);
  OK(cudaGetDevice(&device)); /* the runtime's is the same */
  EXPECT(2, device);
  OK(cuDevicePrimaryCtxRetain(&current, 1));
  OK(cuCtxPushCurrent(current));
  OK(cuCtxGetDevice(&device));
  EXPECT(1, device);
  OK(cuCtxPopCurrent(&current));
  OK(cuCtxGetDevice(&device));
  EXPECT(2, device);
  EXPECT(201, cuCtxSetCurrent(&device));
  OK(cuMemAlloc(&memory, 4096));
  OK(cuMemcpyHtoD(memory, "driver", 7));
  OK(cuMemcpyDtoH(out, memory, 7));
  TRUE(strcmp(out, "driver") == 0);
  OK(cuMemGetAddressRange(&begin, &bytes, memory + 10));
  TRUE(begin == memory && bytes == 4096);
  OK(cuPointerGetAttribute(&type, 2, memory));
  EXPECT(2, type);
  OK(cuPointerGetAttribute(&device, 9, memory));
  EXPECT(2, device);
  EXPECT(kInvalidValue, cuPointerGetAttribute(&type, 2, (DevicePointer)(uintptr_t)out));
  OK(cudaFree((void*)(uintptr_t)memory)); /* one memory for both */
  EXPECT(kInvalidValue, cuMemFree(memory));
  OK(cuStreamCreate(&stream, 1));
  OK(cuStreamGetCtx(stream, &of_stream));
  TRUE(of_stream == context);
  OK(cudaStreamSynchronize(stream));
  OK(cuGetErrorName(2, &text));
  TRUE(strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY") == 0);
  EXPECT(kNotSupported, cuModuleLoad(&context, "file")); /* a trap, which reports its name */
}

int main(void) {
  TestFunctions();
  TestLog();
  return 0;
}
