/* Kernels of a CUDA program as functions on the host: for `ringlet emulate --kernels LIBRARY.so`.
 *
 * A program that runs without a GPU has kernels, but a CPU cannot run their code. The user names a
 * library that contains, for each kernel, a function that does the work of the whole grid. The
 * library's constructor registers these functions:
 *
 *     static void Scale(const ringlet_host_kernel_arguments* launch) {
 *       float* values = *(float**)launch->arguments[0];
 *       int count = *(int*)launch->arguments[1];
 *       for (int i = 0; i < count; i++) values[i] *= 2;
 *     }
 *     __attribute__((constructor)) static void Register(void) {
 *       ringlet_host_kernel("scale(float*, int)", Scale);
 *     }
 *
 * A launch is queued in its stream and calls the function in stream order. A launch of an
 * unregistered kernel fails with cudaErrorInvalidDeviceFunction, and the message contains the
 * kernel's name.
 *
 * C99 and C++17; needs no other header of Ringlet and no CUDA.
 */
#ifndef RINGLET_KERNEL_H_
#define RINGLET_KERNEL_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One launch. Valid until the function returns. */
typedef struct ringlet_host_kernel_arguments {
  size_t size;       /* bytes of this structure; later versions append fields */
  const char* name;  /* the registered name of the kernel; mangled for C++ */
  unsigned grid[3];  /* blocks: x, y, z */
  unsigned block[3]; /* threads per block: x, y, z */
  size_t shared_bytes;
  void** arguments; /* one pointer to each parameter's value */
  void* stream;     /* the cudaStream_t of the launch */
  int device;       /* current device of the launching thread */
} ringlet_host_kernel_arguments;

typedef void (*ringlet_host_kernel_function)(const ringlet_host_kernel_arguments* launch);

/* Registers a function for the kernel `name`: mangled ("_Z5scalePfi"), as C++ writes it
 * ("scale(float*, int)", "void fill<float>(float*, float)"), or without parameters ("scale"). A
 * launch copies the parameter values. Their sizes follow from the name if all parameters are
 * pointers or numbers; other kernels need ringlet_host_kernel_sized. Registering a name again
 * replaces its function.
 *
 * The host libcudart exports this function. The declaration is weak, so that a library loads
 * without it. */
__attribute__((weak)) void ringlet_host_kernel(const char* name,
                                               ringlet_host_kernel_function function);

/* Like ringlet_host_kernel, with the size in bytes of each of `count` parameters (at most 1024).
 * For C kernels, whose names contain no types, and for kernels with structures as parameters. */
__attribute__((weak)) void ringlet_host_kernel_sized(const char* name,
                                                     ringlet_host_kernel_function function,
                                                     const size_t* sizes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
