// packaging/glibc_compat.c behaves as the functions of glibc that it replaces.
#include <gmock/gmock.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <thread>

extern "C" {
pid_t CompatThreadId();
const char* CompatErrorName(int error);
const char* CompatErrorText(int error);
const char* CompatSignalName(int signal);
int CompatClockWait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                    const timespec* until);
}

namespace {

constexpr int kNumbers = 200;  // more than there are errors or signals

timespec In(clockid_t clock, int milliseconds) {
  timespec now{};
  clock_gettime(clock, &now);
  now.tv_sec += milliseconds / 1000;
  now.tv_nsec += milliseconds % 1000 * 1'000'000;
  if (now.tv_nsec >= 1'000'000'000) {
    now.tv_nsec -= 1'000'000'000;
    ++now.tv_sec;
  }
  return now;
}

bool IsBefore(const timespec& left, const timespec& right) {
  return left.tv_sec != right.tv_sec ? left.tv_sec < right.tv_sec : left.tv_nsec < right.tv_nsec;
}

TEST(GlibcCompat, NumbersHaveTheNamesAndTextsOfGlibc) {
  for (int number = -1; number < kNumbers; ++number) {
    EXPECT_STREQ(CompatErrorName(number), strerrorname_np(number)) << number;
    EXPECT_STREQ(CompatErrorText(number), strerrordesc_np(number)) << number;
    EXPECT_STREQ(CompatSignalName(number), sigabbrev_np(number)) << number;
  }
}

TEST(GlibcCompat, ThreadsHaveTheirOwnId) {
  EXPECT_EQ(CompatThreadId(), gettid());
  std::thread([] { EXPECT_EQ(CompatThreadId(), gettid()); }).join();
}

class ClockWait : public testing::TestWithParam<clockid_t> {
 protected:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

TEST_P(ClockWait, EndsAtTheDeadlineAndNotBefore) {
  for (const int milliseconds : {-5000, 0, 20}) {
    const timespec until = In(GetParam(), milliseconds);
    pthread_mutex_lock(&mutex_);
    int result = 0;
    while (result == 0) result = CompatClockWait(&condition_, &mutex_, GetParam(), &until);
    pthread_mutex_unlock(&mutex_);
    EXPECT_EQ(result, ETIMEDOUT);
    EXPECT_FALSE(IsBefore(In(GetParam(), 0), until)) << milliseconds;
  }
}

TEST_P(ClockWait, EndsAtADeadlineBeforeTheStartOfTheClock) {
  const timespec until{};
  pthread_mutex_lock(&mutex_);
  int result = 0;
  while (result == 0) result = CompatClockWait(&condition_, &mutex_, GetParam(), &until);
  pthread_mutex_unlock(&mutex_);
  EXPECT_EQ(result, ETIMEDOUT);
}

TEST_P(ClockWait, AnotherThreadWakesIt) {
  bool done = false;
  pthread_mutex_lock(&mutex_);
  std::thread waker([&] {
    pthread_mutex_lock(&mutex_);
    done = true;
    pthread_cond_signal(&condition_);
    pthread_mutex_unlock(&mutex_);
  });
  const timespec until = In(GetParam(), 60'000);
  int result = 0;
  while (!done && result == 0) result = CompatClockWait(&condition_, &mutex_, GetParam(), &until);
  pthread_mutex_unlock(&mutex_);
  waker.join();
  EXPECT_TRUE(done);
  EXPECT_EQ(result, 0);
}

INSTANTIATE_TEST_SUITE_P(Clocks, ClockWait, testing::Values(CLOCK_MONOTONIC, CLOCK_REALTIME));

}  // namespace
