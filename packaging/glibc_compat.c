/* The functions of glibc 2.29 to 2.36 that Ringlet and the static parts of libstdc++ call, for programs
 * that shall run on an older one. tools/old_glibc.py compiles this file with `names.h`, a table of the
 * errors and signals of the build machine. All are hidden: no other library sees them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "names.h"

/* The counters of std::shared_ptr are then always atomic. */
char __libc_single_threaded = 0;

pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

const char* strerrorname_np(int error) {
  const size_t count = sizeof kErrorNames / sizeof *kErrorNames;
  return error >= 0 && (size_t)error < count ? kErrorNames[error] : NULL;
}

const char* strerrordesc_np(int error) {
  const size_t count = sizeof kErrorTexts / sizeof *kErrorTexts;
  return error >= 0 && (size_t)error < count ? kErrorTexts[error] : NULL;
}

const char* sigabbrev_np(int signal) {
  const size_t count = sizeof kSignalNames / sizeof *kSignalNames;
  return signal >= 0 && (size_t)signal < count ? kSignalNames[signal] : NULL;
}

static const long kNanoseconds = 1000000000;

static int IsBefore(struct timespec left, struct timespec right) {
  return left.tv_sec != right.tv_sec ? left.tv_sec < right.tv_sec : left.tv_nsec < right.tv_nsec;
}

/* Converts `until` on `clock` to a moment of CLOCK_REALTIME. */
static struct timespec ToRealTime(clockid_t clock, struct timespec until) {
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until.tv_sec - now.tv_sec;
  real.tv_nsec += until.tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) {
    real.tv_nsec += kNanoseconds;
    --real.tv_sec;
  } else if (real.tv_nsec >= kNanoseconds) {
    real.tv_nsec -= kNanoseconds;
    ++real.tv_sec;
  }
  return real;
}

/* glibc has this function from 2.30 on. Before, condition variables wait on CLOCK_REALTIME alone: if
 * somebody sets that clock back during a wait, the wait takes longer. Set forward, it ends as if woken for
 * no reason, which callers expect. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  typedef int Function(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  static _Atomic(Function*) found;
  static _Atomic int searched;
  if (!searched) {
    found = (Function*)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
    searched = 1;
  }
  if (found) return found(condition, mutex, clock, until);
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  const struct timespec real = ToRealTime(clock, *until);
  if (real.tv_sec < 0) return ETIMEDOUT;
  const int result = pthread_cond_timedwait(condition, mutex, &real);
  if (result != ETIMEDOUT) return result;
  struct timespec now;
  clock_gettime(clock, &now);
  return IsBefore(now, *until) ? 0 : ETIMEDOUT;
}
