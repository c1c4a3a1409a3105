/* Measures MPI_Init, from the last rank's call to the last return. Prints "total_ms NUMBER". */
#include <mpi.h>
#include <stdio.h>

#include "clock.h"

int main(int argument_count, char** arguments) {
  double mine[2], last[2];
  int rank = 0;
  mine[0] = ClockUs(CLOCK_MONOTONIC);
  MPI_Init(&argument_count, &arguments);
  mine[1] = ClockUs(CLOCK_MONOTONIC);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(mine, last, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("total_ms %.3f\n", (last[1] - last[0]) / 1e3);
  MPI_Finalize();
  return 0;
}
