/* Forms all ranks of a host in one process, each on a device of its own, over the hosts of `ringlet
 * emulate --hosts`. Calls each collective of NCCL with a model of times, at some sizes. Prints
 * function, bytes and microseconds of each. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nccl.h>

#include "cuda_calls.h"

enum { kRanksMax = 16, kSizes = 3 };
static const size_t kBytes[kSizes] = {1 << 10, 1 << 16,
                                      1 << 20}; /* approximate size of the larger buffer */

static ncclComm_t comms[kRanksMax];
static Stream streams[kRanksMax];
static float *inputs[kRanksMax], *outputs[kRanksMax];

static const char* const kNames[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                     "reduce"};

static double MicrosecondsNow(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int Number(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text == NULL ? otherwise : atoi(text);
}

static void Begin(int ranks, int first, int all) {
  ncclUniqueId id;
  OK(ncclGetUniqueId(&id)); /* the same in all processes */
  OK(ncclGroupStart());
  for (int r = 0; r < ranks; r++) {
    OK(cudaSetDevice(r));
    OK(ncclCommInitRank(&comms[r], all, id, first + r));
  }
  OK(ncclGroupEnd());
  for (int r = 0; r < ranks; r++) {
    OK(cudaSetDevice(r));
    OK(cudaStreamCreateWithFlags(&streams[r], 1));
    OK(cudaMalloc((void**)&inputs[r], kBytes[kSizes - 1]));
    OK(cudaMalloc((void**)&outputs[r], kBytes[kSizes - 1]));
  }
}

static void Run(int function, size_t count, size_t block, int r) {
  const cudaStream_t stream = (cudaStream_t)streams[r];
  switch (function) {
    case 0:
      OK(ncclAllReduce(inputs[r], outputs[r], count, ncclFloat, ncclSum, comms[r], stream));
      break;
    case 1: OK(ncclAllGather(inputs[r], outputs[r], block, ncclFloat, comms[r], stream)); break;
    case 2:
      OK(ncclReduceScatter(inputs[r], outputs[r], block, ncclFloat, ncclSum, comms[r], stream));
      break;
    case 3: OK(ncclBroadcast(inputs[r], outputs[r], count, ncclFloat, 0, comms[r], stream)); break;
    default: OK(ncclReduce(inputs[r], outputs[r], count, ncclFloat, ncclSum, 0, comms[r], stream));
  }
}

int main(void) {
  const int host = Number("RANK", 0), hosts = Number("WORLD_SIZE", 1);
  int ranks = 0;
  OK(cudaGetDeviceCount(&ranks));
  TRUE(ranks > 0 && ranks <= kRanksMax);
  Begin(ranks, host * ranks, hosts * ranks);
  for (int function = 0; function < 5; function++)
    for (int size = 0; size < kSizes; size++) {
      const size_t count = kBytes[size] / sizeof(float), all = (size_t)(hosts * ranks);
      const double begin = MicrosecondsNow();
      OK(ncclGroupStart());
      for (int r = 0; r < ranks; r++) Run(function, count, count / all, r);
      OK(ncclGroupEnd());
      for (int r = 0; r < ranks; r++) OK(cudaStreamSynchronize(streams[r]));
      printf("%s %zu %.1f\n", kNames[function], kBytes[size], MicrosecondsNow() - begin);
    }
  for (int r = 0; r < ranks; r++) OK(ncclCommDestroy(comms[r]));
  return 0;
}
