/* Host streams: two ranks of one thread, each on a stream; then ten launches of the same all-reduce
 * as a graph.   streams */
#include <ringlet/stream.h>

#include "check.h"

enum { kRanks = 2, kCount = 1000, kLaunches = 10 };

#define CHECK_STREAM(call)                                                                     \
  do {                                                                                         \
    const ringletResult_t result_ = (call);                                                    \
    if (result_ != ringletSuccess) {                                                           \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, ringletStreamResultName(result_), \
              ringletStreamLastMessage());                                                     \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)

static float data[kRanks][kCount], sum[kRanks][kCount];

/* A host function. It runs at the end of a launch. */
static void count_launch(void* launches) {
  ++*(int*)launches;
}

int main(void) {
  ncclComm_t comms[kRanks];
  ringletStream_t streams[kRanks];
  ringletGraphExec_t execs[kRanks];
  int launches[kRanks] = {0, 0};
  int ok = 1;
  CHECK(ncclCommInitAll(comms, kRanks, NULL));
  for (int rank = 0; rank < kRanks; ++rank) {
    fill(data[rank], kCount, rank);
    CHECK_STREAM(ringletStreamCreate(&streams[rank], 0, ringletStreamNonBlocking, 0));
  }

  /* The call returns at once, so one thread can issue for all ranks without a group. */
  for (int rank = 0; rank < kRanks; ++rank)
    CHECK(ncclAllReduce(data[rank], sum[rank], kCount, ncclFloat, ncclSum, comms[rank],
                        (cudaStream_t)streams[rank]));
  for (int rank = 0; rank < kRanks; ++rank) {
    CHECK_STREAM(ringletStreamSynchronize(streams[rank]));
    ok = ok && is_sum(sum[rank], kCount, kRanks);
  }

  for (int rank = 0; rank < kRanks; ++rank) {
    ringletGraph_t graph;
    CHECK_STREAM(ringletStreamBeginCapture(streams[rank], ringletCaptureGlobal));
    CHECK(ncclAllReduce(data[rank], sum[rank], kCount, ncclFloat, ncclSum, comms[rank],
                        (cudaStream_t)streams[rank]));
    CHECK_STREAM(ringletStreamLaunch(streams[rank], count_launch, &launches[rank]));
    CHECK_STREAM(ringletStreamEndCapture(streams[rank], &graph));
    CHECK_STREAM(ringletGraphInstantiate(&execs[rank], graph));
    CHECK_STREAM(ringletGraphDestroy(graph));
  }
  for (int i = 0; i < kLaunches; ++i)
    for (int rank = 0; rank < kRanks; ++rank)
      CHECK_STREAM(ringletGraphLaunch(execs[rank], streams[rank]));
  for (int rank = 0; rank < kRanks; ++rank) {
    CHECK_STREAM(ringletStreamSynchronize(streams[rank]));
    ok = ok && is_sum(sum[rank], kCount, kRanks) && launches[rank] == kLaunches;
    CHECK_STREAM(ringletGraphExecDestroy(execs[rank]));
    CHECK_STREAM(ringletStreamDestroy(streams[rank]));
    CHECK(ncclCommDestroy(comms[rank]));
  }
  printf("%s\n", ok ? "the sums are right" : "a sum is WRONG");
  return ok ? 0 : 1;
}
