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
/// \tparam Unique  differs for each variable, so that two of the same T are independent
template <typename T, typename Unique = decltype([] {})>
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
  T* Find() { return here_; }

 private:
  static void Delete(void* object) {
    here_ = nullptr;
    delete static_cast<T*>(object);
  }

  T& Make() {
    auto made = std::make_unique<T>();
    if (!has_key_ || ::pthread_setspecific(key_, made.get()) != 0) throw std::bad_alloc();
    return *(here_ = made.release());
  }

  // Finding the object by its key would cost a call. The pointer needs no destructor.
  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local T* here_ = nullptr;
  ::pthread_key_t key_ = 0;  // for Delete
  const bool has_key_;
};

}  // namespace ringlet::os
