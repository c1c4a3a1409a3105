// Measures MPI_Init and the forming of a communicator of oneCCL: from the last rank's begin to the
// last rank's return. Prints "total_ms NUMBER".
#include <cstdio>

#include "clock.h"
#include "oneccl_form.hpp"

int main(int argument_count, char** arguments) {
  double mine[2], last[2];
  int rank = 0;
  mine[0] = ClockUs(CLOCK_MONOTONIC);
  int provided = 0;
  MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_MULTIPLE,
                  &provided);  // oneCCL requires it
  {
    const ccl::communicator formed = FormOneccl();
    mine[1] = ClockUs(CLOCK_MONOTONIC);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(mine, last, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("total_ms %.3f\n", (last[1] - last[0]) / 1e3);
  MPI_Finalize();
  return 0;
}
