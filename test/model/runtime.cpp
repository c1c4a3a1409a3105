// The functions that the compiler and the linker substitute for the operations of the checked
// sources.
//
// The sources are the library's, unchanged, compiled with -fsanitize=thread. The compiler then
// calls a function for every atomic operation and every access to memory. These functions are
// ThreadSanitizer's interface; here they call the explorer. The linker intercepts calls of the C
// library that touch shared memory or wait (--wrap).
#include <linux/futex.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>
#include <ctime>
#include <type_traits>

#include "explorer.hpp"

namespace {

using namespace ringlet::model;

bool Watched(const volatile void* address) {
  return InThread() && SharedMemory().Tracks(const_cast<const void*>(address));
}

template <class T>
Location* Place(const volatile T* address) {
  return &SharedMemory().At(const_cast<const T*>(address), sizeof(T));
}

void Access(const void* address, std::size_t bytes, bool writes) {
  if (Watched(address)) PlainNow(address, bytes, writes);
}

template <class T>
T Load(const volatile T* at, int order) {
  if (!Watched(at)) return __atomic_load_n(at, __ATOMIC_SEQ_CST);
  return static_cast<T>(
      Do({.op = Op::kLoad, .location = Place(at), .order = static_cast<Order>(order)}));
}

template <class T>
void Store(volatile T* at, T value, int order) {
  if (!Watched(at)) return __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
  Do({.op = Op::kStore,
      .location = Place(at),
      .order = static_cast<Order>(order),
      .value = static_cast<std::make_unsigned_t<T>>(value)});
}

template <class T>
bool Compare(volatile T* at, T* expected, T value, int order) {
  if (!Watched(at))
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
  using U = std::make_unsigned_t<T>;
  const auto found = static_cast<T>(Do({.op = Op::kCompare,
                                        .location = Place(at),
                                        .order = static_cast<Order>(order),
                                        .value = static_cast<U>(value),
                                        .expected = static_cast<U>(*expected)}));
  const bool same = found == *expected;
  *expected = found;
  return same;
}

enum class Change : std::uint8_t { kReplace, kAdd, kSubtract, kAnd, kOr };

template <Change kChange>
std::uint64_t Changed(std::uint64_t seen, std::uint64_t value) {
  switch (kChange) {
    case Change::kReplace: return value;
    case Change::kAdd: return seen + value;
    case Change::kSubtract: return seen - value;
    case Change::kAnd: return seen & value;
    case Change::kOr: return seen | value;
  }
}

template <Change kChange, class T>
T ReadWrite(volatile T* at, T value, int order) {
  using U = std::make_unsigned_t<T>;
  if (!Watched(at)) {
    T seen = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(
        at, &seen, static_cast<T>(Changed<kChange>(static_cast<U>(seen), static_cast<U>(value))),
        false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return seen;
  }
  return static_cast<T>(Do({.op = Op::kReadWrite,
                            .location = Place(at),
                            .order = static_cast<Order>(order),
                            .value = static_cast<U>(value),
                            .change = Changed<kChange>}));
}

}  // namespace

extern "C" {

#define RINGLET_ATOMIC(BITS, T)                                                                    \
  T __tsan_atomic##BITS##_load(const volatile T* at, int order) {                                  \
    return Load(at, order);                                                                        \
  }                                                                                                \
  void __tsan_atomic##BITS##_store(volatile T* at, T value, int order) {                           \
    Store(at, value, order);                                                                       \
  }                                                                                                \
  T __tsan_atomic##BITS##_exchange(volatile T* at, T value, int order) {                           \
    return ReadWrite<Change::kReplace>(at, value, order);                                          \
  }                                                                                                \
  T __tsan_atomic##BITS##_fetch_add(volatile T* at, T value, int order) {                          \
    return ReadWrite<Change::kAdd>(at, value, order);                                              \
  }                                                                                                \
  T __tsan_atomic##BITS##_fetch_sub(volatile T* at, T value, int order) {                          \
    return ReadWrite<Change::kSubtract>(at, value, order);                                         \
  }                                                                                                \
  T __tsan_atomic##BITS##_fetch_and(volatile T* at, T value, int order) {                          \
    return ReadWrite<Change::kAnd>(at, value, order);                                              \
  }                                                                                                \
  T __tsan_atomic##BITS##_fetch_or(volatile T* at, T value, int order) {                           \
    return ReadWrite<Change::kOr>(at, value, order);                                               \
  }                                                                                                \
  int __tsan_atomic##BITS##_compare_exchange_strong(volatile T* at, T* expected, T value,          \
                                                    int order, int) {                              \
    return Compare(at, expected, value, order);                                                    \
  }                                                                                                \
  int __tsan_atomic##BITS##_compare_exchange_weak(volatile T* at, T* expected, T value, int order, \
                                                  int) {                                           \
    return Compare(at, expected, value, order);                                                    \
  }                                                                                                \
  T __tsan_atomic##BITS##_compare_exchange_val(volatile T* at, T expected, T value, int order,     \
                                               int) {                                              \
    Compare(at, &expected, value, order);                                                          \
    return expected;                                                                               \
  }

