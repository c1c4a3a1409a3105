/* A C program on NCCL's interface: one rank by itself sums its buffer. */
#include <nccl.h>
#include <stdio.h>

static int Failed(const char* what, ncclResult_t result) {
  if (result == ncclSuccess) return 0;
  fprintf(stderr, "%s: %s: %s\n", what, ncclGetErrorString(result), ncclGetLastError(NULL));
  return 1;
}

int main(void) {
  int version = 0;
  int count = 0;
  ncclUniqueId id;
  ncclComm_t comm = NULL;
  const float in[3] = {1.0f, 2.0f, 3.0f};
  float out[3] = {0.0f, 0.0f, 0.0f};

  if (Failed("ncclGetVersion", ncclGetVersion(&version))) return 1;
  if (version < NCCL_VERSION(2, 28, 0)) {
    fprintf(stderr, "version %d\n", version);
    return 1;
  }
  if (Failed("ncclGetUniqueId", ncclGetUniqueId(&id))) return 1;
  if (Failed("ncclCommInitRank", ncclCommInitRank(&comm, 1, id, 0))) return 1;
  if (Failed("ncclCommCount", ncclCommCount(comm, &count))) return 1;
  if (Failed("ncclAllReduce", ncclAllReduce(in, out, 3, ncclFloat, ncclSum, comm, NULL))) return 1;
  if (Failed("ncclCommDestroy", ncclCommDestroy(comm))) return 1;
  if (count != 1 || out[0] != 1.0f || out[1] != 2.0f || out[2] != 3.0f) {
    fprintf(stderr, "%d ranks, %f %f %f\n", count, out[0], out[1], out[2]);
    return 1;
  }
  return 0;
}
