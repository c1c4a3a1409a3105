/* A C program that uses nccl.h near the limits of its process. It prints its findings on standard
 * output, one per line, and exits 1 with a sentence if a required call fails. */
#define _GNU_SOURCE
#include <dirent.h>
#include <nccl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMMS_MAX 256

static void check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  printf("FAILED %s: %d: %s\n", what, (int)result, ncclGetLastError(NULL));
  exit(1);
}

static int descriptors(void) {
  int count = -3; /* ., .. and the folder itself */
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return -1;
  while (readdir(folder)) ++count;
  closedir(folder);
  return count;
}

/* Allows a moment for closing descriptors, such as the line to a finished root. */
static int settled(int before, int wanted) {
  const time_t give_up = time(NULL) + 20;
  while (descriptors() - before > wanted && time(NULL) < give_up) sched_yield();
  return descriptors() - before;
}

static int number(const char* name) {
  const char* text = getenv(name);
  return text ? atoi(text) : -1;
}

static void* destroy(void* comm) {
  check(ncclCommDestroy(comm), "ncclCommDestroy");
  return NULL;
}

/* The ranks of one process leave together. */
static void destroy_all(ncclComm_t* comms, int count) {
  pthread_t threads[8];
  int i;
  for (i = 1; i < count; ++i) pthread_create(&threads[i], NULL, destroy, comms[i]);
  destroy(comms[0]);
  for (i = 1; i < count; ++i) pthread_join(threads[i], NULL);
}

static void warm_up(void) {
  ncclComm_t comms[2];
  check(ncclCommInitAll(comms, 2, NULL), "ncclCommInitAll");
  destroy_all(comms, 2);
}

/* Counts the descriptors of COUNT communicators of RANKS ranks in this process. */
static int in_process(int count, int ranks, int wanted) {
  static ncclComm_t comms[COMMS_MAX][8];
  int before, i;
  warm_up();
  before = descriptors();
  for (i = 0; i < count; ++i) check(ncclCommInitAll(comms[i], ranks, NULL), "ncclCommInitAll");
  printf("HELD %d\n", settled(before, wanted));
  for (i = 0; i < count; ++i) destroy_all(comms[i], ranks);
  printf("LEFT %d\n", settled(before, 9));
  return 0;
}

static int ids(int count) {
  ncclUniqueId id;
  int before, i;
  warm_up();
  before = descriptors();
  for (i = 0; i < count; ++i) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  printf("HELD %d\n", descriptors() - before);
  return 0;
}

/* A rank of ringlet run. Each such rank requests an id. */
static ncclComm_t world(void) {
  ncclUniqueId id;
  ncclComm_t comm;
  check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  check(ncclCommInitRank(&comm, number("RINGLET_WORLD_SIZE"), id, number("RINGLET_RANK")),
        "ncclCommInitRank");
  return comm;
}

static int meet(void) {
  ncclComm_t comm = world(), again;
  ncclUniqueId first, second;
  int rank = number("RINGLET_RANK"), sum = rank + 1, ranks = number("RINGLET_WORLD_SIZE");
  check(ncclAllReduce(&sum, &sum, 1, ncclInt, ncclSum, comm, NULL), "ncclAllReduce");
  printf("SUM %d\n", sum);
  /* The ids are new in each process, so all take one rank's. */
  check(ncclGetUniqueId(&first), "ncclGetUniqueId");
  check(ncclGetUniqueId(&second), "ncclGetUniqueId");
  printf("NEXT %s\n", memcmp(&first, &second, sizeof first) ? "another" : "the same");
  check(ncclBroadcast(&first, &first, sizeof first, ncclChar, 0, comm, NULL), "ncclBroadcast");
  check(ncclCommInitRank(&again, ranks, first, ranks - 1 - rank), "ncclCommInitRank");
  sum = rank + 1;
  check(ncclAllReduce(&sum, &sum, 1, ncclInt, ncclSum, again, NULL), "ncclAllReduce");
  printf("AGAIN %d\n", sum);
  check(ncclCommDestroy(again), "ncclCommDestroy");
  check(ncclCommDestroy(comm), "ncclCommDestroy");
  return 0;
}

/* A rank that requests an id for each communicator. */
static int meet_twice(void) {
  ncclComm_t comm = world(), other = NULL;
  ncclUniqueId id;
  ncclResult_t result;
  check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  result = ncclCommInitRank(&other, number("RINGLET_WORLD_SIZE"), id, number("RINGLET_RANK"));
  printf("SECOND %d %s\n", (int)result, result ? ncclGetLastError(NULL) : "");
  check(ncclCommAbort(comm), "ncclCommAbort");
  return 0;
}

