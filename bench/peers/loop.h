/* The measurement loop of the programs in this folder. It follows src/tool/measure.cpp, with equal
 * constants, so that results compare.
 *
 * An iteration is one operation, or as many as take some microseconds. Its time is that of the
 * slowest rank. */
#ifndef RINGLET_PEERS_LOOP_H
#define RINGLET_PEERS_LOOP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kRepeatsMin = 5, kRepeatsMax = 2000, kWarmupsMax = 20, kBatchMax = 2000 };
static const double kWarmupBudgetUs = 20e3, kBudgetUs = 120e3;

/* The interface to a library. */
struct Library {
  void* context;
  void (*run)(void* context); /* runs the operation once */
  void (*barrier)(void* context);
  void (*largest)(void* context, double* numbers, int count); /* maximum over ranks */
  double (*sum)(void* context, double number);                /* sum over ranks */
  char* changing; /* rewritten before each operation, within its time; or NULL */
  size_t changing_bytes;
};

/* Options from the command line. Negative: adapted to the size. */
struct LoopOptions {
  int warmups, iterations;
  double iteration_min_us; /* an adapted iteration repeats the operation for this long */
};

struct Measured {
  double median_us, p99_us, cpu_us;
};

static int Compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static int Fitting(double budget_us, double once_us, int least, int most) {
  const double fitting = budget_us / (once_us > 1e-3 ? once_us : 1e-3);
  return fitting < least ? least : fitting > most ? most : (int)fitting;
}

static double RunTimes(const struct Library* library, int times) {
  const double begin = ClockUs(CLOCK_MONOTONIC);
  int i;
  for (i = 0; i < times; ++i) {
    if (library->changing) memset(library->changing, 0x40 + i % 2, library->changing_bytes);
    library->run(library->context);
  }
  return ClockUs(CLOCK_MONOTONIC) - begin;
}

/* All ranks call it together and get the same result. */
static struct Measured Measure(const struct Library* library, struct LoopOptions options) {
  struct Measured measured;
  double *times, latest, begin, computed;
  int i, warmups = options.warmups >= 0 ? options.warmups : 1, batch = 1, iterations;
  latest = RunTimes(library, warmups);
  if (options.warmups < 0) {
    library->largest(library->context, &latest, 1);
    warmups = Fitting(kWarmupBudgetUs, latest, kRepeatsMin, kRepeatsMax);
    if (warmups > kWarmupsMax) warmups = kWarmupsMax;
    latest = RunTimes(library, warmups);
  }
  library->largest(library->context, &latest, 1);
  if (options.iterations >= 0) {
    iterations = options.iterations;
  } else {
    const double once = latest / (warmups > 1 ? warmups : 1);
    if (warmups > 0) batch = Fitting(options.iteration_min_us, once, 1, kBatchMax);
    iterations = Fitting(kBudgetUs, once * batch, kRepeatsMin, kRepeatsMax);
  }
  times = (double*)malloc((size_t)iterations * sizeof *times);
  memset(times, 0, (size_t)iterations * sizeof *times);
  library->barrier(library->context);
  begin = ClockUs(CLOCK_PROCESS_CPUTIME_ID);
  for (i = 0; i < iterations; ++i) times[i] = RunTimes(library, batch) / batch;
  computed = ClockUs(CLOCK_PROCESS_CPUTIME_ID) - begin;
  library->largest(library->context, times, iterations);
  qsort(times, (size_t)iterations, sizeof *times, Compare);
  measured.median_us = times[(50 * iterations + 99) / 100 - 1];
  measured.p99_us = times[(99 * iterations + 99) / 100 - 1];
  measured.cpu_us = library->sum(library->context, computed) / iterations / batch;
  free(times);
  return measured;
}

static void Print(size_t count, struct Measured measured) {
  printf("%zu %.4f %.4f %.4f\n", count, measured.median_us, measured.p99_us, measured.cpu_us);
  fflush(stdout);
}

static int WishOf(const char* text) {
  return strncmp(text, "adapted", 7) == 0 ? -1 : atoi(text);
}

/* Parses WARMUPS and ITERATIONS: numbers, "adapted", or "adapted:US", the minimum time. */
static struct LoopOptions LoopOptionsOf(const char* warmups, const char* iterations) {
  const char* const colon = strchr(iterations, ':');
  struct LoopOptions options;
  options.warmups = WishOf(warmups);
  options.iterations = WishOf(iterations);
  options.iteration_min_us = colon ? atof(colon + 1) : 0;
  return options;
}

#ifdef __cplusplus
}
#endif
#endif
