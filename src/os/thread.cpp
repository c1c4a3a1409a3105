#include "os/thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <string>

namespace ringlet::os {

void BecomeServiceThread(const char* name) {
  sigset_t all;
  sigfillset(&all);
  // What the thread itself does wrong must still end the process.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), std::string(name).substr(0, 15).c_str());
}

}  // namespace ringlet::os
