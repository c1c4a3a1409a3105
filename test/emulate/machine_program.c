/* Prints the facts of the machine from CUDA, its driver and NVML, one per line. `ringlet emulate
 * --machine` shows a machine; machines_test.py compares the lines with its file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_calls.h"

typedef void* Nvml;
struct NvmlPci {
  char short_address[16];
  unsigned domain, bus, device, id, subsystem;
  char address[32];
};
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlFabric {
  unsigned version;
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};
struct NvmlField {
  unsigned field, scope;
  long long timestamp, latency;
  int type, result;
  unsigned long long value;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByIndex_v2(unsigned, Nvml*);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, Nvml*);
int nvmlDeviceGetIndex(Nvml, unsigned*);
int nvmlDeviceGetName(Nvml, char*, unsigned);
int nvmlDeviceGetPciInfo_v3(Nvml, struct NvmlPci*);
int nvmlDeviceGetMemoryInfo(Nvml, struct NvmlMemory*);
int nvmlDeviceGetCudaComputeCapability(Nvml, int*, int*);
int nvmlDeviceGetCurrPcieLinkGeneration(Nvml, unsigned*);
int nvmlDeviceGetCurrPcieLinkWidth(Nvml, unsigned*);
int nvmlDeviceGetCpuAffinity(Nvml, unsigned, unsigned long*);
int nvmlDeviceGetMemoryAffinity(Nvml, unsigned, unsigned long*, unsigned);
int nvmlDeviceGetNvLinkState(Nvml, unsigned, unsigned*);
int nvmlDeviceGetNvLinkCapability(Nvml, unsigned, unsigned, unsigned*);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(Nvml, unsigned, struct NvmlPci*);
int nvmlDeviceGetNvLinkRemoteDeviceType(Nvml, unsigned, unsigned*);
int nvmlDeviceGetNvLinkVersion(Nvml, unsigned, unsigned*);
int nvmlDeviceGetP2PStatus(Nvml, Nvml, int, int*);
int nvmlDeviceGetTopologyCommonAncestor(Nvml, Nvml, unsigned*);
int nvmlDeviceGetGpuFabricInfoV(Nvml, struct NvmlFabric*);
int nvmlDeviceGetFieldValues(Nvml, int, struct NvmlField*);
int cuInit(unsigned);
int cuDeviceGetName(char*, int, int);
int cuDeviceCanAccessPeer(int*, int, int);

enum { kWords = 16, kNodeScope = 0, kLinksMax = 18, kNotSupported3 = 3 };

static void PrintDevice(int device) {
  struct DeviceProperties is;
  char text[96];
  int major = 0, minor = 0, processors = 0, numa = 0;
  size_t memory_free = 0, memory_total = 0;
  OK(cudaGetDeviceProperties(&is, device));
  printf("cuda %d name %s\n", device, is.name);
  OK(cuDeviceGetName(text, sizeof text, device));
  TRUE(strcmp(text, is.name) == 0);
  OK(cudaDeviceGetPCIBusId(text, sizeof text, device));
  printf("cuda %d pci %s\n", device, text);
  OK(cudaDeviceGetAttribute(&major, 75, device));
  OK(cudaDeviceGetAttribute(&minor, 76, device));
  OK(cudaDeviceGetAttribute(&processors, 16, device));
  OK(cudaDeviceGetAttribute(&numa, 134, device));
  printf("cuda %d capability %d%d\n", device, major, minor);
  printf("cuda %d processors %d\n", device, processors);
  printf("cuda %d numa %d\n", device, numa);
  OK(cudaSetDevice(device));
  OK(cudaMemGetInfo(&memory_free, &memory_total));
  printf("cuda %d memory %zu\n", device, memory_total);
  TRUE(memory_free > 0 && memory_free <= memory_total);
}

static void PrintManaged(Nvml device, unsigned number) {
  char text[96];
  struct NvmlPci pci;
  struct NvmlMemory memory;
  unsigned generation = 0, width = 0, index = 0;
  unsigned long mask[kWords];
  int major = 0, minor = 0, i;
  Nvml found = NULL;
  OK(nvmlDeviceGetName(device, text, sizeof text));
  printf("nvml %u name %s\n", number, text);
  OK(nvmlDeviceGetPciInfo_v3(device, &pci));
  printf("nvml %u pci %s\n", number, pci.address);
  printf("nvml %u ids %08x %08x\n", number, pci.id, pci.subsystem);
  OK(nvmlDeviceGetHandleByPciBusId_v2(pci.address, &found));
  OK(nvmlDeviceGetIndex(found, &index));
  TRUE(index == number);
  OK(nvmlDeviceGetMemoryInfo(device, &memory));
  printf("nvml %u memory %llu\n", number, memory.total);
  TRUE(memory.free + memory.used == memory.total);
  OK(nvmlDeviceGetCudaComputeCapability(device, &major, &minor));
  printf("nvml %u capability %d%d\n", number, major, minor);
  if (nvmlDeviceGetCurrPcieLinkGeneration(device, &generation) == 0)
    printf("nvml %u generation %u\n", number, generation);
  if (nvmlDeviceGetCurrPcieLinkWidth(device, &width) == 0)
    printf("nvml %u width %u\n", number, width);
  if (nvmlDeviceGetMemoryAffinity(device, kWords, mask, kNodeScope) == 0)
    for (i = 0; i < 64 * kWords; ++i)
      if (mask[i / 64] >> i % 64 & 1) printf("nvml %u numa %d\n", number, i);
  if (nvmlDeviceGetCpuAffinity(device, kWords, mask) == 0) {
    printf("nvml %u cpus ", number);
    for (i = kWords - 1; i >= 0; --i) printf("%016lx", mask[i]);
    printf("\n");
  }
}

static void PrintLinks(Nvml device, unsigned number) {
  unsigned link, active = 0, type = 0, able = 0, version = 0;
  struct NvmlPci remote;
  for (link = 0; link < kLinksMax; ++link) {
    struct NvmlField field = {.field = 165, .scope = link};
    if (nvmlDeviceGetNvLinkState(device, link, &active) != 0) continue;
    OK(nvmlDeviceGetNvLinkCapability(device, link, 0, &able));
    TRUE(able == active);
    OK(nvmlDeviceGetFieldValues(device, 1, &field));
    TRUE(field.result == 0 && field.value == active);
    OK(nvmlDeviceGetNvLinkVersion(device, link, &version));
    TRUE(version > 0);
    if (active == 0) {
      EXPECT(kNotSupported3, nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &remote));
      continue;
    }
    OK(nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &remote));
    OK(nvmlDeviceGetNvLinkRemoteDeviceType(device, link, &type));
    printf("link %u %u %s %u\n", number, link, remote.address, type);
  }
  TRUE(nvmlDeviceGetNvLinkState(device, kLinksMax, &active) != 0);
}

static void PrintFabric(Nvml device, unsigned number) {
  struct NvmlFabric fabric = {.version = sizeof fabric | 2 << 24};
  int i;
  if (nvmlDeviceGetGpuFabricInfoV(device, &fabric) != 0) return;
  printf("fabric %u %u %u ", number, fabric.state, fabric.clique);
  for (i = 0; i < 16; ++i) printf("%02x", fabric.cluster[i]);
  printf("\n");
  fabric.version = 1;
  EXPECT(25, nvmlDeviceGetGpuFabricInfoV(device, &fabric));
}

static void PrintPair(Nvml a, Nvml b, int from, int to) {
  int can = -1, can_driver = -1, rank = -1, atomics = -1, read = -1, nvlink = -1;
  unsigned level = 0;
  OK(cudaDeviceCanAccessPeer(&can, from, to));
  OK(cuDeviceCanAccessPeer(&can_driver, from, to));
  TRUE(can == can_driver);
  OK(cudaDeviceGetP2PAttribute(&rank, 1, from, to));
  OK(cudaDeviceGetP2PAttribute(&atomics, 3, from, to));
  OK(nvmlDeviceGetP2PStatus(a, b, 0, &read));
  OK(nvmlDeviceGetP2PStatus(a, b, 2, &nvlink));
  TRUE((read == 0) == (can == 1));
  TRUE((nvlink == 0) == (atomics == 1) && (nvlink == 0) == (rank == 0));
  OK(nvmlDeviceGetTopologyCommonAncestor(a, b, &level));
  printf("pair %d %d %d %d %u\n", from, to, can, nvlink == 0, level);
  OK(cudaSetDevice(from));
  EXPECT(can == 1 ? 0 : 217, cudaDeviceEnablePeerAccess(to, 0));
}

int main(void) {
  int count = 0, i, j;
  unsigned managed = 0;
  Nvml devices[64];
  OK(cuInit(0));
  OK(cudaGetDeviceCount(&count));
  OK(nvmlInit_v2());
  OK(nvmlDeviceGetCount_v2(&managed));
  TRUE((int)managed == count && count <= 64);
  for (i = 0; i < count; ++i) OK(nvmlDeviceGetHandleByIndex_v2((unsigned)i, &devices[i]));
  for (i = 0; i < count; ++i) {
    PrintDevice(i);
    PrintManaged(devices[i], (unsigned)i);
    PrintLinks(devices[i], (unsigned)i);
    PrintFabric(devices[i], (unsigned)i);
    for (j = 0; j < count; ++j)
      if (i != j) PrintPair(devices[i], devices[j], i, j);
  }
  OK(nvmlShutdown());
  return 0;
}
