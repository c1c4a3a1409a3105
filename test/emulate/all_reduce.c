/* A program of NCCL and CUDA: one process with a rank per device, grouped calls on streams. */
#include <stdio.h>
#include <stdlib.h>

#include <nccl.h>

#include "cuda_calls.h"

enum { kRanks = 3, kCount = 1000 };

int main(void) {
  ncclComm_t comms[kRanks];
  float *buffers[kRanks], values[kCount];
  Stream streams[kRanks];
  OK(ncclCommInitAll(comms, kRanks, NULL));
  for (int r = 0; r < kRanks; r++) {
    OK(cudaSetDevice(r));
    OK(cudaStreamCreateWithFlags(&streams[r], 1));
    OK(cudaMalloc((void**)&buffers[r], sizeof values));
    for (int i = 0; i < kCount; i++) values[i] = (float)(r + i);
    OK(cudaMemcpyAsync(buffers[r], values, sizeof values, kHostToDevice, streams[r]));
  }
  OK(ncclGroupStart());
  for (int r = 0; r < kRanks; r++)
    OK(ncclAllReduce(buffers[r], buffers[r], kCount, ncclFloat, ncclSum, comms[r],
                     (cudaStream_t)streams[r]));
  OK(ncclGroupEnd());
  for (int r = 0; r < kRanks; r++) {
    OK(cudaMemcpyAsync(values, buffers[r], sizeof values, kDeviceToHost, streams[r]));
    for (int i = 0; i < kCount; i++) TRUE(values[i] == (float)(3 + 3 * i));
  }
  for (int r = 0; r < kRanks; r++) OK(ncclCommDestroy(comms[r]));
  printf("3 ranks: right\n");
  return 0;
}
