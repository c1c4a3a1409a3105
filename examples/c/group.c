/* All-reduce among the ranks of one thread: calls of a group run together.   group 4 */
#include "check.h"

enum { kCount = 1000, kRanksMax = 64 };

int main(int argc, char** argv) {
  const int ranks = argc == 2 ? atoi(argv[1]) : 0;
  static float data[kRanksMax][kCount];
  ncclComm_t comms[kRanksMax];
  int ok = 1;
  if (ranks < 1 || ranks > kRanksMax) {
    fprintf(stderr, "usage: %s RANKS (1 to %d)\n", argv[0], kRanksMax);
    return 2;
  }
  CHECK(ncclCommInitAll(comms, ranks, NULL));
  for (int rank = 0; rank < ranks; ++rank) fill(data[rank], kCount, rank);

  CHECK(ncclGroupStart());
  for (int rank = 0; rank < ranks; ++rank)
    CHECK(ncclAllReduce(data[rank], data[rank], kCount, ncclFloat, ncclSum, comms[rank], NULL));
  CHECK(ncclGroupEnd());

  for (int rank = 0; rank < ranks; ++rank) {
    const int right = is_sum(data[rank], kCount, ranks);
    ok &= right;
    printf("rank %d of %d: %s\n", rank, ranks, right ? "ok" : "WRONG");
    CHECK(ncclCommDestroy(comms[rank]));
  }
  return ok ? 0 : 1;
}
