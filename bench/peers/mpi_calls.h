/* The shared part of the programs under mpirun: the call, its buffers, and the loop over its
 * counts. The arguments are those of mpi_bench.c. */
#ifndef RINGLET_PEERS_MPI_CALLS_H
#define RINGLET_PEERS_MPI_CALLS_H

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include "loop.h"

#ifdef __cplusplus
extern "C" {
#endif

struct Named {
  const char* name;
  MPI_Datatype type;
  size_t bytes;
};

struct Call {
  const char* operation;
  char *input, *output; /* the same memory if in place */
  int count, root, rank, ranks, in_place;
  struct Named type;
  MPI_Op op;
};

static void Fail(const char* what, const char* name) {
  fprintf(stderr, "The library has no %s %s\n", what, name);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static struct Named TypeNamed(const char* name) {
  const struct Named types[] = {{"int8", MPI_INT8_T, 1},   {"uint8", MPI_UINT8_T, 1},
                                {"int32", MPI_INT32_T, 4}, {"uint32", MPI_UINT32_T, 4},
                                {"int64", MPI_INT64_T, 8}, {"uint64", MPI_UINT64_T, 8},
                                {"float", MPI_FLOAT, 4},   {"double", MPI_DOUBLE, 8}};
  size_t i;
  for (i = 0; i < sizeof types / sizeof types[0]; ++i)
    if (!strcmp(types[i].name, name)) return types[i];
  Fail("type", name);
  return types[0];
}

static MPI_Op OpNamed(const char* name) {
  if (!strcmp(name, "sum")) return MPI_SUM;
  if (!strcmp(name, "prod")) return MPI_PROD;
  if (!strcmp(name, "min")) return MPI_MIN;
  if (!strcmp(name, "max")) return MPI_MAX;
  Fail("reduction", name);
  return MPI_SUM;
}

typedef void (*Operation)(const struct Call*);

struct NamedOperation {
  const char* name;
  Operation run;
};

struct Context {
  struct Call call;
  Operation operation;
};

static void Run(void* context) {
  const struct Context* c = (const struct Context*)context;
  c->operation(&c->call);
}

static void WaitForAll(void* context) {
  (void)context;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void Largest(void* context, double* numbers, int count) {
  (void)context;
  MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static double Sum(void* context, double number) {
  (void)context;
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return number;
}

/* Allocates one block, or a block per rank for operations that need it. */
static char* Allocate(const struct Call* call) {
  static const char divided[] = " all_gather reduce_scatter all_to_all gather scatter ";
  const size_t blocks = strstr(divided, call->operation) ? (size_t)call->ranks : 1;
  const size_t bytes = ((size_t)call->count * blocks + 1) * call->type.bytes;
  char* const memory = (char*)malloc(bytes);
  if (memory == NULL) Fail("memory", "");
  memset(memory, 0, bytes);
  return memory;
}

/* Finds the input of this rank, for the loop to change. */
static void FindInput(const struct Call* c, struct Library* library) {
  const char* const name = c->operation;
  const int is_root = c->rank == c->root;
  const size_t block = (size_t)c->count * c->type.bytes;
  const int gathers = !strcmp(name, "all_gather") || !strcmp(name, "gather");
  const size_t blocks = !strcmp(name, "scatter") ? (is_root ? (size_t)c->ranks : 0)
                        : !strcmp(name, "reduce_scatter") || !strcmp(name, "all_to_all")
                            ? (size_t)c->ranks
                        : !strcmp(name, "broadcast") ? (size_t)is_root
                                                     : strcmp(name, "barrier") != 0;
  library->changing = c->input + (c->in_place && gathers ? (size_t)c->rank * block : 0);
  library->changing_bytes = blocks * block;
}

static Operation OperationNamed(const char* name, const struct NamedOperation* operations,
                                size_t count) {
  size_t i;
  for (i = 0; i < count; ++i)
    if (!strcmp(operations[i].name, name)) return operations[i].run;
  Fail("operation", name);
  return NULL;
}

/* Runs between MPI_Init and MPI_Finalize. Prints "version VERSION" and a line per count. */
static void MeasureCalls(int argument_count, char** arguments, const char* version,
                         const struct NamedOperation* operations, size_t operation_count) {
  struct Context context;
  struct LoopOptions options;
  struct Library library = {NULL, Run, WaitForAll, Largest, Sum, NULL, 0};
  int changing, a;
  if (argument_count < 9) Fail("call without", "nine arguments");
  memset(&context, 0, sizeof context);
  MPI_Comm_rank(MPI_COMM_WORLD, &context.call.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &context.call.ranks);
  if (context.call.rank == 0) printf("version %s\n", version);
  context.call.operation = arguments[1];
  context.operation = OperationNamed(arguments[1], operations, operation_count);
  context.call.type = TypeNamed(arguments[2]);
  context.call.op = OpNamed(arguments[3]);
  context.call.root = atoi(arguments[4]);
  context.call.in_place = !strncmp(arguments[5], "in", 2);
  changing = strchr(arguments[5], ',') != NULL;
  options = LoopOptionsOf(arguments[6], arguments[7]);
  library.context = &context;
  for (a = 8; a < argument_count; ++a) {
    struct Measured measured;
    context.call.count = atoi(arguments[a]);
    context.call.output = Allocate(&context.call);
    context.call.input = context.call.in_place ? context.call.output : Allocate(&context.call);
    if (changing) FindInput(&context.call, &library);
    measured = Measure(&library, options);
    if (context.call.rank == 0) Print((size_t)context.call.count, measured);
    free(context.call.output);
    if (!context.call.in_place) free(context.call.input);
  }
}

#ifdef __cplusplus
}
#endif
#endif
