/* A profiler plug-in in NCCL's form that records its events, one per line, for the tests of
 * comm/plugin. PLUGIN_VERSION is that of its symbol. PLUGIN_FAULT is its defect: 1 a function is
 * null, 2 init refuses, 3 each event returns an error. */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PLUGIN_FAULT
#define PLUGIN_FAULT 0
#endif
#define JOINED(a, b) a##b
#define SYMBOL(version) JOINED(ncclProfiler_v, version)
#define EXPORT __attribute__((visibility("default")))

typedef struct {
  uint64_t type;
  void* parent;
  int rank;
  union {
    struct {
      _Bool captured;
      int depth;
    } group;
    struct {
      const char* function;
      size_t count;
      const char* data_type;
    } call;
    struct {
      uint64_t number;
      const char* function;
      const void* from;
      void* to;
      size_t count;
      int root;
      const char* data_type;
      uint8_t channels, warps;
      const char *algorithm, *protocol;
    } collective;
    struct {
      const char* function;
      void* buffer;
      const char* data_type;
      size_t count;
      int peer;
      uint8_t channels;
    } message;
    struct {
      uint8_t channel;
      uint64_t time_ns;
    } channel;
    uint64_t room[11];
  } of;
} Event;

typedef void (*Log)(int, unsigned long, const char*, int, const char*, ...);
typedef struct Handle {
  uint64_t type, time_ns;
  int rank;
  struct Handle* before;
} Handle;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char lines[1 << 16];
static size_t used;
static Handle* kept; /* all of them: later events name them as their parents */
static int open_events;
static int* wanted;

__attribute__((format(printf, 1, 2))) static void Say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&mutex);
  const int more = vsnprintf(lines + used, sizeof lines - used, format, arguments);
  if (more > 0 && used + (size_t)more < sizeof lines) used += (size_t)more;
  pthread_mutex_unlock(&mutex);
  va_end(arguments);
}

/* For the test: the events so far, and the mask. */
EXPORT const char* plugin_lines(void) {
  return lines;
}
EXPORT int plugin_open(void) {
  return __atomic_load_n(&open_events, __ATOMIC_RELAXED);
}
EXPORT void plugin_want(int mask) {
  __atomic_store_n(__atomic_load_n(&wanted, __ATOMIC_RELAXED), mask, __ATOMIC_RELAXED);
}

static int Init(void** context, uint64_t communicator, int* mask, const char* name, int nodes,
                int ranks, int rank, Log log) {
  (void)communicator;
  if (PLUGIN_FAULT == 2) return 3;
  /* Ranks of one process begin at once, and others read the mask. */
  __atomic_store_n(&wanted, mask, __ATOMIC_RELAXED);
  __atomic_store_n(mask, 0xfff, __ATOMIC_RELAXED);
  *context = malloc(sizeof(int));
  *(int*)*context = rank;
  log(2, 1, __FILE__, __LINE__, "plug-in sees rank %d of %s", rank, name ? name : "none");
  Say("init rank %d of %d on %d named %s\n", rank, ranks, nodes, name ? name : "-");
  return 0;
}

static void Describe(const Event* event, uint64_t parent) {
  const int rank = event->rank;
  switch (event->type) {
    case 1 << 8: Say("%d group depth %d\n", rank, event->of.group.depth); break;
    case 1 << 9:
    case 1 << 10:
      Say("%d call %s %zu %s in %d\n", rank, event->of.call.function, event->of.call.count,
          event->of.call.data_type, (int)parent);
      break;
    case 1 << 1:
      Say("%d collective %s %zu %s %s %s number %d channels %d in %d\n", rank,
          event->of.collective.function, event->of.collective.count, event->of.collective.data_type,
          event->of.collective.algorithm, event->of.collective.protocol,
          (int)event->of.collective.number, event->of.collective.channels, (int)parent);
      break;
    case 1 << 2:
      Say("%d message %s %zu %s peer %d in %d\n", rank, event->of.message.function,
          event->of.message.count, event->of.message.data_type, event->of.message.peer,
          (int)parent);
      break;
    case 1 << 6: Say("%d channel %d in %d\n", rank, event->of.channel.channel, (int)parent); break;
    default: break;
  }
}

static int Start(void* context, void** handle, Event* event) {
  if (PLUGIN_FAULT == 3) return 2;
  if (event->rank != *(int*)context) Say("a wrong rank\n");
  Describe(event, event->parent ? ((Handle*)event->parent)->type : 0);
  Handle* const its = malloc(sizeof *its);
  *its = (Handle){.type = event->type, .rank = event->rank};
  if (event->type == 1 << 6) its->time_ns = event->of.channel.time_ns;
  pthread_mutex_lock(&mutex);
  its->before = kept;
  kept = its;
  pthread_mutex_unlock(&mutex);
  __atomic_add_fetch(&open_events, 1, __ATOMIC_RELAXED);
  *handle = its;
  return 0;
}

static int Stop(void* handle) {
  if (handle == NULL) Say("a null handle\n");
  __atomic_sub_fetch(&open_events, 1, __ATOMIC_RELAXED);
  return 0;
}

static int Record(void* handle, int state, void* change) {
  const Handle* const its = handle;
  if (state == 22)
    Say("%d channel ends %s\n", its->rank,
        *(uint64_t*)change >= its->time_ns ? "in order" : "before it began");
  return 0;
}

static int Finalize(void* context) {
  Say("finalize rank %d\n", *(int*)context);
  free(context);
  return 0;
}

EXPORT struct {
  const char* name;
  int (*init)(void**, uint64_t, int*, const char*, int, int, int, Log);
  int (*start)(void*, void**, Event*);
  int (*stop)(void*);
  int (*record)(void*, int, void*);
  int (*finalize)(void*);
} SYMBOL(PLUGIN_VERSION) = {
    "written for tests", Init, PLUGIN_FAULT == 1 ? NULL : Start, Stop, Record, Finalize};