/* Counts the descriptors that COUNT communicators of the ranks of ringlet run hold in each. */
static int between(int count, int uses_links, int wanted) {
  static ncclComm_t comms[COMMS_MAX];
  static ncclUniqueId given[COMMS_MAX];
  ncclComm_t comm = world();
  int rank = number("RINGLET_RANK"), ranks = number("RINGLET_WORLD_SIZE"), before, i, value = 1;
  for (i = 0; i < count; ++i) check(ncclGetUniqueId(&given[i]), "ncclGetUniqueId");
  check(ncclBroadcast(given, given, sizeof given, ncclChar, 0, comm, NULL), "ncclBroadcast");
  before = descriptors();
  for (i = 0; i < count; ++i) {
    check(ncclCommInitRank(&comms[i], ranks, given[i], rank), "ncclCommInitRank");
    if (!uses_links) continue;
    check(ncclGroupStart(), "ncclGroupStart");
    check(ncclSend(&value, 1, ncclInt, 1 - rank, comms[i], NULL), "ncclSend");
    check(ncclRecv(&value, 1, ncclInt, 1 - rank, comms[i], NULL), "ncclRecv");
    check(ncclGroupEnd(), "ncclGroupEnd");
  }
  printf("HELD %d\n", settled(before, wanted));
  for (i = 0; i < count; ++i) check(ncclCommDestroy(comms[i]), "ncclCommDestroy");
  check(ncclCommDestroy(comm), "ncclCommDestroy");
  return 0;
}

static void limit(int what, rlim_t value) {
  struct rlimit limits;
  getrlimit(what, &limits);
  limits.rlim_cur = value;
  if (setrlimit(what, &limits) != 0) printf("FAILED setrlimit\n");
}

/* Two ranks with 0 to 40 spare descriptors, then without a limit again. */
static int few_descriptors(void) {
  ncclComm_t comms[2];
  int before, spare;
  warm_up();
  before = descriptors();
  for (spare = 0; spare <= 40; ++spare) {
    ncclResult_t result;
    comms[0] = comms[1] = NULL;
    limit(RLIMIT_NOFILE, (rlim_t)(before + spare));
    result = ncclCommInitAll(comms, 2, NULL);
    printf("SPARE %d: %d %s\n", spare, (int)result, result ? ncclGetLastError(NULL) : "");
    if (result == ncclSuccess) destroy_all(comms, 2);
    limit(RLIMIT_NOFILE, 1024);
    printf("LEFT %d\n", settled(before, 0));
  }
  warm_up();
  printf("WELL\n");
  return 0;
}

/* Splits children of two processes of MOST descriptors each, until one has no more. */
static int split_until_full(int most) {
  struct rlimit limits;
  ncclUniqueId id;
  ncclComm_t comm, child;
  ncclResult_t result = ncclSuccess;
  int ends[2], rank, i;
  if (pipe(ends) != 0) return 1;
  rank = fork() == 0;
  limits.rlim_cur = limits.rlim_max = (rlim_t)most;
  setrlimit(RLIMIT_NOFILE, &limits);
  if (rank == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  if (rank == 0 && write(ends[1], &id, sizeof id) != (ssize_t)sizeof id) return 1;
  if (rank == 1 && read(ends[0], &id, sizeof id) != (ssize_t)sizeof id) return 1;
  check(ncclCommInitRank(&comm, 2, id, rank), "ncclCommInitRank");
  for (i = 0; i < most && result == ncclSuccess; ++i)
    result = ncclCommSplit(comm, 0, rank, &child, NULL);
  printf("SPLIT %d %s\n", (int)result, result ? ncclGetLastError(NULL) : "");
  if (rank == 0) wait(NULL);
  return 0;
}

/* The first call of a process with SPARE descriptors left. */
static int few_at_first(int spare) {
  struct rlimit limits;
  ncclComm_t comms[2];
  ncclResult_t result;
  limits.rlim_cur = limits.rlim_max = (rlim_t)(descriptors() + spare);
  setrlimit(RLIMIT_NOFILE, &limits);
  result = ncclCommInitAll(comms, 2, NULL);
  printf("SPARE %d: %d %s\n", spare, (int)result, result ? ncclGetLastError(NULL) : "");
  if (result == ncclSuccess) destroy_all(comms, 2);
  printf("WELL\n");
  return 0;
}

/* Two ranks with room for only SPARE more threads. The superuser has no such limit. */
static int few_threads(int spare) {
  ncclComm_t comms[2];
  ncclResult_t result;
  if (getuid() == 0 && setuid(65534) != 0) return 1;
  prctl(PR_SET_DUMPABLE, 1);
  limit(RLIMIT_NPROC, (rlim_t)(1 + spare));
  result = ncclCommInitAll(comms, 2, NULL);
  printf("THREADS %d: %d %s\n", spare, (int)result, result ? ncclGetLastError(NULL) : "");
  if (result == ncclSuccess) destroy_all(comms, 2);
  limit(RLIMIT_NPROC, 1000);
  warm_up();
  printf("WELL\n");
  return 0;
}

struct join {
  ncclUniqueId id;
  int size, rank;
  ncclResult_t result;
};

static void* join(void* what) {
  struct join* join = what;
  ncclComm_t comm;
  join->result = ncclCommInitRank(&comm, join->size, join->id, join->rank);
  return NULL;
}

/* Jobs that are refused at once, because their ranks have different sizes. A third rank, which
 * would also be refused, does not join. */
static int refused(int rounds) {
  int before, round;
  warm_up();
  before = descriptors();
  for (round = 0; round < rounds; ++round) {
    struct join other = {.size = 3, .rank = 0, .result = ncclSuccess}, own = {.size = 4, .rank = 1};
    pthread_t thread;
    check(ncclGetUniqueId(&other.id), "ncclGetUniqueId");
    own.id = other.id;
    pthread_create(&thread, NULL, join, &other);
    join(&own);
    pthread_join(thread, NULL);
    if (own.result == ncclSuccess || other.result == ncclSuccess) return 1;
  }
  printf("LEFT %d\n", settled(before, 0));
  return 0;
}

/* A rank for the test to kill. */
static int victim(const char* hex) {
  ncclUniqueId id;
  ncclComm_t comm;
  size_t i;
  for (i = 0; i < sizeof id; ++i) {
    unsigned byte = 0;
    sscanf(hex + 2 * i, "%2x", &byte);
    id.internal[i] = (char)byte;
  }
  if (write(1, "!", 1) != 1) return 1;
  if (ncclCommInitRank(&comm, 2, id, 1) == ncclSuccess) pause();
  return 0;
}

static pid_t start_victim(const ncclUniqueId* id, int* output) {
  char hex[2 * sizeof *id + 1];
  int ends[2];
  size_t i;
  pid_t child;
  for (i = 0; i < sizeof *id; ++i) sprintf(hex + 2 * i, "%02x", (unsigned char)id->internal[i]);
  if (pipe(ends) != 0) exit(1);
  child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    execl("/proc/self/exe", "c_program", "victim", hex, (char*)NULL);
    _exit(127);
  }
  close(ends[1]);
  *output = ends[0];
  return child;
}

