// Tests the reader of NVML with a library of the same interface that plays machines.
#include <gmock/gmock.h>

#include "discovery/nvml.hpp"
#include "machine.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::discovery {
namespace {

using os::TempTree;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

// Eight V100: six links each, to four neighbours.
constexpr char kCubeMesh[] = R"(ringlet-gpus 1
driver "470.57"
gpu 0 bus 0000:06:00.0 sm 70 pcie 3 16 vendor 0x10de device 0x1db5 name "Tesla V100"
nvlink 0 count 1 target 0000:07:00.0
nvlink 0 count 1 target 0000:0a:00.0
nvlink 0 count 2 target 0000:0b:00.0
nvlink 0 count 2 target 0000:85:00.0
gpu 1 bus 0000:07:00.0 sm 70 pcie 3 16 vendor 0x10de device 0x1db5 name "Tesla V100"
nvlink 1 count 6 target 0000:06:00.0
)";

// Two Hoppers below four switches, one of them visible; in a domain of many hosts.
constexpr char kSwitched[] = R"(ringlet-gpus 1
driver "550.90"
gpu 0 bus 0000:05:00.0 sm 90 pcie 5 16 vendor 0x10de device 0x2335 name "NVIDIA H200"
nvlink 0 count 5 target 0000:c5:00.0
nvlink 0 count 13 target hidden
c2c 0 count 10 mb_per_s 44712
fabric 0 cluster 0x0123456789abcdef 0xfedcba9876543210 clique 32766
gpu 1 bus 10000:06:00.0 sm 103 pcie 6 8 vendor 0x10de device 0x2901 name "NVIDIA B300 MLOPart1"
nvlink 1 count 18 target hidden
)";

constexpr char kLinkless[] = R"(ringlet-gpus 1
driver "535.1"
gpu 0 bus 0000:00:1e.0 sm 86 pcie 4 8 vendor 0x10de device 0x2237 name "NVIDIA A10G"
)";

class NvmlStandInTest : public testing::Test {
 protected:
  Result<GpuReport> Read(const char* machine, const char* library = NVML_NEW) {
    tree_.Write("machine", machine);
    const Variable file("NVML_STAND_IN", tree_.At("machine"));
    return Nvml(library).Read();
  }
  Result<GpuReport> ReadFailing(const char* machine, const std::string& function, int code) {
    const Variable fail("NVML_STAND_IN_FAIL", function + "=" + std::to_string(code));
    return Read(machine);
  }
  TempTree tree_;
};

TEST_F(NvmlStandInTest, ReadsEveryMachineAsWritten) {
  for (const char* machine : {kCubeMesh, kSwitched, kLinkless}) {
    const GpuReport report = Read(machine).value();
    EXPECT_EQ(ToText(report), machine);
    EXPECT_THAT(report.missing, IsEmpty());
  }
}

TEST_F(NvmlStandInTest, ReadsTheKnownFactsOfAnOldDriver) {
  GpuReport report = Read(kCubeMesh, NVML_OLD).value();
  EXPECT_EQ(ToText(report), kCubeMesh);
  EXPECT_THAT(report.missing, IsEmpty());
  report = Read(kSwitched, NVML_OLD).value();
  ASSERT_EQ(report.gpus.size(), 2u);
  EXPECT_EQ(report.gpus[0].links.size(), 2u);
  EXPECT_THAT(report.gpus[0].c2c, IsEmpty());
  EXPECT_EQ(report.gpus[0].fabric, std::nullopt);
}

constexpr char kBeforeNvLink[] = R"(ringlet-gpus 1
gpu 0 bus 0000:06:00.0 sm 52 pcie 3 16 vendor 0x10de device 0x17c2 name "GTX TITAN X"
)";

TEST_F(NvmlStandInTest, ReadsBasicFactsOfABareDriver) {
  const GpuReport report = Read(kCubeMesh, NVML_BARE).value();
  ASSERT_EQ(report.gpus.size(), 2u);
  const GpuReading& gpu = report.gpus[1];
  EXPECT_EQ(gpu.index, 1u);
  EXPECT_EQ(gpu.bus, topology::BusId{0x7000});
  EXPECT_EQ(gpu.compute_capability, 70u);
  EXPECT_EQ(report.driver + gpu.name, "");
  EXPECT_EQ(gpu.pcie_generation + gpu.pcie_width, 0);
  EXPECT_THAT(gpu.links, IsEmpty());
  EXPECT_EQ(report.missing.size(), 2u);
  EXPECT_THAT(report.missing, Each(HasSubstr("too old to report the NVLinks")));
  EXPECT_THAT(Read(kBeforeNvLink, NVML_BARE).value().missing, IsEmpty());
}

