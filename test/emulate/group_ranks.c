/* A program of NCCL and CUDA that starts its ranks one after another in one group, each on a
 * device of its own, the last device first. Each rank sums the values of all, then sends the sum
 * around. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nccl.h>
#include <nccl_device.h>

#include "cuda_calls.h"

enum { kRanksMax = 8, kCount = 1000 };

static ncclComm_t comms[kRanksMax];
static Stream streams[kRanksMax];
static float *sums[kRanksMax], *passed[kRanksMax];

static void Begin(int ranks) {
  ncclUniqueId id;
  OK(ncclGetUniqueId(&id));
  OK(ncclGroupStart());
  for (int r = 0; r < ranks; r++) {
    OK(cudaSetDevice(ranks - 1 - r));
    OK(ncclCommInitRank(&comms[r], ranks, id, r));
  }
  OK(ncclGroupEnd());
  for (int r = 0; r < ranks; r++) {
    float values[kCount];
    OK(cudaSetDevice(ranks - 1 - r));
    OK(cudaStreamCreateWithFlags(&streams[r], 1));
    OK(cudaMalloc((void**)&sums[r], sizeof values));
    OK(cudaMalloc((void**)&passed[r], sizeof values));
    for (int i = 0; i < kCount; i++) values[i] = (float)(r + i);
    OK(cudaMemcpyAsync(sums[r], values, sizeof values, kHostToDevice, streams[r]));
  }
}

/* NCCL reports devices by CUDA's numbers, independent of the machine's. */
static int DeviceOf(ncclComm_t comm) {
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  int device = -1;
  OK(ncclCommCuDevice(comm, &device));
  OK(ncclCommQueryProperties(comm, &properties));
  TRUE(properties.cudaDev == device);
  return device;
}

static void CheckDevices(int ranks) {
  ncclComm_t children[kRanksMax], all[kRanksMax];
  int devices[kRanksMax];
  OK(ncclGroupStart());
  for (int r = 0; r < ranks; r++) OK(ncclCommSplit(comms[r], 0, r, &children[r], NULL));
  OK(ncclGroupEnd());
  for (int r = 0; r < ranks; r++) devices[r] = ranks - 1 - r;
  OK(ncclCommInitAll(all, ranks, devices));
  for (int r = 0; r < ranks; r++) {
    TRUE(DeviceOf(comms[r]) == ranks - 1 - r);
    TRUE(DeviceOf(children[r]) == ranks - 1 - r);
    TRUE(DeviceOf(all[r]) == ranks - 1 - r);
    OK(ncclCommDestroy(children[r]));
    OK(ncclCommDestroy(all[r]));
  }
  devices[0] = ranks;
  TRUE(ncclCommInitAll(all, ranks, devices) == ncclInvalidArgument);
  TRUE(strstr(ncclGetLastError(NULL), "sees no CUDA device") != NULL);
}

int main(void) {
  int ranks = 0;
  float values[kCount];
  OK(cudaGetDeviceCount(&ranks));
  TRUE(ranks > 1 && ranks <= kRanksMax);
  Begin(ranks);
  CheckDevices(ranks);
  OK(ncclGroupStart());
  for (int r = 0; r < ranks; r++)
    OK(ncclAllReduce(sums[r], sums[r], kCount, ncclFloat, ncclSum, comms[r],
                     (cudaStream_t)streams[r]));
  OK(ncclGroupEnd());
  OK(ncclGroupStart());
  for (int r = 0; r < ranks; r++) {
    OK(ncclSend(sums[r], kCount, ncclFloat, (r + 1) % ranks, comms[r], (cudaStream_t)streams[r]));
    OK(ncclRecv(passed[r], kCount, ncclFloat, (r + ranks - 1) % ranks, comms[r],
                (cudaStream_t)streams[r]));
  }
  OK(ncclGroupEnd());
  for (int r = 0; r < ranks; r++) {
    OK(cudaMemcpyAsync(values, passed[r], sizeof values, kDeviceToHost, streams[r]));
    OK(cudaStreamSynchronize(streams[r]));
    for (int i = 0; i < kCount; i++)
      TRUE(values[i] == (float)(ranks * (ranks - 1) / 2 + ranks * i));
  }
  for (int r = 0; r < ranks; r++) OK(ncclCommDestroy(comms[r]));
  printf("%d ranks: right\n", ranks);
  return 0;
}
