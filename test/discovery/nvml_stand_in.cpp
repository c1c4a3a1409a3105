// Stands in for NVIDIA's management library, libnvidia-ml.so.1. It plays the machine in a text
// file, in the form of src/core/discovery/gpus.hpp.
//
//   NVML_STAND_IN       the file
//   NVML_STAND_IN_FAIL  "nvmlDeviceGetName=999": calls of that function end with that code
//   NVML_STAND_IN_NOW   "1 4": the present PCIe generation and width, if they differ
//
// Compiled with NVML_STAND_IN_OLD it has only the functions of a driver of 2016. With
// NVML_STAND_IN_BARE as well, it has hardly more than the minimum of every driver; with
// NVML_STAND_IN_PARTIAL, less than that. The interface (names, layouts, numbers) is NVML's
// published one; no part is copied from NVIDIA.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Link {
  std::string target;
};
struct StandInGpu {
  std::string bus, name;
  int sm = 0;
  unsigned generation = 0, width = 0, vendor = 0, device = 0;
  std::vector<Link> links;
  unsigned c2c_count = 0, c2c_speed = 0;
  std::uint64_t cluster[2] = {0, 0};
  unsigned clique = 0;
};

std::vector<StandInGpu>& StandInGpus() {
  static std::vector<StandInGpu> machines;
  return machines;
}
int users = 0;
std::string driver;

unsigned Number(std::istream& in) {
  std::string text;
  in >> text;
  return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 0));
}

void ReadLine(const std::string& line) {
  std::istringstream in(line);
  std::string kind, word;
  in >> kind;
  if (kind == "driver") in >> std::quoted(driver);
  if (kind != "gpu" && kind != "nvlink" && kind != "c2c" && kind != "fabric") return;
  const unsigned index = Number(in);
  if (index >= StandInGpus().size()) StandInGpus().resize(index + 1);
  StandInGpu& gpu = StandInGpus()[index];
  if (kind == "gpu") {
    in >> word >> gpu.bus >> word >> gpu.sm >> word;
    gpu.generation = Number(in);
    gpu.width = Number(in);
    in >> word;
    gpu.vendor = Number(in);
    in >> word;
    gpu.device = Number(in);
    in >> word >> std::quoted(gpu.name);
  } else if (kind == "nvlink") {
    in >> word;
    const unsigned count = Number(in);
    in >> word >> word;
    gpu.links.insert(gpu.links.end(), count, Link{word});
  } else if (kind == "c2c") {
    in >> word;
    gpu.c2c_count = Number(in);
    in >> word;
    gpu.c2c_speed = Number(in);
  } else {
    in >> word;
    for (std::uint64_t& half : gpu.cluster) {
      in >> word;
      half = std::strtoull(word.c_str(), nullptr, 0);
    }
    in >> word;
    gpu.clique = Number(in);
  }
}

int Injected(const char* function) {
  const char* const fail = std::getenv("NVML_STAND_IN_FAIL");
  const std::size_t length = std::strlen(function);
  if (fail == nullptr || std::strncmp(fail, function, length) != 0 || fail[length] != '=') return 0;
  return std::atoi(fail + length + 1);
}

int Load() {
  if (users++ > 0) return 0;
  const char* const path = std::getenv("NVML_STAND_IN");
  std::ifstream in(path == nullptr ? "" : path);
  StandInGpus().clear();
  for (std::string line; std::getline(in, line);) ReadLine(line);
  if (in.is_open() && in.eof()) return 0;
  users = 0;
  return 9;  // driver not loaded
}

StandInGpu* At(void* handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  return users > 0 && number >= 1 && number <= StandInGpus().size() ? &StandInGpus()[number - 1]
                                                                    : nullptr;
}

struct OldPci {
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem, reserved[4];
};
struct Pci {
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem;
  char id[32];
};

