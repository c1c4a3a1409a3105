/* A C program on host streams: one rank sums its buffer on a stream, behind a function. */
#include <nccl.h>
#include <ringlet/stream.h>
#include <stdio.h>

static void fill(void* buffer) {
  float* const in = (float*)buffer;
  in[0] = 1.0f;
  in[1] = 2.0f;
}

static int failed(const char* what, ringletResult_t result) {
  if (result == ringletSuccess) return 0;
  fprintf(stderr, "%s: %s: %s\n", what, ringletStreamResultName(result),
          ringletStreamLastMessage());
  return 1;
}

int main(void) {
  ncclUniqueId id;
  ncclComm_t comm = NULL;
  ringletStream_t stream = NULL;
  float in[2] = {0.0f, 0.0f};
  float out[2] = {0.0f, 0.0f};

  if (ncclGetUniqueId(&id) != ncclSuccess) return 1;
  if (ncclCommInitRank(&comm, 1, id, 0) != ncclSuccess) return 1;
  if (failed("create", ringletStreamCreate(&stream, 0, ringletStreamDefault, 0))) return 1;
  if (failed("launch", ringletStreamLaunch(stream, fill, in))) return 1;
  if (ncclAllReduce(in, out, 2, ncclFloat, ncclSum, comm, (cudaStream_t)stream) != ncclSuccess) {
    fprintf(stderr, "all-reduce: %s\n", ncclGetLastError(NULL));
    return 1;
  }
  if (failed("synchronize", ringletStreamSynchronize(stream))) return 1;
  if (failed("destroy", ringletStreamDestroy(stream))) return 1;
  if (ncclCommDestroy(comm) != ncclSuccess) return 1;
  return out[0] == 1.0f && out[1] == 2.0f ? 0 : 1;
}
