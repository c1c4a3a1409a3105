#include "comm/establish/near_nics.hpp"

#include <gmock/gmock.h>

namespace ringlet::comm {
namespace {

using testing::ElementsAre;

Address At(std::uint8_t last) {
  return Address::Ipv4(10, 0, 0, last, 0);
}

/// A host of two NUMA nodes, and its NICs in the order of their addresses.
struct Host {
  topology::HostView view;
  std::vector<os::UsableAddress> usable = {};

  Host() {
    view.numa_nodes.resize(2);
    view.numa_nodes[1].id = 3;
  }

  void Add(const char* name, std::optional<std::uint32_t> speed,
           std::optional<std::uint32_t> numa) {
    view.nets.push_back({.name = name, .speed_mbit_per_s = speed, .numa = numa});
    usable.push_back({.interface = name, .address = At(static_cast<std::uint8_t>(usable.size()))});
  }
};

TEST(NearNics, ListsTheFastestFirst) {
  Host host;
  host.Add("eth0", 1'000, {});
  host.Add("eth1", 100'000, {});
  host.Add("eth2", 100'000, {});
  const NicChoice choice = NearNics(host.usable, host.view, 0);
  EXPECT_THAT(choice.addresses, ElementsAre(At(1), At(2), At(0)));
  EXPECT_EQ(choice.preferred, 2u);
}

TEST(NearNics, PrefersTheFastestNicAtTheRanksNode) {
  Host host;
  host.Add("eth0", 100'000, 0);
  host.Add("eth1", 100'000, 3);
  host.Add("eth2", 1'000, 3);
  const NicChoice choice = NearNics(host.usable, host.view, 3);
  EXPECT_THAT(choice.addresses, ElementsAre(At(1), At(0), At(2)));
  EXPECT_EQ(choice.preferred, 1u);
  EXPECT_EQ(NearNics(host.usable, host.view, 7).preferred, 2u) << "none is near: the fastest";
}

TEST(NearNics, ListsBothAddressesOfANic) {
  Host host;
  host.Add("eth0", 1'000, {});
  host.Add("eth1", 10'000, {});
  host.usable.push_back({.interface = "eth1", .address = At(9)});
  EXPECT_THAT(NearNics(host.usable, host.view, 0).addresses, ElementsAre(At(1), At(9), At(0)));
  EXPECT_EQ(NearNics(host.usable, host.view, 0).preferred, 2u);
}

TEST(NearNics, PrefersNoNicIfASpeedIsUnknown) {
  Host host;
  host.Add("eth0", 1'000, {});
  host.Add("eth1", {}, {});
  EXPECT_THAT(NearNics(host.usable, host.view, 0).addresses, ElementsAre(At(0), At(1)));
  EXPECT_EQ(NearNics(host.usable, host.view, 0).preferred, 0u);
  host.view.nets[1].speed_mbit_per_s = 0;
  EXPECT_EQ(NearNics(host.usable, host.view, 0).preferred, 0u);
  host.view.nets.pop_back();
  EXPECT_EQ(NearNics(host.usable, host.view, 0).preferred, 0u);
  EXPECT_EQ(NearNics({}, host.view, 0).preferred, 0u);
}

}  // namespace
}  // namespace ringlet::comm