template <typename P>
int Fill(P* out, const std::string& bus, unsigned ids) {
  std::memset(out, 0, sizeof *out);
  unsigned function = 0;
  if (std::sscanf(bus.c_str(), "%x:%x:%x.%x", &out->domain, &out->bus, &out->device, &function) !=
      4)
    return 0;  // hidden: the call succeeds without a value
  std::snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.%X", out->domain & 0xffff,
                out->bus & 0xff, out->device & 0x1f, function & 7);
  out->ids = ids;
  if constexpr (sizeof(P) == sizeof(Pci))
    std::snprintf(out->id, sizeof out->id, "%08X:%02X:%02X.%X", out->domain, out->bus & 0xff,
                  out->device & 0x1f, function & 7);
  return 0;
}

struct Field {
  unsigned id, scope;
  long long timestamp, latency;
  int type, result;
  union {
    double real;
    unsigned number;
    unsigned long long wide;
  } value;
};
struct Fabric {
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
};
struct Fabric2 {
  unsigned version;
  Fabric info;
  unsigned health;
};
static_assert(sizeof(Pci) == 68 && sizeof(OldPci) == 52 && sizeof(Field) == 40);
static_assert(sizeof(Fabric) == 28 && sizeof(Fabric2) == 36);

[[maybe_unused]] int FillFabric(const StandInGpu& gpu, Fabric& out) {
  if (gpu.cluster[0] == 0 && gpu.cluster[1] == 0) return 3;
  for (int i = 0; i < 16; ++i)
    out.cluster[i] = static_cast<unsigned char>(gpu.cluster[i / 8] >> (56 - 8 * (i % 8)));
  out.status = 0;
  out.clique = gpu.clique;
  out.state = 3;
  return 0;
}

[[maybe_unused]] void FillField(const StandInGpu& gpu, Field& field) {
  field.type = 1;
  field.result = 0;
  switch (field.id) {
    case 165: field.value.number = field.scope < gpu.links.size(); break;
    case 170:
      field.type = 5;  // signed, as some fields are
      field.value.number = gpu.c2c_count;
      break;
    case 171: field.value.number = 1; break;
    case 172:
      field.type = 3;
      field.value.wide = gpu.c2c_speed;
      break;
    default: field.result = 3;
  }
}

[[maybe_unused]] unsigned Now(unsigned which, unsigned otherwise) {
  const char* const text = std::getenv("NVML_STAND_IN_NOW");
  unsigned now[2] = {0, 0};
  if (text == nullptr || std::sscanf(text, "%u %u", &now[0], &now[1]) != 2) return otherwise;
  return now[which];
}

}  // namespace

#define STAND_IN extern "C" __attribute__((visibility("default")))
#define BEGIN(function) \
  if (const int code = Injected(#function)) return code
#define BEGIN_AT(function)                  \
  BEGIN(function);                          \
  const StandInGpu* const gpu = At(device); \
  if (gpu == nullptr) return 2

STAND_IN int nvmlInit() {
  BEGIN(nvmlInit);
  return Load();
}
STAND_IN int nvmlShutdown() {
  if (users == 0) return 1;
  --users;
  return 0;
}
STAND_IN int nvmlDeviceGetCount(unsigned* out) {
  BEGIN(nvmlDeviceGetCount);
  *out = static_cast<unsigned>(StandInGpus().size());
  return 0;
}
STAND_IN int nvmlDeviceGetHandleByIndex(unsigned index, void** out) {
  BEGIN(nvmlDeviceGetHandleByIndex);
  if (index >= StandInGpus().size()) return 2;
  *out = reinterpret_cast<void*>(std::uintptr_t{index} + 1);
  return 0;
}
#ifndef NVML_STAND_IN_PARTIAL
STAND_IN int nvmlDeviceGetPciInfo(void* device, OldPci* out) {
  BEGIN_AT(nvmlDeviceGetPciInfo);
  return Fill(out, gpu->bus, gpu->device << 16 | gpu->vendor);
}
#endif
STAND_IN int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  BEGIN_AT(nvmlDeviceGetCudaComputeCapability);
  *major = gpu->sm / 10;
  *minor = gpu->sm % 10;
  return 0;
}

#ifndef NVML_STAND_IN_BARE
STAND_IN const char* nvmlErrorString(int code) {
  return code == 9 ? "Driver Not Loaded" : code == 15 ? "GPU is lost" : "Unknown Error";
}
STAND_IN int nvmlSystemGetDriverVersion(char* out, unsigned bytes) {
  BEGIN(nvmlSystemGetDriverVersion);
  std::snprintf(out, bytes, "%s", driver.c_str());
  return 0;
}
STAND_IN int nvmlDeviceGetName(void* device, char* out, unsigned bytes) {
  BEGIN_AT(nvmlDeviceGetName);
  std::snprintf(out, bytes, "%s", gpu->name.c_str());
  return 0;
}
STAND_IN int nvmlDeviceGetCurrPcieLinkGeneration(void* device, unsigned* out) {
  BEGIN_AT(nvmlDeviceGetCurrPcieLinkGeneration);
  *out = Now(0, gpu->generation);
  return 0;
}
STAND_IN int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* out) {
  BEGIN_AT(nvmlDeviceGetCurrPcieLinkWidth);
  *out = Now(1, gpu->width);
  return 0;
}
STAND_IN int nvmlDeviceGetNvLinkCapability(void* device, unsigned link, unsigned, unsigned* out) {
  BEGIN_AT(nvmlDeviceGetNvLinkCapability);
  if (link >= gpu->links.size()) return 3;
  *out = 1;
  return 0;
}
STAND_IN int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* out) {
  BEGIN_AT(nvmlDeviceGetNvLinkState);
  if (link >= gpu->links.size()) return 3;
  *out = 1;
  return 0;
}
STAND_IN int nvmlDeviceGetNvLinkRemotePciInfo(void* device, unsigned link, OldPci* out) {
  BEGIN_AT(nvmlDeviceGetNvLinkRemotePciInfo);
  return link < gpu->links.size() ? Fill(out, gpu->links[link].target, 0) : 3;
}
#endif

