/* A first communicator: each rank gives its number and gets the sum of all.
 *
 *   ringlet run -n 4 ./first      starts four ranks; each finds its number in RANK
 */
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

static void check(ncclResult_t result) {
  if (result == ncclSuccess) return;
  fprintf(stderr, "%s: %s\n", ncclGetErrorString(result), ncclGetLastError(NULL));
  exit(1);
}

int main(void) {
  const char *rank_text = getenv("RANK"), *ranks_text = getenv("WORLD_SIZE");
  const int rank = rank_text ? atoi(rank_text) : 0, ranks = ranks_text ? atoi(ranks_text) : 1;
  const float mine = (float)rank;
  float sum = 0;
  ncclUniqueId id;
  ncclComm_t comm;

  check(ncclGetUniqueId(&id)); /* under `ringlet run` ranks need no exchange */
  check(ncclCommInitRank(&comm, ranks, id, rank));
  check(ncclAllReduce(&mine, &sum, 1, ncclFloat, ncclSum, comm, NULL));
  check(ncclCommDestroy(comm));
  printf("rank %d of %d: the sum is %g\n", rank, ranks, sum);
  return sum == (float)(ranks * (ranks - 1) / 2) ? 0 : 1;
}
