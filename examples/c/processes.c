/* All-reduce among processes that share the unique id through a file, as separate jobs would.
 *
 *   processes 4               starts 4 ranks and waits for them
 *   processes RANK 4 FILE     is one rank; start each in a terminal or on a host of its own */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { kCount = 1000 };

/* Rank 0 writes the id under another name first. A rename shows readers all of it or nothing. */
static ncclUniqueId share_id(int rank, const char* path) {
  ncclUniqueId id;
  char partial[4096];
  snprintf(partial, sizeof partial, "%s.partial", path);
  if (rank == 0) {
    FILE* file = fopen(partial, "wb");
    CHECK(ncclGetUniqueId(&id));
    if (!file || fwrite(&id, sizeof id, 1, file) != 1 || fclose(file) != 0 ||
        rename(partial, path) != 0) {
      perror(path);
      exit(1);
    }
    return id;
  }
  for (int tries = 0; tries < 3000; ++tries) {
    const struct timespec pause = {0, 10 * 1000 * 1000};
    FILE* file = fopen(path, "rb");
    if (file) {
      const size_t got = fread(&id, sizeof id, 1, file);
      fclose(file);
      if (got == 1) return id;
    }
    nanosleep(&pause, NULL);
  }
  fprintf(stderr, "rank %d: no id in %s\n", rank, path);
  exit(1);
}

static int run_rank(int rank, int ranks, const char* path) {
  static float data[kCount];
  ncclComm_t comm;
  CHECK(ncclCommInitRank(&comm, ranks, share_id(rank, path), rank));
  fill(data, kCount, rank);
  CHECK(ncclAllReduce(data, data, kCount, ncclFloat, ncclSum, comm, NULL));
  CHECK(ncclCommDestroy(comm));
  printf("rank %d of %d: %s\n", rank, ranks, is_sum(data, kCount, ranks) ? "ok" : "WRONG");
  return is_sum(data, kCount, ranks) ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc == 4) return run_rank(atoi(argv[1]), atoi(argv[2]), argv[3]);
  if (argc != 2 || atoi(argv[1]) < 1) {
    fprintf(stderr, "usage: %s RANKS | %s RANK RANKS FILE\n", argv[0], argv[0]);
    return 2;
  }
  const int ranks = atoi(argv[1]);
  char directory[] = "/tmp/ringlet-example-XXXXXX", path[64];
  int failed = 0;
  if (!mkdtemp(directory)) {
    perror(directory);
    return 1;
  }
  snprintf(path, sizeof path, "%s/id", directory);
  for (int rank = 0; rank < ranks; ++rank)
    if (fork() == 0) return run_rank(rank, ranks, path);
  for (int rank = 0; rank < ranks; ++rank) {
    int status = 1;
    wait(&status);
    failed |= status;
  }
  unlink(path);
  rmdir(directory);
  return failed ? 1 : 0;
}
