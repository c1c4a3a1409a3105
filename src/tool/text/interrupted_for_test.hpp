// Simulates a user's ^C.
#pragma once
#include <pthread.h>
#include <signal.h>

namespace ringlet::cli {

/// Keeps a SIGINT pending in this thread until a test receives it.
class InterruptedForTest {
 public:
  InterruptedForTest() {
    sigset_t interrupt;
    ::sigemptyset(&interrupt);
    ::sigaddset(&interrupt, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &interrupt, &before_);
    ::pthread_kill(::pthread_self(), SIGINT);
  }
  ~InterruptedForTest() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  InterruptedForTest(const InterruptedForTest&) = delete;
  InterruptedForTest& operator=(const InterruptedForTest&) = delete;

 private:
  sigset_t before_;
};

}  // namespace ringlet::cli
