/* Times one operation at several sizes on the ranks of one host, through nccl.h or through MPI.
 * grid.py compiles it once for each library, so that all libraries run the same loop.
 *
 *   grid OPERATION SECONDS BYTES...
 *
 * An MPI program runs under mpirun. A program of nccl.h forks GRID_RANKS ranks (an environment
 * variable). Each rank runs on a core of its own if there are enough cores. For each size,
 * rank 0 prints "BYTES MICROSECONDS": the median over batches of the mean time of an operation,
 * about SECONDS long. If GRID_MEAN is set, it prints the mean over batches instead: beside busy
 * programs, a rank loses its core in few batches, but for long. A batch takes about 50 us or one
 * operation, and follows a barrier. BYTES counts the larger buffer of a rank, as nccl-tests do; in
 * sendrecv, each rank sends BYTES to the next rank and receives as many from the previous one.
 * Elements are floats. Buffers are separate, and every result is checked once per size. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum Operation { kAllReduce, kAllGather, kReduceScatter, kBroadcast, kAllToAll, kSendRecv };
static const char* const kNames[] = {"all_reduce", "all_gather", "reduce_scatter",
                                     "broadcast",  "all_to_all", "sendrecv"};
static int rank, ranks;

static void Fail(const char* what) {
  fprintf(stderr, "rank %d: %s\n", rank, what);
  exit(1);
}

/* `count` is the number of elements in a block of one rank, or in the buffer if it is one block. */
static void Run(enum Operation operation, const float* input, float* output, size_t count);
static void Barrier(void);
static void Largest(double* number);

#ifdef GRID_MPI
#include <mpi.h>