#ifndef NVML_STAND_IN_OLD
STAND_IN int nvmlInit_v2() {
  BEGIN(nvmlInit_v2);
  return Load();
}
STAND_IN int nvmlDeviceGetCount_v2(unsigned* out) {
  BEGIN(nvmlDeviceGetCount_v2);
  return nvmlDeviceGetCount(out);
}
STAND_IN int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) {
  BEGIN(nvmlDeviceGetHandleByIndex_v2);
  return nvmlDeviceGetHandleByIndex(index, out);
}
STAND_IN int nvmlDeviceGetPciInfo_v3(void* device, Pci* out) {
  BEGIN_AT(nvmlDeviceGetPciInfo_v3);
  return Fill(out, gpu->bus, gpu->device << 16 | gpu->vendor);
}
STAND_IN int nvmlDeviceGetMaxPcieLinkGeneration(void* device, unsigned* out) {
  BEGIN_AT(nvmlDeviceGetMaxPcieLinkGeneration);
  *out = gpu->generation;
  return 0;
}
STAND_IN int nvmlDeviceGetMaxPcieLinkWidth(void* device, unsigned* out) {
  BEGIN_AT(nvmlDeviceGetMaxPcieLinkWidth);
  *out = gpu->width;
  return 0;
}
STAND_IN int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned link, Pci* out) {
  BEGIN_AT(nvmlDeviceGetNvLinkRemotePciInfo_v2);
  return link < gpu->links.size() ? Fill(out, gpu->links[link].target, 0) : 3;
}
STAND_IN int nvmlDeviceGetFieldValues(void* device, int count, Field* fields) {
  BEGIN_AT(nvmlDeviceGetFieldValues);
  for (int i = 0; i < count; ++i) FillField(*gpu, fields[i]);
  return 0;
}
STAND_IN int nvmlDeviceGetGpuFabricInfo(void* device, Fabric* out) {
  BEGIN_AT(nvmlDeviceGetGpuFabricInfo);
  return FillFabric(*gpu, *out);
}
STAND_IN int nvmlDeviceGetGpuFabricInfoV(void* device, Fabric2* out) {
  BEGIN_AT(nvmlDeviceGetGpuFabricInfoV);
  if (out->version != (sizeof(Fabric2) | 2u << 24)) return 2;
  return FillFabric(*gpu, out->info);
}
#endif
