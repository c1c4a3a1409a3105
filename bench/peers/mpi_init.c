/* How long MPI_Init takes: from the last rank that calls it to the last one that returns.
 * Prints "total_ms NUMBER". */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

/* CLOCK_MONOTONIC is the same in all processes of a machine. */
static double NowMs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argument_count, char** arguments) {
  double mine[2], last[2];
  int rank = 0;
  mine[0] = NowMs();
  MPI_Init(&argument_count, &arguments);
  mine[1] = NowMs();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(mine, last, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("total_ms %.3f\n", last[1] - last[0]);
  MPI_Finalize();
  return 0;
}
