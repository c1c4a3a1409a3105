/* Runs collective operations of MPI for `ringlet bench OPERATION --vs openmpi,mpich`:
 *
 *   mpirun -n RANKS ringlet_bench_X OPERATION TYPE REDUCTION ROOT PLACE WARMUPS ITERATIONS COUNT...
 *
 * PLACE is "in" or "out". With "in,changing" or "out,changing" each rank rewrites its input before
 * each operation, within its time.
 * COUNT is the count of the call: a rank's input for all_gather, its output for reduce_scatter. For
 * WARMUPS and ITERATIONS, see LoopOptionsOf. Prints "version TEXT" and a line per count: "COUNT
 * MEDIAN P99 CPU", in microseconds. CPU is the time of all ranks for one operation. */
#include "mpi_calls.h"

static void AllReduce(const struct Call* c) {
  MPI_Allreduce(c->in_place ? MPI_IN_PLACE : c->input, c->output, c->count, c->type.type, c->op,
                MPI_COMM_WORLD);
}

static void AllGather(const struct Call* c) {
  MPI_Allgather(c->in_place ? MPI_IN_PLACE : c->input, c->count, c->type.type, c->output, c->count,
                c->type.type, MPI_COMM_WORLD);
}

static void ReduceScatter(const struct Call* c) {
  MPI_Reduce_scatter_block(c->in_place ? MPI_IN_PLACE : c->input, c->output, c->count, c->type.type,
                           c->op, MPI_COMM_WORLD);
}

/* NCCL's broadcast has a separate output on the root too; MPI's has one buffer. */
static void Broadcast(const struct Call* c) {
  const int is_root = c->rank == c->root;
  MPI_Bcast(is_root ? c->input : c->output, c->count, c->type.type, c->root, MPI_COMM_WORLD);
  if (is_root && !c->in_place) memcpy(c->output, c->input, (size_t)c->count * c->type.bytes);
}

static void Reduce(const struct Call* c) {
  MPI_Reduce(c->in_place && c->rank == c->root ? MPI_IN_PLACE : c->input, c->output, c->count,
             c->type.type, c->op, c->root, MPI_COMM_WORLD);
}

static void AllToAll(const struct Call* c) {
  MPI_Alltoall(c->in_place ? MPI_IN_PLACE : c->input, c->count, c->type.type, c->output, c->count,
               c->type.type, MPI_COMM_WORLD);
}

static void Gather(const struct Call* c) {
  MPI_Gather(c->in_place && c->rank == c->root ? MPI_IN_PLACE : c->input, c->count, c->type.type,
             c->output, c->count, c->type.type, c->root, MPI_COMM_WORLD);
}

static void Scatter(const struct Call* c) {
  MPI_Scatter(c->input, c->count, c->type.type,
              c->in_place && c->rank == c->root ? MPI_IN_PLACE : c->output, c->count, c->type.type,
              c->root, MPI_COMM_WORLD);
}

static void SendReceive(const struct Call* c) {
  MPI_Sendrecv(c->input, c->count, c->type.type, (c->rank + 1) % c->ranks, 0, c->output, c->count,
               c->type.type, (c->rank + c->ranks - 1) % c->ranks, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void Barrier(const struct Call* c) {
  (void)c;
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argument_count, char** arguments) {
  static const struct NamedOperation operations[] = {
      {"all_reduce", AllReduce}, {"all_gather", AllGather}, {"reduce_scatter", ReduceScatter},
      {"broadcast", Broadcast},  {"reduce", Reduce},        {"all_to_all", AllToAll},
      {"gather", Gather},        {"scatter", Scatter},      {"send_receive", SendReceive},
      {"barrier", Barrier}};
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Init(&argument_count, &arguments);
  MPI_Get_library_version(version, &length);
  version[strcspn(version, "\n")] = '\0';
  MeasureCalls(argument_count, arguments, version, operations,
               sizeof operations / sizeof operations[0]);
  MPI_Finalize();
  return 0;
}
