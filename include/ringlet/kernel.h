/* Kernels of a CUDA program as functions on the host: for `ringlet emulate --kernels LIBRARY.so`.
 *
 * A kernel of a program that runs without a GPU has no code that a CPU could run. A library that
 * the user names can bring it: for each kernel a function that does the work of the whole grid. Its
 * constructor registers them:
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
 * A launch takes its place in the stream, and the function runs when its turn comes. A launch of a
 * kernel that is not registered fails with cudaErrorInvalidDeviceFunction, and says the name.
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
  size_t size;       /* of this structure: later versions add to its end */
  const char* name;  /* as the program registered the kernel: mangled, where it is C++ */
  unsigned grid[3];  /* blocks: x, y, z */
  unsigned block[3]; /* threads of a block: x, y, z */
  size_t shared_bytes;
  void** arguments; /* one pointer to the value of each parameter */
  void* stream;     /* the cudaStream_t of the launch */
  int device;       /* of the thread that launched it */
} ringlet_host_kernel_arguments;

typedef void (*ringlet_host_kernel_function)(const ringlet_host_kernel_arguments* launch);

/* Registers a function for the kernel `name`: mangled ("_Z5scalePfi"), as C++ writes it
 * ("scale(float*, int)", "void fill<float>(float*, float)"), or without parameters ("scale"). The
 * values of its parameters are copied when it is launched. Their sizes follow from the name, if all
 * are pointers or numbers; other kernels need ringlet_host_kernel_sized. A name registered again
 * has the newer function.
 *
 * Exported by the host libcudart, and weak here: a library loads where there is none. */
__attribute__((weak)) void ringlet_host_kernel(const char* name,
                                               ringlet_host_kernel_function function);

/* As ringlet_host_kernel, with the size in bytes of each of `count` parameters (at most 1024): for
 * kernels of C, whose names do not tell, and parameters that are structures. */
__attribute__((weak)) void ringlet_host_kernel_sized(const char* name,
                                                     ringlet_host_kernel_function function,
                                                     const size_t* sizes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