struct shot {
  pid_t victim;
  unsigned turns;
};

static void* shoot(void* what) {
  const struct shot* shot = what;
  volatile unsigned turn;
  for (turn = 0; turn < shot->turns; ++turn) continue;
  kill(shot->victim, SIGKILL);
  return NULL;
}

/* Joins with a rank that is killed meanwhile, again and again. */
static int survive(int rounds, int seed) {
  int before, round, failed = 0;
  unsigned drawn = (unsigned)seed;
  warm_up();
  before = descriptors();
  for (round = 0; round < rounds; ++round) {
    ncclUniqueId id;
    ncclComm_t comm = NULL;
    struct shot shot;
    pthread_t gun;
    char ready;
    int output;
    check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    shot.victim = start_victim(&id, &output);
    shot.turns = (unsigned)rand_r(&drawn) % 3000000;
    if (read(output, &ready, 1) != 1) return 1;
    pthread_create(&gun, NULL, shoot, &shot);
    if (ncclCommInitRank(&comm, 2, id, 0) != ncclSuccess) ++failed;
    if (comm) check(ncclCommAbort(comm), "ncclCommAbort");
    pthread_join(gun, NULL);
    waitpid(shot.victim, NULL, 0);
    close(output);
  }
  printf("FAILED_JOINS %d\n", failed);
  printf("LEFT %d\n", settled(before, 0));
  return 0;
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  const int a = count > 2 ? atoi(words[2]) : 0, b = count > 3 ? atoi(words[3]) : 0,
            c = count > 4 ? atoi(words[4]) : 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!strcmp(what, "in_process")) return in_process(a, b, c);
  if (!strcmp(what, "ids")) return ids(a);
  if (!strcmp(what, "meet")) return meet();
  if (!strcmp(what, "meet_twice")) return meet_twice();
  if (!strcmp(what, "between")) return between(a, b, c);
  if (!strcmp(what, "few_descriptors")) return few_descriptors();
  if (!strcmp(what, "split_until_full")) return split_until_full(a);
  if (!strcmp(what, "few_at_first")) return few_at_first(a);
  if (!strcmp(what, "few_threads")) return few_threads(a);
  if (!strcmp(what, "refused")) return refused(a);
  if (!strcmp(what, "survive")) return survive(a, b);
  if (!strcmp(what, "victim") && count > 2) return victim(words[2]);
  fprintf(
      stderr,
      "usage: c_program in_process COUNT RANKS WANTED | ids COUNT | meet | meet_twice | between "
      "COUNT LINKS WANTED | few_descriptors | split_until_full MOST | few_at_first SPARE | "
      "few_threads SPARE | refused ROUNDS | survive ROUNDS SEED\n");
  return 2;
}
