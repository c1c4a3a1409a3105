/* All-reduce among the threads of one process, one rank per thread.   threads 4 */
#include <pthread.h>

#include "check.h"

enum { kCount = 1000, kRanksMax = 64 };

struct job {
  ncclUniqueId id;
  int rank, ranks, ok;
};

static void* run_rank(void* argument) {
  struct job* job = argument;
  float data[kCount], sum[kCount];
  ncclComm_t comm;
  CHECK(ncclCommInitRank(&comm, job->ranks, job->id, job->rank));
  fill(data, kCount, job->rank);
  CHECK(ncclAllReduce(data, sum, kCount, ncclFloat, ncclSum, comm, NULL));
  CHECK(ncclCommDestroy(comm));
  job->ok = is_sum(sum, kCount, job->ranks);
  return NULL;
}

int main(int argc, char** argv) {
  const int ranks = argc == 2 ? atoi(argv[1]) : 0;
  pthread_t threads[kRanksMax];
  struct job jobs[kRanksMax];
  int ok = 1;
  if (ranks < 1 || ranks > kRanksMax) {
    fprintf(stderr, "usage: %s RANKS (1 to %d)\n", argv[0], kRanksMax);
    return 2;
  }
  CHECK(ncclGetUniqueId(&jobs[0].id));
  for (int rank = 0; rank < ranks; ++rank) {
    jobs[rank].id = jobs[0].id;
    jobs[rank].rank = rank;
    jobs[rank].ranks = ranks;
    jobs[rank].ok = 0;
    if (pthread_create(&threads[rank], NULL, run_rank, &jobs[rank]) != 0) return 1;
  }
  for (int rank = 0; rank < ranks; ++rank) {
    pthread_join(threads[rank], NULL);
    ok &= jobs[rank].ok;
    printf("rank %d of %d: %s\n", rank, ranks, jobs[rank].ok ? "ok" : "WRONG");
  }
  return ok ? 0 : 1;
}
