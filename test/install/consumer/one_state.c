/* A process with two names of Ringlet, linked as libringlet.so.0 and loaded as libnccl.so.2, has
 * one Ringlet: groups, communicators and errors of one name are those of the other. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* library;

static void Check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "not so: %s; the last error: %s\n", what, ncclGetLastError(NULL));
  exit(1);
}

/* Finds the function `name` as a program that only knows libnccl.so.2 does. */
static void* Loaded(const char* name) {
  void* address = dlsym(library, name);
  Check(address != NULL, name);
  return address;
}

#define LOADED(name) ((__typeof__(&name))Loaded(#name))

int main(void) {
  ncclUniqueId id;
  ncclComm_t comm[2] = {NULL, NULL};
  const int in[2] = {1, 41};
  int out[2] = {0, 0};
  int count = 0;

  library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  Check(LOADED(ncclCommInitRank) != ncclCommInitRank, "the loaded library is another one");

  Check(LOADED(ncclCommCount)(NULL, &count) == ncclInvalidArgument, "no communicator, an error");
  Check(strcmp(ncclGetLastError(NULL), LOADED(ncclGetLastError)(NULL)) == 0, "one last error");
  Check(strlen(ncclGetLastError(NULL)) > 0, "the last error is a sentence");

  Check(ncclGetUniqueId(&id) == ncclSuccess, "an id");
  Check(ncclGroupStart() == ncclSuccess, "a group");
  Check(ncclCommInitRank(&comm[0], 2, id, 0) == ncclSuccess, "rank 0");
  Check(LOADED(ncclCommInitRank)(&comm[1], 2, id, 1) == ncclSuccess, "rank 1, in the same group");
  Check(LOADED(ncclGroupEnd)() == ncclSuccess, "the group ends by the other name");

  Check(LOADED(pncclGroupStart)() == ncclSuccess, "a group by the twin's name");
  Check(pncclAllReduce(&in[0], &out[0], 1, ncclInt, ncclSum, comm[0], NULL) == ncclSuccess,
        "rank 0");
  Check(LOADED(ncclAllReduce)(&in[1], &out[1], 1, ncclInt, ncclSum, comm[1], NULL) == ncclSuccess,
        "rank 1 joins");
  Check(ncclGroupEnd() == ncclSuccess, "the all-reduce");
  Check(out[0] == 42 && out[1] == 42, "sums of both ranks");

  Check(LOADED(ncclCommDestroy)(comm[0]) == ncclSuccess, "destroyed by the other name");
  Check(ncclCommDestroy(comm[1]) == ncclSuccess, "destroyed");
  return 0;
}
