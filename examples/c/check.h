/* CHECK ends an example after a failed call, and prints the reason. */
#ifndef RINGLET_EXAMPLES_CHECK_H_
#define RINGLET_EXAMPLES_CHECK_H_

#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    ncclResult_t result_ = (call);                                                                 \
    if (result_ != ncclSuccess) {                                                                  \
      fprintf(stderr, "%s: %s: %s\n", #call, ncclGetErrorString(result_), ncclGetLastError(NULL)); \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/* Sets each element to rank + 1, so each sum is 1 + 2 + ... + ranks. */
static void fill(float* data, size_t count, int rank) {
  for (size_t i = 0; i < count; ++i) data[i] = (float)(rank + 1);
}

static int is_sum(const float* data, size_t count, int ranks) {
  for (size_t i = 0; i < count; ++i)
    if (data[i] != (float)(ranks * (ranks + 1) / 2)) return 0;
  return 1;
}

#endif
