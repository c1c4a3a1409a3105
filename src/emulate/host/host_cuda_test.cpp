#include "emulate/host/host_cuda.hpp"

#include <gmock/gmock.h>

#include <iterator>
#include <thread>

#include "ringlet/kernel.h"
#include "topo/edit/synthetic.hpp"

namespace ringlet::cuda {
namespace {

using testing::HasSubstr;

Emulation Machine(std::uint32_t devices) {
  Emulation machine;
  machine.machine = MachineFacts::Plain(devices, 0);
  machine.memory_bytes = kMemoryMin;
  return machine;
}

TEST(HostCudaTest, VisibleDevicesAreRenumbered) {
  const HostCuda host(Machine(4), {3, 1});
  EXPECT_EQ(host.devices(), 2u);
  EXPECT_EQ(host.machine().devices(), 4u);
  EXPECT_EQ(host.GlobalNumber(0), 3u);
  EXPECT_EQ(host.GlobalNumber(1), 1u);
}

TEST(HostCudaTest, PeerAccessIsEnabledPerDirection) {
  HostCuda host(Machine(2), {0, 1});
  EXPECT_EQ(host.DisablePeer(0, 1).code, CudaCode::kPeerAccessNotEnabled);
  EXPECT_TRUE(host.EnablePeer(0, 1).ok());
  EXPECT_EQ(host.EnablePeer(0, 1).code, CudaCode::kPeerAccessAlreadyEnabled);
  EXPECT_TRUE(host.EnablePeer(1, 0).ok());
  EXPECT_TRUE(host.DisablePeer(0, 1).ok());
  EXPECT_EQ(host.EnablePeer(0, 0).code, CudaCode::kInvalidDevice);
  EXPECT_EQ(host.EnablePeer(0, 2).code, CudaCode::kInvalidDevice);
}

TEST(HostCudaTest, PeerAccessNeedsAPathBetweenDevices) {
  Emulation emulation = Machine(3);
  emulation.machine =
      MachineFacts::Of(topology::ParseSynthetic("2x(numa: 2 gpu a100-pcie pairs)").value(), 0)
          .value();
  HostCuda host(emulation, {1, 2, 3});
  EXPECT_EQ(host.Peer(1, 2), PeerPath::kNvLink);
  EXPECT_TRUE(host.EnablePeer(1, 2).ok());
  EXPECT_EQ(host.EnablePeer(0, 1).code, CudaCode::kPeerAccessUnsupported);
}

TEST(HostCudaTest, ReportsTheModelsTotalAndTheComputersFreeMemory) {
  Emulation emulation = Machine(2);
  emulation.machine = MachineFacts::Of(topology::ParseSynthetic("2 gpu a10g").value(), 0).value();
  const HostCuda limited(emulation, {1});
  EXPECT_EQ(limited.InfoOf(1).total, kMemoryMin);
  emulation.memory_of_model = true;
  const HostCuda host(emulation, {1});
  for (const std::uint32_t number : {0u, 1u}) {
    EXPECT_EQ(host.InfoOf(number).total, std::uint64_t{24} << 30);
    EXPECT_EQ(host.InfoOf(number).free, kMemoryMin);
  }
}

TEST(HostCudaTest, CountsAllocatedMemoryPerDevice) {
  HostCuda host(Machine(2), {1});
  ASSERT_TRUE(host.memory().AllocateDevice(0, 4096).ok());
  EXPECT_EQ(host.AllocatedOn(0), 0u);
  EXPECT_GE(host.AllocatedOn(1), 4096u);
  EXPECT_EQ(host.InfoOf(1).free, kMemoryMin - host.AllocatedOn(1));
}

TEST(HostCudaTest, PrintsEachNoteOnce) {
  HostCuda host(Machine(1), {0});
  testing::internal::CaptureStderr();
  host.PrintOnce("first");
  host.PrintOnce("first");
  host.PrintOnce("second");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ringlet emulate: first\nringlet emulate: second\n");
}

TEST(HostCudaTest, PrintsRefusalsOnlyInVerboseMode) {
  Emulation loud = Machine(1);
  loud.verbose = true;
  HostCuda host(loud, {0}), quiet(Machine(1), {0});
  testing::internal::CaptureStderr();
  host.Note("cudaFree", {CudaCode::kInvalidValue, "why"});
  host.Note("cudaEventQuery", {CudaCode::kNotReady, ""});
  quiet.Note("cudaFree", {CudaCode::kInvalidValue, "why"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ringlet emulate: cudaFree: cudaErrorInvalidValue: why\n");
}

TEST(HostCudaTest, NamesAKernelLibraryThatDoesNotLoad) {
  Emulation machine = Machine(1);
  machine.kernels = {"/nowhere/kernels.so"};
  HostCuda host(machine, {0});
  testing::internal::CaptureStderr();
  static_cast<void>(host.kernels());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("/nowhere/kernels.so"));
}

void Nothing(const ringlet_host_kernel_arguments*) {}

TEST(HostCudaTest, AKernelLibraryRegistersParameterSizes) {
  const int stub = 0;
  const std::size_t sizes[] = {24, 1};
  ringlet_host_kernel_sized("of_a_library", Nothing, sizes, std::size(sizes));
  Host().kernels_as_they_are().Bind(&stub, "of_a_library");
  const auto found = Host().kernels_as_they_are().Find(&stub);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->run, Nothing);
  EXPECT_THAT(found->parameters, testing::ElementsAre(24, 1));
}

TEST(LastErrorTest, BelongsToItsThreadAndIsTakenOnce) {
  SetLastError(CudaCode::kInvalidValue);
  SetLastError(CudaCode::kSuccess);  // does not reset it
  EXPECT_EQ(LastError(), CudaCode::kInvalidValue);
  CudaCode other = CudaCode::kUnknown;
  std::thread([&] { other = LastError(); }).join();
  EXPECT_EQ(other, CudaCode::kSuccess);
  EXPECT_EQ(TakeLastError(), CudaCode::kInvalidValue);
  EXPECT_EQ(TakeLastError(), CudaCode::kSuccess);
}

}  // namespace
}  // namespace ringlet::cuda
