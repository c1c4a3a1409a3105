/* A CUDA program with kernels, in the form that a compiler gives to `__global__ void scale(float*,
 * int)`, `fill` of C and `missing(float*)`: stubs registered by a constructor by their names, and
 * launches of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_calls.h"

struct Pair {
  float a, b;
};

static char scale_stub, fill_stub, missing_stub, unregistered_stub;
static int variable[4] = {1, 2, 3, 4};

__attribute__((constructor)) static void RegisterKernels(void) {
  void** const binary = __cudaRegisterFatBinary(NULL);
  __cudaRegisterFunction(binary, &scale_stub, NULL, "_Z5scalePfi", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFunction(binary, &fill_stub, NULL, "fill", -1, 0, 0, 0, 0, 0);
  __cudaRegisterFunction(binary, &missing_stub, NULL, "_Z7missingPf", -1, 0, 0, 0, 0, 0);
  __cudaRegisterVar(binary, (char*)variable, NULL, "variable", 0, sizeof variable, 0, 0);
  __cudaRegisterFatBinaryEnd(binary);
}

static void LaunchScale(float* values, int count, Stream stream) {
  void* arguments[] = {&values, &count};
  Dim3 grid = {1, 1, 1}, block = {32, 1, 1};
  size_t shared = 0;
  Stream popped;
  /* scale<<<1, 32, 0, stream>>>(values, count) */
  __cudaPushCallConfiguration(grid, block, 0, stream);
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &popped));
  TRUE(block.x == 32 && popped == stream);
  OK(cudaLaunchKernel(&scale_stub, grid, block, arguments, shared, popped));
  values = NULL; /* the launch has a copy */
  count = 0;
}

static void TestLaunches(void) {
  const Dim3 one = {1, 1, 1}, none = {0, 1, 1};
  float *values, out[4];
  struct Pair pair = {1, 2};
  void* fill_arguments[] = {&values, &pair};
  struct LaunchConfiguration launch;
  Stream stream;
  int blocks = 0;
  OK(cudaMalloc((void**)&values, sizeof out));
  OK(cudaStreamCreateWithFlags(&stream, 1));
  memset(&launch, 0, sizeof launch);
  launch.grid = launch.block = one;
  launch.stream = stream;
  OK(cudaLaunchKernelExC(&launch, &fill_stub, fill_arguments));
  LaunchScale(values, 4, stream);
  LaunchScale(values, 2, stream);
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(out, values, sizeof out, kDeviceToHost));
  TRUE(out[0] == 4 && out[1] == 8 && out[2] == 2 && out[3] == 4);
  EXPECT(kInvalidConfiguration, cudaLaunchKernel(&fill_stub, none, one, fill_arguments, 0, stream));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &scale_stub, 1024, 0));
  EXPECT(2, blocks);
  OK(cudaFuncSetAttribute(&scale_stub, 8, 1));
  EXPECT(kInvalidDeviceFunction, cudaFuncSetAttribute(&unregistered_stub, 8, 1));
}

static void TestUnknown(void) {
  const Dim3 one = {1, 1, 1};
  float* values = NULL;
  void* arguments[] = {&values};
  EXPECT(kInvalidDeviceFunction, cudaLaunchKernel(&missing_stub, one, one, arguments, 0, NULL));
  EXPECT(kInvalidDeviceFunction, cudaGetLastError());
  EXPECT(kInvalidDeviceFunction,
         cudaLaunchKernel(&unregistered_stub, one, one, arguments, 0, NULL));
}

static void TestKernelGraph(void) {
  float *values, out[4];
  int count = 4;
  void* arguments[] = {&values, &count};
  struct KernelNode node;
  Graph captured, made;
  Executable executable;
  Stream stream;
  OK(cudaMalloc((void**)&values, sizeof out));
  out[0] = out[1] = out[2] = out[3] = 1;
  OK(cudaMemcpy(values, out, sizeof out, kHostToDevice));
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, 2));
  LaunchScale(values, 4, stream);
  OK(cudaStreamEndCapture(stream, &captured));
  OK(cudaGraphInstantiate(&executable, captured, 0));
  OK(cudaGraphDestroy(captured));
  for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(out, values, sizeof out, kDeviceToHost));
  TRUE(out[3] == 8);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphCreate(&made, 0));
  memset(&node, 0, sizeof node);
  node.function = &scale_stub;
  node.grid.x = node.grid.y = node.grid.z = node.block.x = node.block.y = node.block.z = 1;
  node.arguments = arguments;
  OK(cudaGraphAddKernelNode(NULL, made, NULL, 0, &node));
  OK(cudaGraphInstantiate(&executable, made, 0));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(out, values, sizeof out, kDeviceToHost));
  TRUE(out[3] == 16);
}

static void TestVariables(void) {
  int out[4] = {0}, five = 5;
  void* address = NULL;
  size_t bytes = 0;
  OK(cudaGetSymbolAddress(&address, variable));
  OK(cudaGetSymbolSize(&bytes, variable));
  EXPECT(sizeof variable, bytes);
  OK(cudaMemcpyToSymbol(variable, &five, sizeof five, 4, kHostToDevice));
  OK(cudaMemcpyFromSymbol(out, variable, sizeof out, 0, kDeviceToHost));
  TRUE(out[0] == 1 && out[1] == 5);
  EXPECT(kInvalidSymbol, cudaGetSymbolAddress(&address, &five));
  EXPECT(kInvalidValue, cudaMemcpyToSymbol(variable, &five, sizeof five, 13, kHostToDevice));
}

int main(int argument_count, char** arguments) {
  const char* const group = argument_count > 1 ? arguments[1] : "";
  if (strcmp(group, "launches") == 0)
    TestLaunches();
  else if (strcmp(group, "unknown") == 0)
    TestUnknown();
  else if (strcmp(group, "graph") == 0)
    TestKernelGraph();
  else if (strcmp(group, "variables") == 0)
    TestVariables();
  else
    return 2;
  return 0;
}