RINGLET_ATOMIC(8, char)
RINGLET_ATOMIC(16, short)
RINGLET_ATOMIC(32, int)
RINGLET_ATOMIC(64, long)
#undef RINGLET_ATOMIC

void __tsan_atomic_thread_fence(int order) {
  if (InThread()) FenceNow(static_cast<Order>(order));
}
void __tsan_atomic_signal_fence(int) {}

#define RINGLET_ACCESS(BYTES)                    \
  void __tsan_read##BYTES(void* at) {            \
    Access(at, BYTES, false);                    \
  }                                              \
  void __tsan_write##BYTES(void* at) {           \
    Access(at, BYTES, true);                     \
  }                                              \
  void __tsan_unaligned_read##BYTES(void* at) {  \
    Access(at, BYTES, false);                    \
  }                                              \
  void __tsan_unaligned_write##BYTES(void* at) { \
    Access(at, BYTES, true);                     \
  }                                              \
  void __tsan_volatile_read##BYTES(void* at) {   \
    Access(at, BYTES, false);                    \
  }                                              \
  void __tsan_volatile_write##BYTES(void* at) {  \
    Access(at, BYTES, true);                     \
  }

RINGLET_ACCESS(1)
RINGLET_ACCESS(2)
RINGLET_ACCESS(4)
RINGLET_ACCESS(8)
RINGLET_ACCESS(16)
#undef RINGLET_ACCESS

void __tsan_read_range(void* at, long bytes) {
  Access(at, static_cast<std::size_t>(bytes), false);
}
void __tsan_write_range(void* at, long bytes) {
  Access(at, static_cast<std::size_t>(bytes), true);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// ---- the C library ------------------------------------------------------------------------------

void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) Access(from, bytes, false);
  if (bytes > 0) Access(to, bytes, true);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) Access(from, bytes, false);
  if (bytes > 0) Access(to, bytes, true);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  if (bytes > 0) Access(to, bytes, true);
  return __real_memset(to, value, bytes);
}

// A futex has no timeout and no spurious wake-ups, so the clock cannot hide a missing wake-up.
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long values[6];
  for (long& value : values) value = va_arg(arguments, long);
  va_end(arguments);
  auto* const word = reinterpret_cast<int*>(values[0]);
  if (number != SYS_futex || !Watched(word))
    return __real_syscall(number, values[0], values[1], values[2], values[3], values[4], values[5]);
  const bool waits = values[1] == FUTEX_WAIT;
  const auto expected = static_cast<std::uint32_t>(values[2]);
  Do({.op = waits ? Op::kFutexWait : Op::kFutexWake,
      .location = Place(word),
      .order = Order::kRelaxed,
      .expected = expected});
  return 0;
}

