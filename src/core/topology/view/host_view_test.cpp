#include "topology/view/host_view.hpp"

#include <gmock/gmock.h>

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

HostView Sample() {
  return {.name = "node-a",
          .identity = 7,
          .cpu = {"x86_64", "AuthenticAMD", 25, 1, "AMD EPYC 7763"},
          .numa_nodes = {{0, CpuSet::Of(0, 63), 1ull << 38, {10, 32}},
                         {8, CpuSet::Of(64, 127), 1ull << 38, {32, 10}}},
          .nets = {{"eth0", 100'000, 8}, {"eth1", std::nullopt, std::nullopt}}};
}

TEST(HostViewTest, DigestIsStableAndCoversAllButMemory) {
  EXPECT_EQ(Sample().digest(), 0x1ac59032e4e9eac6u);
  HostView other = Sample();
  other.nets[1].speed_mbit_per_s = 1;
  EXPECT_NE(other.digest(), Sample().digest());
  HostView grown = Sample();
  grown.numa_nodes[0].memory_bytes += 1;
  EXPECT_EQ(grown.digest(), Sample().digest());
}

TEST(HostViewTest, CheckReportsInvalidHosts) {
  const auto why = [](auto change) {
    HostView view = Sample();
    change(view);
    const Status status = view.Check();
    return status.ok() ? std::string("no error") : status.error().message;
  };
  EXPECT_EQ(why([](HostView&) {}), "no error");
  EXPECT_THAT(why([](HostView& v) { v.name.assign(256, 'x'); }), HasSubstr("255 bytes"));
  EXPECT_THAT(why([](HostView& v) { v.numa_nodes.clear(); }), HasSubstr("not 0"));
  EXPECT_THAT(why([](HostView& v) { v.numa_nodes[1].id = 0; }), HasSubstr("0 occurs twice"));
  EXPECT_EQ(why([](HostView& v) {
              v.numa_nodes[1].id = 0;
              v.numa_nodes[1].host = 9;
              v.nets[0].numa = 0;
            }),
            "no error");
  EXPECT_THAT(why([](HostView& v) { v.numa_nodes[1].distances.pop_back(); }),
              HasSubstr("1 distances to 2 nodes"));
  EXPECT_THAT(why([](HostView& v) { v.nets[0].numa = 1; }), HasSubstr("NUMA node 1"));
  EXPECT_THAT(why([](HostView& v) { v.nets[0].speed_mbit_per_s = 0; }), HasSubstr("speed"));
}

TEST(HostViewTest, CheckReportsInvalidDevices) {
  const auto why = [](auto change) {
    HostView view = Sample();
    view.pci = {{.parent = {PartKind::kNuma, 1}, .bus = BusId::Of(0, 7, 0, 0)},
                {.parent = {PartKind::kPci, 0}, .bus = BusId::Of(0, 8, 0, 0)}};
    view.gpus = {{.pci = 1, .gcn = ""}};
    view.nics = {{{PartKind::kPci, 1}}};
    view.nets[0].nic = 0;
    change(view);
    const Status status = view.Check();
    return status.ok() ? std::string("no error") : status.error().message;
  };
  EXPECT_EQ(why([](HostView&) {}), "no error");
  EXPECT_THAT(why([](HostView& v) { v.pci[1].parent.index = 1; }),
              HasSubstr("0000:08:00.0 lacks a parent before it"));
  EXPECT_THAT(why([](HostView& v) {
                v.pci[0].parent = {PartKind::kNuma, 2};
              }),
              HasSubstr("0000:07:00.0 lacks a parent"));
  EXPECT_THAT(why([](HostView& v) { v.gpus[0].pci = 2; }), HasSubstr("GPU 0"));
  EXPECT_THAT(why([](HostView& v) { v.gpus[0].fabric = NvlinkFabric{}; }),
              HasSubstr("without an id"));
  EXPECT_THAT(why([](HostView& v) { v.gpus[0].links.resize(1025); }), HasSubstr("1024 links"));
  EXPECT_THAT(why([](HostView& v) { v.nics[0].parent.kind = PartKind::kGpu; }), HasSubstr("NIC 0"));
  EXPECT_THAT(why([](HostView& v) { v.nets[0].nic = 1; }), HasSubstr("NIC 1"));
  EXPECT_THAT(why([](HostView& v) {
                v.unknown_attributes = {{{PartKind::kGpuLink, 0, 0}, "colour", "red"}};
              }),
              HasSubstr("attribute lacks its element"));
  EXPECT_THAT(why([](HostView& v) {
                for (std::uint32_t i = 1; i < HostView::kDepthMax; ++i)
                  v.pci.push_back({.parent = {PartKind::kPci, i}, .bus = BusId{i}});
              }),
              HasSubstr("64 levels"));
}

TEST(HostViewTest, EveryPartHasItsNumaNode) {
  HostView view = Sample();
  view.pci = {{.parent = {PartKind::kNuma, 1}, .bus = {}},
              {.parent = {PartKind::kPci, 0}, .bus = {}}};
  view.gpus = {{.pci = 1, .gcn = "", .links = {{}}}};
  view.nics = {{{PartKind::kPci, 1}}, {{PartKind::kNuma, 0}}};
  view.nets.push_back({"mlx5_0", std::nullopt, std::nullopt, 0});
  ASSERT_TRUE(view.Check().ok());
  EXPECT_EQ(view.NumaIndexOf({PartKind::kGpu, 0}), 1u);
  EXPECT_EQ(view.NumaIndexOf({PartKind::kGpuLink, 0, 0}), 1u);
  EXPECT_EQ(view.NumaIndexOf({PartKind::kNic, 1}), 0u);
  EXPECT_EQ(view.NumaIndexOf({PartKind::kNet, 0}), 1u);
  EXPECT_EQ(view.NumaIndexOf({PartKind::kNet, 1}), std::nullopt);
  EXPECT_EQ(view.NumaIndexOf({PartKind::kNet, 2}), 1u);
  EXPECT_EQ(view.NumaIndexOf({PartKind::kSystem}), std::nullopt);
}

TEST(HostViewTest, IdentityDerivesFromNameAndBootUnlessGiven) {
  const std::uint64_t identity = HostIdentity("a", "boot", "");
  EXPECT_EQ(identity, HostIdentity("a", "boot", ""));
  EXPECT_NE(identity, HostIdentity("b", "boot", ""));
  EXPECT_NE(identity, HostIdentity("a", "boot2", ""));
  EXPECT_NE(identity, HostIdentity("ab", "oot", ""));
  EXPECT_EQ(HostIdentity("a", "boot", "x"), HostIdentity("b", "boot2", "x"));
  EXPECT_NE(identity, HostIdentity("", "", "aboot"));
}

TEST(HostViewTest, LimitsAreInclusive) {
  const auto good = [](auto change, std::size_t count) {
    HostView view = Sample();
    view.pci = {{.parent = {PartKind::kNuma, 1}, .bus = {}}};
    view.gpus = {{.pci = 0, .gcn = ""}};
    view.nics = {{{PartKind::kPci, 0}}};
    change(view, count);
    return view.Check().ok();
  };
  const auto check = [&](const char* what, std::size_t max, auto change) {
    EXPECT_TRUE(good(change, max)) << what;
    EXPECT_FALSE(good(change, max + 1)) << what;
  };
  constexpr std::size_t kName = HostView::kNameBytesMax, kLinks = HostView::kLinksMax;
  check("name", kName, [](HostView& v, std::size_t n) { v.name.assign(n, 'x'); });
  check("vendor", kName, [](HostView& v, std::size_t n) { v.cpu.vendor.assign(n, 'x'); });
  check("net", kName, [](HostView& v, std::size_t n) { v.nets[0].name.assign(n, 'x'); });
  check("rdma", kName, [](HostView& v, std::size_t n) { v.nets[0].rdma_device.assign(n, 'x'); });
  check("gcn", kName, [](HostView& v, std::size_t n) { v.gpus[0].gcn.assign(n, 'x'); });
  check("speed", kName,
        [](HostView& v, std::size_t n) { v.pci[0].link_speed.text.assign(n, 'x'); });
  check("links", kLinks, [](HostView& v, std::size_t n) { v.gpus[0].links.resize(n); });
  check("c2c", kLinks, [](HostView& v, std::size_t n) { v.gpus[0].c2c.resize(n); });
  check("peers", kLinks, [](HostView& v, std::size_t n) { v.pci[0].peers.resize(n); });
  check("members", kLinks, [](HostView& v, std::size_t n) { v.nets[0].members.resize(n); });
  check("gpus", HostView::kGpusMax,
        [](HostView& v, std::size_t n) { v.gpus.resize(n, v.gpus[0]); });
  check("nics", HostView::kNicsMax,
        [](HostView& v, std::size_t n) { v.nics.resize(n, v.nics[0]); });
  check("nets", HostView::kNetsMax,
        [](HostView& v, std::size_t n) { v.nets.resize(n, v.nets[0]); });
  check("pci", HostView::kPciMax, [](HostView& v, std::size_t n) { v.pci.resize(n, v.pci[0]); });
  check("attributes", HostView::kUnknownMax,
        [](HostView& v, std::size_t n) { v.unknown_attributes.resize(n); });
  check("elements", HostView::kUnknownMax,
        [](HostView& v, std::size_t n) { v.unknown_elements.resize(n); });
  check("xml", HostView::kUnknownBytesMax, [](HostView& v, std::size_t n) {
    v.unknown_elements = {UnknownElement{{}, std::string(n, 'x')}};
  });
  check("depth", HostView::kDepthMax, [](HostView& v, std::size_t n) {
    for (std::uint32_t i = 1; i < n; ++i)
      v.pci.push_back({.parent = {PartKind::kPci, i - 1}, .bus = BusId{i}});
  });
}

TEST(HostViewTest, UnknownElementsBelongToExistingParts) {
  HostView view = Sample();
  view.pci = {{.parent = {PartKind::kNuma, 1}, .bus = {}}};
  view.pci[0].peers = {BusId{1}};
  view.gpus = {{.pci = 0, .gcn = "", .links = {{}}, .c2c = {{}}}};
  view.nics = {{{PartKind::kPci, 0}}};
  view.nets.resize(1);
  const auto good = [&](Part part) {
    HostView with = view;
    with.unknown_elements = {{part, "<fan/>"}};
    return with.Check().ok();
  };
  for (const PartKind kind : {PartKind::kPci, PartKind::kGpu, PartKind::kNic, PartKind::kNet}) {
    EXPECT_TRUE(good({kind, 0})) << static_cast<int>(kind);
    EXPECT_FALSE(good({kind, 1})) << static_cast<int>(kind);
  }
  EXPECT_TRUE(good({PartKind::kNuma, 1}));
  EXPECT_FALSE(good({PartKind::kNuma, 2}));
  EXPECT_TRUE(good({PartKind::kSystem}));
  EXPECT_FALSE(good({PartKind::kSystem, 1}));
  for (const PartKind kind : {PartKind::kGpuLink, PartKind::kC2c, PartKind::kPciLink}) {
    EXPECT_TRUE(good({kind, 0, 0})) << static_cast<int>(kind);
    EXPECT_FALSE(good({kind, 0, 1})) << static_cast<int>(kind);
    EXPECT_FALSE(good({kind, 1, 0})) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace ringlet::topology
