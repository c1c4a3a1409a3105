/* A rank of NCCL on the device with its number on the host; `ringlet emulate -n R --hosts H` starts
 * several. Each sums the values of all, in memory of its device. */
#include <stdio.h>
#include <stdlib.h>

#include <nccl.h>

#include "cuda_calls.h"

enum { kCount = 100000 };

static int Number(const char* name) {
  const char* text = getenv(name);
  TRUE(text != NULL);
  return atoi(text);
}

int main(void) {
  static float values[kCount];
  const int rank = Number("RANK"), ranks = Number("WORLD_SIZE");
  float* buffer = NULL;
  Stream stream = NULL;
  ncclUniqueId id;
  ncclComm_t comm;
  OK(cudaSetDevice(Number("LOCAL_RANK")));
  OK(ncclGetUniqueId(&id)); /* ranks of a job need not exchange it */
  OK(ncclCommInitRank(&comm, ranks, id, rank));
  OK(cudaStreamCreateWithFlags(&stream, 1));
  OK(cudaMalloc((void**)&buffer, sizeof values));
  for (int i = 0; i < kCount; i++) values[i] = (float)(rank + i % 7);
  OK(cudaMemcpyAsync(buffer, values, sizeof values, kHostToDevice, stream));
  OK(ncclAllReduce(buffer, buffer, kCount, ncclFloat, ncclSum, comm, (cudaStream_t)stream));
  OK(cudaMemcpyAsync(values, buffer, sizeof values, kDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < kCount; i++)
    TRUE(values[i] == (float)(ranks * (ranks - 1) / 2 + ranks * (i % 7)));
  OK(ncclCommDestroy(comm));
  printf("right\n");
  return 0;
}
