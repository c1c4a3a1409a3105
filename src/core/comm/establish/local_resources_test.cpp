#include "comm/establish/local_resources.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "comm/establish/ranks_for_test.hpp"
#include "topology/view/host_shape.hpp"

namespace ringlet::comm {
namespace {

TEST(LocalResources, DevicesAreScannedLaterIfHostsDiffer) {
  PeerInfo here, there;
  here.host_hash = 1;
  there.host_hash = 2;
  EXPECT_FALSE(HasUnreadDevices({here, there}));
  there.knows_devices = false;
  EXPECT_TRUE(HasUnreadDevices({here, there}));
  EXPECT_FALSE(HasUnreadDevices({there, there}));
}

TEST(LocalResources, RanksThatExpectedASingleHostScanTheDevicesOfSeveral) {
  std::mutex mutex;
  std::set<std::uint64_t> digests;
  RunRanks(
      4,
      [](std::uint32_t rank) {
        return ProcessWith({{"RINGLET_HOSTID", rank < 2 ? "a" : "b"}, {"RINGLET_LINKS", "tcp"}});
      },
      [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        EXPECT_TRUE(SumOfRanks(**formed, 1000).ok());
        const std::lock_guard lock(mutex);
        for (const PeerInfo& one : (*formed)->peer_table().peer_infos) {
          EXPECT_TRUE(one.knows_devices);
          digests.insert(one.host_shape_digest);
        }
      },
      {.expects_one_host = true});
  const auto full = DiscoverLocal(*ProcessWith({}), {.rank = 0, .size = 1});
  EXPECT_EQ(digests, std::set{topology::ShapeOf(full->view).digest()});
}

}  // namespace
}  // namespace ringlet::comm