TEST_F(NvmlStandInTest, PrintsTheNumberOfAnErrorWithoutText) {
  const Variable file("NVML_STAND_IN", tree_.At("none"));
  EXPECT_THAT(Nvml(NVML_BARE).Read().error().message, HasSubstr("error 9"));
}

TEST_F(NvmlStandInTest, RefusesALibraryThatLacksARequiredFunction) {
  const auto report = Read(kLinkless, NVML_PARTIAL);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, Code::kUnsupported);
}

TEST_F(NvmlStandInTest, ReadsTheMaximumSpeedAndTheCurrentWidth) {
  const Variable now("NVML_STAND_IN_NOW", "1 4");
  const GpuReport report = Read(kLinkless).value();
  EXPECT_EQ(report.gpus[0].pcie_generation, 4);
  EXPECT_EQ(report.gpus[0].pcie_width, 4);
}

TEST_F(NvmlStandInTest, WithoutADriverReadingFails) {
  const Variable file("NVML_STAND_IN", tree_.At("none"));
  const auto report = Nvml(NVML_NEW).Read();
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, Code::kSystem);
  EXPECT_THAT(report.error().message, HasSubstr("Driver Not Loaded"));
}

TEST_F(NvmlStandInTest, ADriverWithoutGpusGivesAnEmptyList) {
  EXPECT_THAT(Read("ringlet-gpus 1\n").value().gpus, IsEmpty());
}

TEST_F(NvmlStandInTest, OmitsAndReportsAGpuWithoutAnAddress) {
  for (const char* function : {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetPciInfo_v3"}) {
    const GpuReport report = ReadFailing(kSwitched, function, 15).value();
    EXPECT_THAT(report.gpus, IsEmpty()) << function;
    EXPECT_EQ(report.missing.size(), 2u);
    EXPECT_THAT(report.missing, Each(HasSubstr("GPU is lost"))) << function;
  }
  const GpuReport none = ReadFailing(kSwitched, "nvmlDeviceGetCount_v2", 999).value();
  EXPECT_THAT(none.missing, Contains(HasSubstr("the number of GPUs")));
}

TEST_F(NvmlStandInTest, AnyOtherFailureOmitsOnlyItsFact) {
  for (const auto& [function, told] :
       {std::pair("nvmlDeviceGetCudaComputeCapability", "compute capability"),
        {"nvmlDeviceGetNvLinkCapability", "NVLink 0 of GPU 0"},
        {"nvmlDeviceGetNvLinkRemotePciInfo_v2", "remote end of NVLink 0 of GPU 0"},
        {"nvmlDeviceGetFieldValues", ""},
        {"nvmlDeviceGetName", ""},
        {"nvmlSystemGetDriverVersion", ""},
        {"nvmlDeviceGetMaxPcieLinkGeneration", ""},
        {"nvmlDeviceGetCurrPcieLinkWidth", ""},
        {"nvmlDeviceGetGpuFabricInfoV", ""},
        {"nvmlDeviceGetNvLinkState", ""}}) {
    const GpuReport report = ReadFailing(kSwitched, function, 999).value();
    EXPECT_EQ(report.gpus.size(), 2u) << function;
    if (*told != '\0') {
      EXPECT_THAT(report.missing, Contains(HasSubstr(told))) << function;
    } else {
      EXPECT_THAT(report.missing, IsEmpty()) << function;
    }
  }
}

TEST_F(NvmlStandInTest, TriesTheAlternativeFunctionAfterAFailure) {
  EXPECT_EQ(ToText(ReadFailing(kSwitched, "nvmlDeviceGetGpuFabricInfoV", 13).value()), kSwitched);
  EXPECT_EQ(ToText(ReadFailing(kCubeMesh, "nvmlDeviceGetMaxPcieLinkGeneration", 3).value()),
            kCubeMesh);
  EXPECT_EQ(ToText(ReadFailing(kSwitched, "nvmlDeviceGetNvLinkState", 3).value()), kSwitched);
  const GpuReport report = ReadFailing(kSwitched, "nvmlDeviceGetFieldValues", 3).value();
  EXPECT_EQ(report.gpus[0].links.size(), 2u);
}

TEST_F(NvmlStandInTest, UnsupportedFactsAreNotMissing) {
  const GpuReport report = ReadFailing(kSwitched, "nvmlDeviceGetNvLinkCapability", 3).value();
  EXPECT_THAT(report.gpus[0].links, IsEmpty());
  EXPECT_THAT(report.missing, IsEmpty());
}

}  // namespace
}  // namespace ringlet::discovery
