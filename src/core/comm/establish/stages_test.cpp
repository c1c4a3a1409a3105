#include "comm/establish/stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "comm/establish/ranks_for_test.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(Stages, ArgumentsAreCheckedFirst) {
  EXPECT_TRUE(CheckArguments({.rank = 0, .size = 1}).ok());
  EXPECT_EQ(CheckArguments({.rank = 1, .size = 1}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(CheckArguments({.rank = 0, .size = 0}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(CheckArguments({.rank = 0, .size = 0xffffffff}).error().code, Code::kInvalidArgument);
}

TEST(Stages, AnUnwritableDumpDoesNotFail) {
  const auto process = ProcessWith({{"RINGLET_TOPO_DUMP_FILE", "/no/such/folder/dump.xml"}});
  EXPECT_TRUE(DiscoverLocal(*process, {.rank = 0, .size = 1}).ok());
}

TEST(Stages, AMemberGetsItsOptionsSettingsAndListeners) {
  const auto process = ProcessWith({{"RINGLET_BOOTSTRAP", "ring"},
                                    {"RINGLET_TREE_ARITY", "3"},
                                    {"RINGLET_ENCRYPT", "1"},
                                    {"RINGLET_INIT_TIMEOUT", "11"},
                                    {"RINGLET_HANDSHAKE_TIMEOUT", "7"},
                                    {"RINGLET_HEARTBEAT_TIMEOUT", "9"}});
  const Address root = Address::Ipv4(10, 0, 0, 1, 80), own = Address::Ipv4(10, 0, 0, 2, 90);
  std::vector<Invitation> invitations(2);
  invitations[1].credentials.magic = 5;
  invitations[1].roots = {root};
  Listeners listeners;
  listeners.control.tcp.assign(bootstrap::kAddressesMax + 1, own);
  listeners.node_leader = Address::Unix("node leader");
  listeners.speaks = true;
  const PeerInfo peer_info{.host_hash = 6, .tcp = {own}, .unix_socket = {}};
  const Config config{.rank = 2, .size = 7};
  const auto member = MemberConfigOf(*process, config, invitations, listeners, peer_info);
  ASSERT_TRUE(member.ok()) << member.error().message;
  EXPECT_EQ(member->rank, Rank{2});
  EXPECT_EQ(member->size, 7u);
  ASSERT_EQ(member->roots.size(), 2u);
  EXPECT_EQ(member->roots[1].credentials.magic, 5u);
  EXPECT_EQ(member->roots[1].addresses, invitations[1].roots);
  EXPECT_EQ(member->member_address.addresses, std::vector<Address>(bootstrap::kAddressesMax, own));
  EXPECT_EQ(member->member_address.host, process->host().name);
  EXPECT_EQ(member->member_address.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(DecodePeerInfo(member->member_address.peer_info).value(), peer_info);
  EXPECT_EQ(member->shape, bootstrap::Shape::kRing);
  EXPECT_EQ(member->arity, 3u);
  EXPECT_EQ(member->node_leader, listeners.node_leader);
  EXPECT_TRUE(member->speaks);
  EXPECT_EQ(member->timeout, std::chrono::seconds(11));
  EXPECT_EQ(member->handshake_timeout, std::chrono::seconds(7));
  EXPECT_EQ(member->silence_max, std::chrono::seconds(9));
  EXPECT_TRUE(member->lines.encrypt);
  const auto other = MemberConfigOf(*process, config, invitations, listeners, peer_info);
  EXPECT_NE(other->nonce_seed, member->nonce_seed);
}

TEST(Stages, TheCallersTimeoutsOverrideTheSettings) {
  const auto process = ProcessWith({{"RINGLET_INIT_TIMEOUT", "11"}});
  Config config{.rank = 0, .size = 1};
  EXPECT_EQ(InitTimeout(*process, config), std::chrono::seconds(11));
  config.init_timeout = std::chrono::seconds(5);
  EXPECT_EQ(InitTimeout(*process, config), std::chrono::seconds(5));
  const auto formed = [&](const Config& wanted) {
    Config with_id = wanted;
    with_id.id = *CreateUniqueId(process);
    return Establish(process, with_id, {});
  };
  EXPECT_EQ((*formed(config))->timeout(), process->settings().timeout);
  config.timeout = std::chrono::seconds(6);
  EXPECT_EQ((*formed(config))->timeout(), std::chrono::seconds(6));
}

// Names of the child must differ from those of its parent and its sibling.
TEST(Stages, AChildHasItsOwnIdentity) {
  std::vector<Origin> children(4);
  RunRanks(4, EnvMap{}, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const Origin& parent = (*formed)->origin();
    const auto control = (*formed)->control().Split(rank == 3, -static_cast<std::int32_t>(rank));
    ASSERT_TRUE(control.ok()) << control.error().message;
    Origin& child = children[rank] = ChildOf(parent, **control);
    EXPECT_EQ(child.config.size, rank == 3 ? 1u : 3u);
    EXPECT_EQ(child.config.rank, rank == 3 ? 0u : 2 - rank);
    EXPECT_NE(child.credentials.secret, parent.credentials.secret);
    EXPECT_NE(child.credentials.magic, parent.credentials.magic);
  });
  EXPECT_EQ(children[0].credentials.secret, children[1].credentials.secret);
  EXPECT_EQ(children[0].credentials.magic, children[1].credentials.magic);
  EXPECT_NE(children[0].credentials.secret, children[3].credentials.secret);
  EXPECT_NE(children[0].credentials.magic, children[3].credentials.magic);
}

TEST(Stages, IdsAreReadOrRefused) {
  const auto process = ProcessWith({});
  Config config{.id = *CreateUniqueId(process), .rank = 2, .size = 3};
  const UniqueId more = *CreateUniqueId(process);
  config.more_ids = {more, more};
  const auto read = ReadIds(*process, config);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[2].credentials.magic, rendezvous::Decode(more)->credentials.magic);
  config.more_ids.push_back(more);
  const auto too_many = ReadIds(*process, config);
  ASSERT_FALSE(too_many.ok());
  EXPECT_THAT(too_many.error().message, testing::HasSubstr("4 unique ids for 3 ranks"));
  Config grows{.id = *CreateUniqueId(process, 2), .rank = 1, .size = 3};
  EXPECT_EQ(ReadIds(*process, grows).error().code, Code::kInvalidArgument) << "it is in it";
  grows.grows = true;
  EXPECT_TRUE(ReadIds(*process, grows).ok());
  grows.grows = false;
  grows.rank = 2;
  EXPECT_TRUE(ReadIds(*process, grows).ok()) << "it is new";
}

}  // namespace
}  // namespace ringlet::comm