// The kernel may read memory during a write by another thread: word by word, unordered with other
// accesses.
ssize_t __real_process_vm_readv(pid_t process, const iovec* to, unsigned long to_count,
                                const iovec* from, unsigned long from_count, unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t process, const iovec* to, unsigned long to_count,
                                const iovec* from, unsigned long from_count, unsigned long flags) {
  if (!InThread()) return __real_process_vm_readv(process, to, to_count, from, from_count, flags);
  std::size_t all = 0;
  for (unsigned long i = 0; i < from_count; ++i) {
    const std::size_t bytes = from[i].iov_len;
    all += bytes;
    auto* const source = static_cast<char*>(from[i].iov_base);
    auto* const target = static_cast<char*>(to[i].iov_base);
    if (bytes % sizeof(int) != 0 || !Watched(source)) {
      __real_memcpy(target, source, bytes);
      continue;
    }
    for (std::size_t at = 0; at < bytes; at += sizeof(int)) {
      const int word =
          Load(reinterpret_cast<const int*>(source + at), static_cast<int>(Order::kRelaxed));
      Access(target + at, sizeof word, true);
      __real_memcpy(target + at, &word, sizeof word);
    }
  }
  return static_cast<ssize_t>(all);
}

// A write by the kernel must be ordered with all other accesses to its target.
ssize_t __real_process_vm_writev(pid_t process, const iovec* from, unsigned long from_count,
                                 const iovec* to, unsigned long to_count, unsigned long flags);
ssize_t __wrap_process_vm_writev(pid_t process, const iovec* from, unsigned long from_count,
                                 const iovec* to, unsigned long to_count, unsigned long flags) {
  if (!InThread()) return __real_process_vm_writev(process, from, from_count, to, to_count, flags);
  std::size_t all = 0;
  for (unsigned long i = 0; i < to_count; ++i) {
    Access(from[i].iov_base, from[i].iov_len, false);
    Access(to[i].iov_base, to[i].iov_len, true);
    __real_memcpy(to[i].iov_base, from[i].iov_base, to[i].iov_len);
    all += to[i].iov_len;
  }
  return static_cast<ssize_t>(all);
}

int __real_clock_gettime(clockid_t clock, timespec* now);
int __wrap_clock_gettime(clockid_t clock, timespec* now) {
  if (!InThread()) return __real_clock_gettime(clock, now);
  *now = {};  // time stands still
  return 0;
}

// There is one event descriptor, of the only waiter, and one epoll with it as its first.
char event_descriptor;

ssize_t __real_write(int fd, const void* from, std::size_t bytes);
ssize_t __wrap_write(int fd, const void* from, std::size_t bytes) {
  if (!InThread()) return __real_write(fd, from, bytes);
  Do({.op = Op::kSignal, .location = Place(&event_descriptor)});
  return static_cast<ssize_t>(bytes);
}

int __real_epoll_wait(int fd, epoll_event* events, int events_max, int timeout);
int __wrap_epoll_wait(int fd, epoll_event* events, int events_max, int timeout) {
  if (!InThread()) return __real_epoll_wait(fd, events, events_max, timeout);
  const bool ready = Do({.op = Op::kAwait,
                         .location = Place(&event_descriptor),
                         .value = timeout == 0 ? 0u : 1u}) != 0;
  if (ready) *events = {.events = EPOLLIN, .data = {.u64 = 0}};
  return ready ? 1 : 0;
}

int __real_sched_yield();
int __wrap_sched_yield() {
  return InThread() ? 0 : __real_sched_yield();
}

#define RINGLET_LOCK(NAME, TYPE, OP)                                  \
  int __real_##NAME(TYPE* lock);                                      \
  int __wrap_##NAME(TYPE* lock) {                                     \
    if (!InThread()) return __real_##NAME(lock);                      \
    Do({.op = OP, .location = Place(reinterpret_cast<char*>(lock))}); \
    return 0;                                                         \
  }

RINGLET_LOCK(pthread_mutex_lock, pthread_mutex_t, Op::kLock)
RINGLET_LOCK(pthread_mutex_unlock, pthread_mutex_t, Op::kUnlock)
RINGLET_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t, Op::kLockShared)
RINGLET_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t, Op::kLock)
RINGLET_LOCK(pthread_rwlock_unlock, pthread_rwlock_t, Op::kUnlock)
#undef RINGLET_LOCK

}  // extern "C"
