/* CLOCK_MONOTONIC is the same in all processes of a machine. */
#ifndef RINGLET_PEERS_CLOCK_H
#define RINGLET_PEERS_CLOCK_H

#include <time.h>

static double ClockUs(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

#endif