static void Run(enum Operation operation, const float* input, float* output, size_t count) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, n = (int)count;
  switch (operation) {
    case kAllReduce: MPI_Allreduce(input, output, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    case kAllGather:
      MPI_Allgather(input, n, MPI_FLOAT, output, n, MPI_FLOAT, MPI_COMM_WORLD);
      break;
    case kReduceScatter:
      MPI_Reduce_scatter_block(input, output, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      break;
    case kBroadcast: MPI_Bcast(output, n, MPI_FLOAT, 0, MPI_COMM_WORLD); break;
    case kAllToAll: MPI_Alltoall(input, n, MPI_FLOAT, output, n, MPI_FLOAT, MPI_COMM_WORLD); break;
    case kSendRecv:
      MPI_Sendrecv(input, n, MPI_FLOAT, next, 0, output, n, MPI_FLOAT, previous, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      break;
  }
}

static void Barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void Largest(double* number) {
  MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void Form(int* argument_count, char*** arguments) {
  MPI_Init(argument_count, arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static int Leave(void) {
  MPI_Finalize();
  return 0;
}

#else
#include <nccl.h>

static ncclComm_t comm;

static void Check(ncclResult_t result) {
  if (result != ncclSuccess) Fail(ncclGetLastError(NULL));
}

static void Run(enum Operation operation, const float* input, float* output, size_t count) {
  switch (operation) {
    case kAllReduce:
      Check(ncclAllReduce(input, output, count, ncclFloat, ncclSum, comm, NULL));
      break;
    case kAllGather: Check(ncclAllGather(input, output, count, ncclFloat, comm, NULL)); break;
    case kReduceScatter:
      Check(ncclReduceScatter(input, output, count, ncclFloat, ncclSum, comm, NULL));
      break;
    case kBroadcast: Check(ncclBroadcast(output, output, count, ncclFloat, 0, comm, NULL)); break;
    case kAllToAll: Check(ncclAlltoAll(input, output, count, ncclFloat, comm, NULL)); break;
    case kSendRecv:
      Check(ncclGroupStart());
      Check(ncclSend(input, count, ncclFloat, (rank + 1) % ranks, comm, NULL));
      Check(ncclRecv(output, count, ncclFloat, (rank + ranks - 1) % ranks, comm, NULL));
      Check(ncclGroupEnd());
      break;
  }
}

static void Barrier(void) {
  float number = 0, sum = 0;
  Check(ncclAllReduce(&number, &sum, 1, ncclFloat, ncclSum, comm, NULL));
}

static void Largest(double* number) {
  double largest = 0;
  Check(ncclAllReduce(number, &largest, 1, ncclDouble, ncclMax, comm, NULL));
  *number = largest;
}

struct Shared {
  volatile int ready;
  ncclUniqueId id;
};

static void Form(int* argument_count, char*** arguments) {
  struct Shared* const shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  (void)argument_count, (void)arguments;
  if (!getenv("GRID_RANKS")) Fail("GRID_RANKS is not set");
  ranks = atoi(getenv("GRID_RANKS"));
  for (int child = 1; child < ranks && rank == 0; ++child)
    if (fork() == 0) rank = child;
  if (rank != 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (rank == 0) {
    Check(ncclGetUniqueId(&shared->id));
    __sync_synchronize();
    shared->ready = 1;
  }
  while (!shared->ready) usleep(1000);
  Check(ncclCommInitRank(&comm, ranks, shared->id, rank));
}

static int Leave(void) {
  int failed = 0, status = 0;
  Check(ncclCommDestroy(comm));
  if (rank != 0) return 0;
  while (wait(&status) > 0) failed |= status;
  return failed != 0;
}
#endif

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int Compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* grid.py lists the cores in GRID_CORES, because launchers change the affinity of their ranks. */
static void Pin(void) {
  cpu_set_t all, own;
  int cores = 0;
  CPU_ZERO(&all);
  CPU_ZERO(&own);
  for (char* next = getenv("GRID_CORES"); next && *next; next += strspn(next, ",")) {
    const int core = (int)strtol(next, &next, 10);
    CPU_SET(core, &all);
    if (cores++ == rank) CPU_SET(core, &own);
  }
  sched_setaffinity(0, sizeof all, ranks > cores ? &all : &own);
}

/* Each element of block i of rank r is r + 1 + i; a buffer of one block has block 0. */
static void CheckResult(enum Operation operation, const float* output, size_t count, int blocks) {
  for (int block = 0; block < blocks; ++block) {
    float expected = 0;
    switch (operation) {
      case kAllReduce: expected = (float)(ranks * (ranks + 1) / 2); break;
      case kReduceScatter: expected = (float)(ranks * (ranks + 1) / 2 + ranks * rank); break;
      case kAllGather: expected = (float)(block + 1); break;
      case kAllToAll: expected = (float)(block + 1 + rank); break;
      case kBroadcast: expected = 1; break;
      case kSendRecv: expected = (float)((rank + ranks - 1) % ranks + 1); break;
    }
    for (size_t i = 0; i < count; ++i)
      if (output[(size_t)block * count + i] != expected) Fail("a result is wrong");
  }
}

static void Measure(enum Operation operation, size_t bytes, double seconds) {
  enum { kBatchesMax = 400, kBatchesMin = 3 };
  const int blocks_in = operation == kReduceScatter || operation == kAllToAll ? ranks : 1;
  const int blocks_out = operation == kAllGather || operation == kAllToAll ? ranks : 1;
  const int blocks = blocks_in > blocks_out ? blocks_in : blocks_out;
  const size_t count = bytes / sizeof(float) / (size_t)blocks;
  float* const input = malloc((size_t)blocks_in * count * sizeof(float));
  float* const output = malloc((size_t)blocks_out * count * sizeof(float));
  if (!input || !output) Fail("no memory");
  for (size_t i = 0; i < (size_t)blocks_in * count; ++i)
    input[i] = (float)(rank + 1 + (int)(i / count));
  for (size_t i = 0; i < (size_t)blocks_out * count; ++i)
    output[i] = operation == kBroadcast && rank == 0;
  Run(operation, input, output, count);
  CheckResult(operation, output, count, blocks_out);
  double begin = Now(), once = 0;
  int warmups = 0;
  do {
    for (int i = 0; i < 3; ++i, ++warmups) Run(operation, input, output, count);
    once = (Now() - begin) / warmups;
    Largest(&once);
  } while (once * warmups < seconds / 8 && warmups < 3000);
  const int batch = once < 50e-6 ? (int)(50e-6 / once) + 1 : 1;
  int batches = (int)(seconds / (once * batch));
  batches = batches > kBatchesMax ? kBatchesMax : batches < kBatchesMin ? kBatchesMin : batches;
  double times[kBatchesMax];
  for (int b = 0; b < batches; ++b) {
    Barrier();
    begin = Now();
    for (int i = 0; i < batch; ++i) Run(operation, input, output, count);
    times[b] = (Now() - begin) / batch * 1e6;
  }
  for (int b = 0; b < batches; ++b) Largest(&times[b]);
  qsort(times, (size_t)batches, sizeof times[0], Compare);
  double mean = 0;
  for (int b = 0; b < batches; ++b) mean += times[b] / batches;
  if (rank == 0) printf("%zu %.4f\n", bytes, getenv("GRID_MEAN") ? mean : times[batches / 2]);
  fflush(stdout);
  free(input);
  free(output);
}

int main(int argument_count, char** arguments) {
  enum Operation operation = kAllReduce;
  Form(&argument_count, &arguments);
  Pin();
  if (argument_count < 4) Fail("usage: grid OPERATION SECONDS BYTES...");
  while (operation <= kSendRecv && strcmp(arguments[1], kNames[operation])) ++operation;
  if (operation > kSendRecv) Fail("there is no such operation");
  for (int a = 3; a < argument_count; ++a)
    Measure(operation, (size_t)atoll(arguments[a]), atof(arguments[2]));
  return Leave();
}
