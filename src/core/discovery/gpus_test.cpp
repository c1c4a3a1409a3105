#include "discovery/gpus.hpp"

#include <gmock/gmock.h>

namespace ringlet::discovery {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kTwo =
    "ringlet-gpus 1\n"
    "driver \"535.104\"\n"
    "gpu 0 bus 0000:07:00.0 sm 90 pcie 5 16 vendor 0x10de device 0x2330 name \"NVIDIA \\\"H\\\"\"\n"
    "nvlink 0 count 2 target 0000:0f:00.0\n"
    "nvlink 0 count 16 target hidden\n"
    "c2c 0 count 10 mb_per_s 44712\n"
    "fabric 0 cluster 0x0123456789abcdef 0x0000000000000001 clique 7\n"
    "gpu 1 bus 10000:0f:00.0 sm 0 pcie 0 0 vendor 0x0000 device 0x0000 name \"\"\n";

TEST(GpusTest, TextRoundTrips) {
  const GpuReport report = ParseGpuText(kTwo).value();
  ASSERT_EQ(report.gpus.size(), 2u);
  EXPECT_EQ(report.driver, "535.104");
  EXPECT_EQ(report.gpus[0].name, "NVIDIA \"H\"");
  EXPECT_EQ(report.gpus[0].links[1].target, std::nullopt);
  EXPECT_EQ(report.gpus[0].fabric->clique, 7u);
  EXPECT_EQ(report.gpus[1].bus, topology::BusId::Of(0x10000, 0xf, 0, 0));
  EXPECT_EQ(ToText(report), kTwo);
}

TEST(GpusTest, ErrorsStateTheLine) {
  const std::string good(kTwo);
  for (const char* bad :
       {"gpu", "gpu 1 bus x", "nvlink 9 count 1 target hidden", "nvlink 0 count 1",
        "nvlink 0 count", "c2c 0 count x mb_per_s 1", "fabric 0 cluster 0 0 clique 1", "odd",
        "driver", "driver \"", "nvlink 0 count 1 target hidden more",
        "fabric 0 cluster 1 1 clique 99999999999",
        "gpu 0 bus 0000:07:00.0 sm 90 pcie 5 16 vendor 1 device 1 name x",
        "gpu 2 bus 0000:07:00.0 sm 90 pcie 8 16 vendor 1 device 1 name x"}) {
    const auto report = ParseGpuText(good + bad + "\n");
    ASSERT_FALSE(report.ok()) << bad;
    EXPECT_EQ(report.error().code, Code::kInvalidArgument);
    EXPECT_THAT(report.error().message, HasSubstr("line 9 ")) << bad;
  }
  EXPECT_FALSE(ParseGpuText("other 1\n").ok());
  EXPECT_THAT(ParseGpuText("ringlet-gpus 1\n# nothing\n").value().gpus, IsEmpty());
}

TEST(GpusTest, HalvesAreRecognizedByName) {
  EXPECT_EQ(MloPartOf("NVIDIA B300 MLOPart1"), 1u);
  EXPECT_EQ(MloPartOf("NVIDIA B300 MLOPart 0 x"), 0u);
  EXPECT_EQ(MloPartOf("NVIDIA B300"), std::nullopt);
  EXPECT_EQ(MloPartOf("MLOPart"), std::nullopt);
  EXPECT_EQ(MloPartOf("MLOPart99999"), std::nullopt);
}

TEST(GpusTest, ADomainHasAnIdIfEitherWordOfItIsNonzero) {
  for (const char* cluster : {"0 1", "1 0"}) {
    const std::string line = std::string("fabric 1 cluster ") + cluster + " clique 0\n";
    const auto report = ParseGpuText(std::string(kTwo) + line);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->gpus[1].fabric);
  }
}

TEST(GpusTest, NamesHaveAMaximumLength) {
  const auto parsed = [](std::size_t length) {
    return ParseGpuText(
        "ringlet-gpus 1\ngpu 0 bus 0000:07:00.0 sm 90 pcie 5 16 vendor 1 device 1 "
        "name " +
        std::string(length, 'x'));
  };
  EXPECT_EQ(parsed(topology::HostView::kNameBytesMax)->gpus[0].name.size(), 255u);
  EXPECT_FALSE(parsed(topology::HostView::kNameBytesMax + 1).ok());
}

}  // namespace
}  // namespace ringlet::discovery
