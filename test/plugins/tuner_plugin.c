/* A tuner plug-in in NCCL's form that records its queries, one per line, and returns the answers
 * set by the test, for the tests of comm/plugin. PLUGIN_VERSION is that of its symbol. PLUGIN_FAULT
 * is its defect: 1 a function is null, 2 init refuses, 3 each query returns an error, 4 the answers
 * are invalid, 5 the second communicator object gets other answers than the first. */
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef PLUGIN_FAULT
#define PLUGIN_FAULT 0
#endif
#define JOINED(a, b) a##b
#define SYMBOL(version) JOINED(ncclTunerPlugin_v, version)
#define EXPORT __attribute__((visibility("default")))

typedef void (*Log)(int, unsigned long, const char*, int, const char*, ...);
typedef struct {
  int domains, least, most;
} Domains;
typedef struct {
  double base[7][3], wire[3][7][3], ll[4][3], ring_ll128[4][3], tree_ll128[4][3], tree[4][3],
      nvls_tree[4][3];
} Constants;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char lines[1 << 16];
static size_t used;
static int sessions, open_sessions;
static int algorithm = -1, protocol, wanted_channels;
static double ring_base = -1; /* microseconds; negative: unchanged */

__attribute__((format(printf, 1, 2))) static void Say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&mutex);
  const int more = vsnprintf(lines + used, sizeof lines - used, format, arguments);
  if (more > 0 && used + (size_t)more < sizeof lines) used += (size_t)more;
  pthread_mutex_unlock(&mutex);
  va_end(arguments);
}

/* For the test: the queries so far, and the answers to give. */
EXPORT const char* plugin_lines(void) {
  return lines;
}
EXPORT int plugin_open(void) {
  return __atomic_load_n(&open_sessions, __ATOMIC_RELAXED);
}
EXPORT void plugin_choose(int its_algorithm, int its_protocol, int its_channels) {
  algorithm = its_algorithm;
  protocol = its_protocol;
  wanted_channels = its_channels;
}
EXPORT void plugin_ring_base(double microseconds) {
  ring_base = microseconds;
}

static int Init(void** context, uint64_t communicator, size_t ranks, size_t nodes, Log log,
                Domains* domains, Constants* constants) {
  (void)communicator;
  if (PLUGIN_FAULT == 2) return 3;
  *context = malloc(sizeof(int));
  *(int*)*context = __atomic_fetch_add(&sessions, 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&open_sessions, 1, __ATOMIC_RELAXED);
  Say("init %zu ranks on %zu, domains %d of %d to %d, tree %.1f, ring over network %.1f\n", ranks,
      nodes, domains->domains, domains->least, domains->most, constants->tree[1][2],
      constants->wire[2][1][2]);
  if (ring_base >= 0)
    for (int i = 0; i < 3; ++i) constants->base[1][i] = ring_base;
  if (PLUGIN_FAULT == 4) constants->base[1][0] = NAN, constants->ll[0][0] = -1e300;
  log(2, 0x40, __FILE__, __LINE__, "tuner sees %zu ranks", ranks);
  return 0;
}

static int Choose(void* context, int function, size_t bytes, int operations, float** costs,
                  int algorithms, int protocols, int registered, int* channels) {
  float(*const table)[3] = (float(*)[3])costs;
  if (PLUGIN_FAULT == 3) return 2;
  int possible = 0;
  for (int i = 0; i < algorithms * protocols; ++i) possible += table[i / 3][i % 3] >= 0;
  Say("function %d of %zu, %d at once, %d x %d, %d possible, registered %d, channels %d\n",
      function, bytes, operations, algorithms, protocols, possible, registered, *channels);
  if (PLUGIN_FAULT == 4) {
    for (int i = 0; i < algorithms * protocols; ++i) table[i / 3][i % 3] = i % 2 ? NAN : -7;
    table[3][0] = 0;
    *channels = -5;
    return 0;
  }
  const int its = PLUGIN_FAULT == 5 && *(int*)context % 2 ? 1 - algorithm : algorithm;
  if (its >= 0) table[its][protocol] = 0;
  *channels = wanted_channels;
  return 0;
}

static int Finalize(void* context) {
  __atomic_sub_fetch(&open_sessions, 1, __ATOMIC_RELAXED);
  free(context);
  return 0;
}

EXPORT struct {
  const char* name;
  int (*init)(void**, uint64_t, size_t, size_t, Log, Domains*, Constants*);
  int (*choose)(void*, int, size_t, int, float**, int, int, int, int*);
  int (*finalize)(void*);
#if PLUGIN_VERSION >= 6
  int (*chunk_size)(void*, int, size_t, int, int, int, size_t*);
#endif
} SYMBOL(PLUGIN_VERSION) = {"written for tests", Init, PLUGIN_FAULT == 1 ? NULL : Choose, Finalize};
