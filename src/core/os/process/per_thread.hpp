// Objects that each thread has for itself.
//
// A thread_local object with a destructor ends the process if memory to register the destructor
// runs out, because glibc cannot report that. PerThread throws std::bad_alloc instead, which a
// guarded entry point turns into an error.
#pragma once
#include <pthread.h>

#include <memory>
#include <new>

namespace ringlet::os {

/// Has static storage: its key is never released.
template <typename T>
class PerThread {
 public:
  PerThread() : has_key_(::pthread_key_create(&key_, &Delete) == 0) {}
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;

  /// The calling thread's object: made at its first use, destroyed when the thread ends. Throws
  /// std::bad_alloc if memory or keys run out. Cost  a few ns
  T& Get() {
    T* const known = Find();
    return known ? *known : Make();
  }
  /// Returns null if this thread has not used the object yet.
  T* Find() { return has_key_ ? static_cast<T*>(::pthread_getspecific(key_)) : nullptr; }

 private:
  static void Delete(void* object) { delete static_cast<T*>(object); }

  T& Make() {
    auto made = std::make_unique<T>();
    if (!has_key_ || ::pthread_setspecific(key_, made.get()) != 0) throw std::bad_alloc();
    return *made.release();
  }

  ::pthread_key_t key_ = 0;
  const bool has_key_;
};

}  // namespace ringlet::os
