/* The MPI version of host_bench.cpp: host_bench_mpi OPERATION BYTES... under mpirun. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double NowUs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int Compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void Run(const char* operation, const float* input, float* output, int count) {
  if (!strcmp(operation, "all_reduce"))
    MPI_Allreduce(input, output, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  else if (!strcmp(operation, "all_gather"))
    MPI_Allgather(input, count, MPI_FLOAT, output, count, MPI_FLOAT, MPI_COMM_WORLD);
  else if (!strcmp(operation, "reduce_scatter"))
    MPI_Reduce_scatter_block(input, output, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  else if (!strcmp(operation, "broadcast"))
    MPI_Bcast(output, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  else if (!strcmp(operation, "reduce"))
    MPI_Reduce(input, output, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  else if (!strcmp(operation, "all_to_all"))
    MPI_Alltoall(input, count, MPI_FLOAT, output, count, MPI_FLOAT, MPI_COMM_WORLD);
  else if (!strcmp(operation, "gather"))
    MPI_Gather(input, count, MPI_FLOAT, output, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  else if (!strcmp(operation, "scatter"))
    MPI_Scatter(input, count, MPI_FLOAT, output, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argument_count, char** arguments) {
  int rank = 0, ranks = 0;
  MPI_Init(&argument_count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int a = 2; a < argument_count; ++a) {
    const size_t bytes = (size_t)atoll(arguments[a]);
    const int piece_each =
        strstr("reduce_scatter all_to_all all_gather gather scatter", arguments[1]) != NULL;
    const size_t elements = bytes / 4 * (size_t)(piece_each ? ranks : 1) + 1;
    float* input = malloc(elements * 4);
    float* output = malloc(elements * 4);
    for (size_t i = 0; i < elements; ++i) input[i] = output[i] = 1;
    size_t batch = (256 << 10) / (bytes + 64);
    if (batch < 1) batch = 1;
    if (batch > 200) batch = 200;
    const int batches = bytes >= (16u << 20) ? 7 : 41;
    double times[41];
    for (int b = 0; b < batches + 3; ++b) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = NowUs();
      for (size_t i = 0; i < batch; ++i) Run(arguments[1], input, output, (int)(bytes / 4));
      if (b >= 3) times[b - 3] = (NowUs() - begin) / (double)batch;
    }
    qsort(times, (size_t)batches, sizeof times[0], Compare);
    if (rank == 0) printf("%zu %.3f\n", bytes, times[batches / 2]);
    fflush(stdout);
    free(input);
    free(output);
  }
  MPI_Finalize();
  return 0;
}
