/* Host functions for the kernels of kernel_program.c, for `ringlet emulate --kernels`. */
#include <ringlet/kernel.h>

struct Pair {
  float a, b;
};

static void Scale(const ringlet_host_kernel_arguments* launch) {
  float* const values = *(float**)launch->arguments[0];
  const int count = *(int*)launch->arguments[1];
  for (int i = 0; i < count; i++) values[i] *= 2;
}

static void Fill(const ringlet_host_kernel_arguments* launch) {
  float* const values = *(float**)launch->arguments[0];
  const struct Pair pair = *(struct Pair*)launch->arguments[1];
  for (int i = 0; i < 4; i++) values[i] = i % 2 == 0 ? pair.a : pair.b;
}

__attribute__((constructor)) static void RegisterFunctions(void) {
  const size_t sizes[] = {sizeof(float*), sizeof(struct Pair)};
  ringlet_host_kernel("scale(float*, int)", Scale);
  ringlet_host_kernel_sized("fill", Fill, sizes, 2);
}
