#include "topology/host_view.hpp"

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

Bytes Encoded(const HostView& view) {
  Writer out;
  Encode(out, view);
  return out.Take();
}

TEST(HostViewTest, CodecRoundTrips) {
  const Bytes bytes = Encoded(Sample());
  Reader in(bytes);
  EXPECT_EQ(DecodeHostView(in), Sample());
  EXPECT_TRUE(in.AtEnd());
}

TEST(HostViewTest, EveryTruncationIsRefused) {
  const Bytes bytes = Encoded(Sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Reader in(View(bytes).first(size));
    EXPECT_EQ(DecodeHostView(in), HostView());
    EXPECT_FALSE(in.ok()) << size;
  }
}

TEST(HostViewTest, NoChangedByteDecodesToSomethingThatCheckRefuses) {
  const Bytes bytes = Encoded(Sample());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      Bytes changed = bytes;
      changed[at] ^= static_cast<std::byte>(flip);
      Reader in(changed);
      const HostView view = DecodeHostView(in);
      if (!in.ok()) continue;
      EXPECT_TRUE(view.Check().ok()) << at;
      EXPECT_FALSE(in.AtEnd() && view == Sample()) << at;
    }
  }
}

TEST(HostViewTest, DigestIsStableAndSeesAllButMemory) {
  EXPECT_EQ(Sample().digest(), 0xd5558bafb410b535u);
  HostView other = Sample();
  other.nets[1].speed_mbit_per_s = 1;
  EXPECT_NE(other.digest(), Sample().digest());
  HostView grown = Sample();
  grown.numa_nodes[0].memory_bytes += 1;
  EXPECT_EQ(grown.digest(), Sample().digest());
}

TEST(HostViewTest, CheckSaysWhatIsWrong) {
  const auto why = [](auto change) {
    HostView view = Sample();
    change(view);
    const Status status = view.Check();
    return status.ok() ? std::string("no error") : status.error().message;
  };
  EXPECT_EQ(why([](HostView&) {}), "no error");
  EXPECT_THAT(why([](HostView& v) { v.name.assign(256, 'x'); }), HasSubstr("255 bytes"));
  EXPECT_THAT(why([](HostView& v) { v.numa_nodes.clear(); }), HasSubstr("not 0"));
  EXPECT_THAT(why([](HostView& v) { v.numa_nodes[1].id = 0; }), HasSubstr("out of order"));
  EXPECT_THAT(why([](HostView& v) { v.numa_nodes[1].distances.pop_back(); }),
              HasSubstr("1 distances to 2 nodes"));
  EXPECT_THAT(why([](HostView& v) { v.nets[0].numa = 1; }), HasSubstr("NUMA node 1"));
  EXPECT_THAT(why([](HostView& v) { v.nets[0].speed_mbit_per_s = 0; }), HasSubstr("speed"));
  EXPECT_THAT(why([](HostView& v) { v.nets[1].name = "eth0"; }), HasSubstr("out of order"));
}

TEST(HostViewTest, IdentityIsNameAndBootUnlessGiven) {
  const std::uint64_t identity = HostIdentity("a", "boot", "");
  EXPECT_EQ(identity, HostIdentity("a", "boot", ""));
  EXPECT_NE(identity, HostIdentity("b", "boot", ""));
  EXPECT_NE(identity, HostIdentity("a", "boot2", ""));
  EXPECT_NE(identity, HostIdentity("ab", "oot", ""));
  EXPECT_EQ(HostIdentity("a", "boot", "x"), HostIdentity("b", "boot2", "x"));
  EXPECT_NE(identity, HostIdentity("", "", "aboot"));
}

}  // namespace
}  // namespace ringlet::topology
