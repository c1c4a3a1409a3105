/* Makes many calls of each kind, for cost_test.py to count their instructions. One thread holds
   both ranks, and makes the calls in an order in which none waits for the other rank. A batch fits
   the memory of the posts that a rank may be ahead. */
#include <dirent.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 100, kBatch = 16, kCalls = kRounds * kBatch };
static ncclComm_t comms[2];
static float one[512], other[512];

#define MEASURED __attribute__((noinline)) static void

static void Check(ncclResult_t result) {
  if (result == ncclSuccess) return;
  fprintf(stderr, "%s\n", ncclGetLastError(NULL));
  exit(1);
}

static void BroadcastAt(int rank, size_t count) {
  float* const data = rank == 0 ? one : other;
  for (int i = 0; i < kBatch; ++i)
    Check(ncclBroadcast(data, data, count, ncclFloat, 0, comms[rank], NULL));
}
MEASURED BroadcastRoot8(void) {
  BroadcastAt(0, 2);
}
MEASURED BroadcastReceiver8(void) {
  BroadcastAt(1, 2);
}
MEASURED BroadcastRoot2048(void) {
  BroadcastAt(0, 512);
}
MEASURED BroadcastReceiver2048(void) {
  BroadcastAt(1, 512);
}

MEASURED BroadcastRootInGroup8(void) {
  for (int i = 0; i < kBatch; ++i) {
    Check(ncclGroupStart());
    Check(ncclBroadcast(one, one, 2, ncclFloat, 0, comms[0], NULL));
    Check(ncclGroupEnd());
  }
}

MEASURED Send8(void) {
  for (int i = 0; i < kBatch; ++i) Check(ncclSend(one, 2, ncclFloat, 1, comms[0], NULL));
}
MEASURED Receive8(void) {
  for (int i = 0; i < kBatch; ++i) Check(ncclRecv(other, 2, ncclFloat, 0, comms[1], NULL));
}

/* Rank 1 has sent before, so each group receives at once. */
MEASURED SendAndReceive8(void) {
  for (int i = 0; i < kBatch; ++i) {
    Check(ncclGroupStart());
    Check(ncclSend(one, 2, ncclFloat, 1, comms[0], NULL));
    Check(ncclRecv(one + 2, 2, ncclFloat, 1, comms[0], NULL));
    Check(ncclGroupEnd());
  }
}
static void Exchange(void) {
  for (int i = 0; i < kBatch; ++i) Check(ncclSend(other, 2, ncclFloat, 0, comms[1], NULL));
  SendAndReceive8();
  for (int i = 0; i < kBatch; ++i) Check(ncclRecv(other + 2, 2, ncclFloat, 0, comms[1], NULL));
}

MEASURED AllReduceOfBothRanks8(void) {
  for (int i = 0; i < kBatch; ++i) {
    Check(ncclGroupStart());
    Check(ncclAllReduce(one, one + 2, 2, ncclFloat, ncclSum, comms[0], NULL));
    Check(ncclAllReduce(other, other + 2, 2, ncclFloat, ncclSum, comms[1], NULL));
    Check(ncclGroupEnd());
  }
}

static void CallAll(int with_messages) {
  BroadcastRoot8();
  BroadcastReceiver8();
  BroadcastRoot2048();
  BroadcastReceiver2048();
  BroadcastRootInGroup8();
  BroadcastAt(1, 2);
  AllReduceOfBothRanks8();
  if (!with_messages) return;
  Send8();
  Receive8();
  Exchange();
}

static int EntriesOf(const char* folder) {
  int entries = -2; /* "." and ".." */
  DIR* const open = opendir(folder);
  if (!open) exit(1);
  while (readdir(open)) ++entries;
  closedir(open);
  return entries;
}

/* calls [messages]: a message between ranks of one process waits for its receiver, so messages need
   RINGLET_LINKS=shm. */
int main(int count, char** arguments) {
  const int with_messages = count > 1 && strcmp(arguments[1], "messages") == 0;
  const int descriptors = EntriesOf("/proc/self/fd");
  Check(ncclCommInitAll(comms, 2, NULL));
  for (int round = 0; round < kRounds; ++round) CallAll(with_messages);
  printf("calls %d\n", kCalls);
  printf("descriptors %d\n", EntriesOf("/proc/self/fd") - descriptors);
  printf("threads %d\n", EntriesOf("/proc/self/task") - 1);
  for (int rank = 0; rank < 2; ++rank) Check(ncclCommDestroy(comms[rank]));
  return 0;
}
