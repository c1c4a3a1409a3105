// While it lives, this process cannot start threads, as if a limit were reached.
#pragma once
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>

namespace ringlet::comm {

class NoThreadsStart {
 public:
  NoThreadsStart() {
    pthread_attr_t huge;
    EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
    EXPECT_EQ(pthread_attr_init(&huge), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 46), 0);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0) << "no address space has room for that";
    pthread_attr_destroy(&huge);
  }
  NoThreadsStart(const NoThreadsStart&) = delete;
  NoThreadsStart& operator=(const NoThreadsStart&) = delete;
  ~NoThreadsStart() {
    EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

}  // namespace ringlet::comm
