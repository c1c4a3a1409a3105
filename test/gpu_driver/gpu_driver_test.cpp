// Calls NCCL's functions in a program with NVIDIA's driver loaded: memory and streams of a GPU. The
// device memory here is the test's own, so the test notices a call that is not refused.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <array>

#include "c_api/comms_for_test.hpp"
#include "c_api/streams_for_test.hpp"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

enum MemoryType : unsigned { kOfHost = 1, kOfDevice = 2 };

class Driver {
 public:
  explicit Driver(const char* path) : library_(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) ADD_FAILURE() << ::dlerror();
  }
  ~Driver() { ::dlclose(library_); }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  template <typename Memory>
  void Know(const Memory& memory, MemoryType type, bool managed = false) const {
    using Function = void(const void*, unsigned long long, unsigned, unsigned);
    auto* const know = reinterpret_cast<Function*>(::dlsym(library_, "StandInMemory"));
    ASSERT_NE(know, nullptr);
    know(&memory, sizeof memory, type, managed ? 1 : 0);
  }

 private:
  void* library_;
};

/// A communicator of one rank.
class One {
 public:
  One() : comms_(InitAll(1)) {}
  ~One() { DestroyAll(comms_); }
  One(const One&) = delete;
  One& operator=(const One&) = delete;

  ncclResult_t Sum(const float* from, float* to, ringletStream_t stream = nullptr) const {
    return ncclAllReduce(from, to, 1, ncclFloat, ncclSum, comms_[0], AsCuda(stream));
  }
  ncclComm_t get() const { return comms_[0]; }

 private:
  Comms comms_;
};

// Runs before the real driver, which stays in the process.
TEST(GpuDriver, MemoryOfTheEmulationIsHostMemory) {
  const Driver driver(CUDA_EMULATED);
  float data = 1;
  driver.Know(data, kOfDevice);
  EXPECT_EQ(One().Sum(&data, &data), ncclSuccess) << LastMessage();
}

TEST(GpuDriver, TheNextCommunicatorDetectsTheDriver) {
  const One before;
  const Driver driver(CUDA_REAL);
  float data = 1;
  driver.Know(data, kOfDevice);
  const One after;
  EXPECT_EQ(after.Sum(&data, &data), ncclInvalidArgument);
  EXPECT_EQ(before.Sum(&data, &data), ncclInvalidArgument) << "it is found for all";
}

TEST(GpuDriver, RefusesMemoryOfAGpu) {
  const Driver driver(CUDA_REAL);
  const One one;
  float host = 1;
  alignas(NCCL_WIN_REQUIRED_ALIGNMENT) std::array<float, 4> device = {};
  driver.Know(device, kOfDevice);
  const auto refused = [](ncclResult_t result, const std::string& name) {
    EXPECT_EQ(result, ncclInvalidArgument) << name;
    EXPECT_THAT(LastMessage(), HasSubstr(name + " is memory of a GPU; Ringlet moves CPU memory: "
                                                "copy it to the host first, or use "
                                                "cudaMallocHost"));
  };
  refused(one.Sum(device.data(), &host), "sendbuff");
  refused(one.Sum(&host, &device[3]), "recvbuff");
  refused(ncclSend(device.data(), 1, ncclFloat, 0, one.get(), nullptr), "sendbuff");
  refused(ncclRecv(device.data(), 1, ncclFloat, 0, one.get(), nullptr), "recvbuff");
  void* handle = nullptr;
  refused(ncclCommRegister(one.get(), device.data(), sizeof device, &handle), "buff");
  ncclWindow_t window = nullptr;
  refused(ncclCommWindowRegister(one.get(), device.data(), sizeof device, &window, 0), "buff");
  ncclRedOp_t op = ncclSum;
  refused(ncclRedOpCreatePreMulSum(&op, device.data(), ncclFloat, ncclScalarDevice, one.get()),
          "scalar");
  EXPECT_EQ(ncclAllReduce(device.data(), device.data(), 0, ncclFloat, ncclSum, one.get(), nullptr),
            ncclSuccess)
      << "nothing of it is read";
}

TEST(GpuDriver, AcceptsMemoryThatCpusCanRead) {
  const Driver driver(CUDA_REAL);
  const One one;
  float data = 1;
  driver.Know(data, kOfHost);
  EXPECT_EQ(one.Sum(&data, &data), ncclSuccess) << "cudaMallocHost: " << LastMessage();
  driver.Know(data, kOfDevice, true);
  EXPECT_EQ(one.Sum(&data, &data), ncclSuccess) << "cudaMallocManaged: " << LastMessage();
}

// They are not Ringlet's of the same numbers: a call on those would wait at the gates.
TEST(GpuDriver, CallsOnItsSpecialStreamsAreCompleteOnReturn) {
  const Driver driver(CUDA_REAL);
  const One one;
  for (const ringletStream_t stream : {ringletStreamLegacy, ringletStreamPerThread}) {
    StreamGate gate;
    gate.Hold(stream);
    const float from = 7;
    float to = 0;
    EXPECT_EQ(one.Sum(&from, &to, stream), ncclSuccess) << LastMessage();
    EXPECT_EQ(to, 7);
    gate.Open();
    EXPECT_EQ(ringletStreamSynchronize(stream), ringletSuccess);
  }
}

}  // namespace
}  // namespace ringlet::c_api
