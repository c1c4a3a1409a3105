#include <gtest/gtest.h>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {
namespace {

Gpu SampleGpu() {
  return {.pci = 1,
          .dev = 3,
          .compute_capability = 90,
          .rank = 4,
          .gdr = true,
          .mlopart = 1,
          .gcn = "gfx942",
          .rccl_arch = 38911,
          .links = {{GpuLinkKind::kNvLink, std::nullopt, 18, PciClass{0x068000}},
                    {GpuLinkKind::kXgmi, BusId::Of(0, 0x21, 0, 0), 1, std::nullopt}},
          .c2c = {{44'712, 10}},
          .fabric = NvlinkFabric{{1, 2}, 3}};
}

NetInterface SampleNet() {
  return {.name = "mlx5_0+mlx5_1",
          .speed_mbit_per_s = 400'000,
          .numa = 8,
          .nic = 0,
          .kind = NetKind::kBond,
          .rdma_device = "mlx5_0",
          .members = {"mlx5_0", "mlx5_1"},
          .dev = 2,
          .latency_ns = 1'500,
          .port = 1,
          .guid = 0x1234'5678'9abc'def0,
          .max_connections = 131'072,
          .gdr = true,
          .collective = false,
          .net_api = true,
          .gin_api = false,
          .rma_api = true,
          .rail = 5,
          .plane = 6};
}

HostView CodecSample() {
  HostView view = {.name = "node-a",
                   .identity = 7,
                   .cpu = {"x86_64", "AuthenticAMD", 25, 1, "AMD EPYC 7763"},
                   .numa_nodes = {{0, CpuSet::Of(0, 63), 1ull << 38, {10, 32}},
                                  {8, CpuSet::Of(64, 127), 1ull << 38, {32, 10}}},
                   .nets = {{"eth0", 100'000, 8}, {"eth1", std::nullopt, std::nullopt}}};
  view.numa_nodes[1].cpu = CpuModel{"arm64", "0x41", 0, 0, ""};
  view.numa_nodes[1].host = 9;
  view.nets.push_back(SampleNet());
  view.pci = {{.parent = {PartKind::kNuma, 1},
               .bus = BusId::Of(0xffff, 0xff, 1, 0),
               .device_class = PciClass{0x060400},
               .ids = {0x1000, 0xc030, 0x1000, 0x1001},
               .link_speed = PcieSpeed::Of(5),
               .link_width = 16,
               .peers = {BusId::Of(0, 1, 0, 0)}},
              {.parent = {PartKind::kPci, 0}, .bus = BusId::Of(1, 0, 0, 0)}};
  view.gpus = {SampleGpu()};
  view.nics = {{{PartKind::kPci, 1}}};
  view.version = 2;
  view.unknown_attributes = {{{PartKind::kGpuLink, 0, 1}, "colour", "red"}};
  view.unknown_elements = {{{PartKind::kNuma, 1}, "<fan/>"}};
  return view;
}

Bytes Encoded(const HostView& view) {
  Writer out;
  Encode(out, view);
  return out.Take();
}

TEST(HostCodecTest, CodecRoundTrips) {
  const Bytes bytes = Encoded(CodecSample());
  Reader in(bytes);
  EXPECT_EQ(DecodeHostView(in), CodecSample());
  EXPECT_TRUE(in.AtEnd());
}

TEST(HostCodecTest, EveryTruncationIsRefused) {
  const Bytes bytes = Encoded(CodecSample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Reader in(View(bytes).first(size));
    EXPECT_EQ(DecodeHostView(in), HostView());
    EXPECT_FALSE(in.ok()) << size;
  }
}

TEST(HostCodecTest, ChangedBytesDecodeToValidViewsOrErrors) {
  const Bytes bytes = Encoded(CodecSample());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      Bytes changed = bytes;
      changed[at] ^= static_cast<std::byte>(flip);
      Reader in(changed);
      const HostView view = DecodeHostView(in);
      if (!in.ok()) continue;
      EXPECT_TRUE(view.Check().ok()) << at;
      EXPECT_FALSE(in.AtEnd() && view == CodecSample()) << at;
    }
  }
}

}  // namespace
}  // namespace ringlet::topology
