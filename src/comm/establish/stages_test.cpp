#include "comm/establish/stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <mutex>
#include <set>

#include "comm/establish/ranks_for_test.hpp"
#include "discovery/placement.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "topology/view/host_shape.hpp"

namespace ringlet::comm {
namespace {

TEST(Stages, ArgumentsAreCheckedFirst) {
  EXPECT_TRUE(CheckArguments({.rank = 0, .size = 1}).ok());
  EXPECT_EQ(CheckArguments({.rank = 1, .size = 1}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(CheckArguments({.rank = 0, .size = 0}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(CheckArguments({.rank = 0, .size = 0xffffffff}).error().code, Code::kInvalidArgument);
}

TEST(Stages, ARankFindsItsNodeAndItsListeners) {
  const auto process = ProcessWith({});
  const auto local_host = DiscoverLocal(*process, {.rank = 0, .size = 1});
  ASSERT_TRUE(local_host.ok()) << local_host.error().message;
  EXPECT_EQ(local_host->view.identity, process->host_hash());
  EXPECT_TRUE(std::ranges::any_of(local_host->view.numa_nodes,
                                  [&](const auto& node) { return node.id == local_host->numa; }));
  Invitation invitation;
  invitation.credentials.secret[0] = static_cast<std::byte>(process->process_hash());
  const auto listeners = OpenListeners(*process, invitation, {.rank = 0, .size = 2}, {});
  ASSERT_TRUE(listeners.ok()) << listeners.error().message;
  EXPECT_FALSE(listeners->control.tcp.empty());
  EXPECT_FALSE(listeners->data.tcp.empty());
  EXPECT_EQ(listeners->data.unix_socket.kind, Address::Kind::kUnix);
  EXPECT_EQ(listeners->control.unix_socket.kind, Address::Kind::kNone);
  EXPECT_TRUE(listeners->speaks) << "the first of its host";
  const auto second = OpenListeners(*process, invitation, {.rank = 1, .size = 2}, {});
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->speaks);
  EXPECT_EQ(second->node_leader, listeners->node_leader);
  EXPECT_FALSE(OpenListeners(*process, invitation, {.rank = 0, .size = 1}, {})->node_leader)
      << "alone";
  const auto each = ProcessWith({{"RINGLET_NODE_LEADER", "0"}});
  EXPECT_FALSE(OpenListeners(*each, invitation, {.rank = 0, .size = 2}, {})->node_leader);
}

TEST(Stages, ARankThatExpectsOneHostLooksAtNoDevices) {
  const Config expects{.rank = 0, .size = 2, .expects_one_host = true};
  const auto brief = DiscoverLocal(*ProcessWith({}), expects);
  ASSERT_TRUE(brief.ok()) << brief.error().message;
  EXPECT_FALSE(brief->knows_devices);
  EXPECT_TRUE(brief->view.pci.empty());
  EXPECT_TRUE(brief->view.nets.empty());
  EXPECT_FALSE(brief->view.numa_nodes.empty());
  Config named = expects;
  named.names_device = true;
  EXPECT_TRUE(DiscoverLocal(*ProcessWith({}), named)->knows_devices);
}

TEST(Stages, DevicesAreLookedAtLaterWhereHostsDiffer) {
  PeerInfo here, there;
  here.host_hash = 1;
  there.host_hash = 2;
  EXPECT_FALSE(LackDevices({here, there}));
  there.knows_devices = false;
  EXPECT_TRUE(LackDevices({here, there}));
  EXPECT_FALSE(LackDevices({there, there}));
}

TEST(Stages, RanksThatExpectedOneHostKnowTheDevicesOfSeveral) {
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

TEST(Stages, ATopologyFileComesFirstAndDetectionFillsIt) {
  os::TempTree tree;
  tree.Write("topo.xml",
             "<system version=\"1\">\n  <cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" "
             "familyid=\"25\" modelid=\"1\">\n    <pci busid=\"0000:e3:00.0\" class=\"0x030200\" "
             "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">\n      <gpu dev=\"6\" sm=\"80\" "
             "gdr=\"1\"/>\n    </pci>\n  </cpu>\n</system>\n");
  const auto process = ProcessWith({{"NCCL_TOPO_FILE", tree.At("topo.xml")},
                                    {"NCCL_TOPO_DUMP_FILE", tree.At("dump.xml")},
                                    {"NCCL_TOPO_DUMP_FILE_RANK", "1"}});
  const auto local_host = DiscoverLocal(*process, {.rank = 0, .size = 2});
  ASSERT_TRUE(local_host.ok()) << local_host.error().message;
  ASSERT_EQ(local_host->view.gpus.size(), 1u);
  EXPECT_EQ(local_host->view.gpus[0].dev, 6u);
  EXPECT_EQ(local_host->view.cpu.family, 25u);
  EXPECT_EQ(local_host->view.identity, process->host_hash());
  EXPECT_FALSE(local_host->view.numa_nodes[0].cpus.empty());  // detected
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  EXPECT_FALSE(files.Exists("dump.xml"));
  ASSERT_TRUE(DiscoverLocal(*process, {.rank = 1, .size = 2}).ok());
  const std::string dump = files.Read("dump.xml").value();
  EXPECT_THAT(dump, testing::HasSubstr("busid=\"0000:e3:00.0\""));
  EXPECT_THAT(dump, testing::HasSubstr("affinity=\""));
}

TEST(Stages, ATopologyFileThatCannotBeReadStopsAndNamesTheLine) {
  os::TempTree tree;
  tree.Write("bad.xml", "<system version=\"1\">\n  <cpu numaid=\"0\n");
  const auto bad = DiscoverLocal(*ProcessWith({{"RINGLET_TOPO_FILE", tree.At("bad.xml")}}),
                                 {.rank = 0, .size = 1});
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message, testing::HasSubstr(tree.At("bad.xml") + ":2:"));
  const auto none = DiscoverLocal(*ProcessWith({{"RINGLET_TOPO_FILE", tree.At("none.xml")}}),
                                  {.rank = 0, .size = 1});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, testing::HasSubstr("none.xml"));
}

TEST(Stages, ADumpThatCannotBeWrittenIsNoReasonToFail) {
  const auto process = ProcessWith({{"RINGLET_TOPO_DUMP_FILE", "/no/such/folder/dump.xml"}});
  EXPECT_TRUE(DiscoverLocal(*process, {.rank = 0, .size = 1}).ok());
}

TEST(Stages, AMemberHasTheOptionsOfItsCallerItsSettingsAndItsListeners) {
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

TEST(Stages, TheCallersTimeoutsGoBeforeTheSettings) {
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

/// The link options of a rank of `origin` that is to be linked with rank 1, were its settings
/// these.
transport::ConnectRequest RequestWith(const Communicator& mine, const PeerTable& peer_table,
                                      const EnvMap& settings) {
  Origin origin = mine.origin();
  origin.process = ProcessWith(settings);
  auto request = RequestFor(origin, {Rank{1}}, peer_table, mine.control(), Instant(4));
  EXPECT_TRUE(request.ok()) << request.error().message;
  return std::move(request).value();
}

TEST(Stages, LinksAreAskedForAsTheSettingsSay) {
  RunRanks(2, EnvMap{}, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank == 1) return;
    PeerTable peer_table = (*formed)->peer_table();
    peer_table.peer_infos[1].preferred = 1;
    const auto with = [&](const EnvMap& settings) {
      return RequestWith(**formed, peer_table, settings);
    };
    const transport::ConnectRequest request = with({{"RINGLET_SOCKETS_PER_LINK", "2"},
                                                    {"RINGLET_PIPE_BYTES", "8192"},
                                                    {"RINGLET_TCP_CONGESTION", "reno"},
                                                    {"RINGLET_OFI_PROVIDER", "tcp"},
                                                    {"RINGLET_WAIT", "sleep"}});
    EXPECT_EQ(request.deadline, Instant(4));
    EXPECT_EQ(request.credentials.secret, (*formed)->origin().credentials.secret);
    EXPECT_EQ(request.options.choice, LinkChoice::kAuto);
    EXPECT_EQ(request.options.network, LinkChoice::kTcp);
    EXPECT_EQ(request.options.strands, 2u);
    EXPECT_EQ(request.options.pipe_bytes, 8192u);
    EXPECT_EQ(request.options.congestion, "reno");
    EXPECT_EQ(request.options.ofi_provider, "tcp");
    EXPECT_EQ(request.options.waiter.spin, std::chrono::nanoseconds(0));
    EXPECT_GT(with({{"RINGLET_WAIT", "spin"}}).options.waiter.spin, std::chrono::nanoseconds(0));
    EXPECT_EQ(with({{"RINGLET_LINKS", "tcp"}}).options.choice, LinkChoice::kTcp);
    EXPECT_EQ(with({{"RINGLET_LINKS", "shm"}}).options.choice, LinkChoice::kShm);
    EXPECT_EQ(with({{"RINGLET_LINKS", "inproc"}}).options.choice, LinkChoice::kInproc);
    EXPECT_EQ(with({{"RINGLET_SHM_DISABLE", "1"}}).options.choice, LinkChoice::kTcp);
    EXPECT_EQ(with({{"RINGLET_NET", "ofi"}}).options.network, LinkChoice::kOfi);
    EXPECT_EQ(with({{"RINGLET_NET", "ofi"}, {"RINGLET_SHM_DISABLE", "1"}}).options.choice,
              LinkChoice::kOfi);
  });
}

TEST(Stages, ANeighbourIsWhatItsPeerInfoAndItsMemberAddressSay) {
  RunRanks(2, EnvMap{}, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    PeerTable peer_table = (*formed)->peer_table();
    for (const std::size_t preferred : {1u, 2u}) {
      peer_table.peer_infos[1].preferred = preferred;
      const auto request = RequestWith(**formed, peer_table, {});
      EXPECT_EQ(request.self.rank, Rank{rank});
      ASSERT_EQ(request.peers.size(), 1u);
      const transport::Neighbour& peer = request.peers[0];
      const PeerInfo& peer_info = peer_table.peer_infos[1];
      EXPECT_EQ(peer.rank, Rank{1});
      EXPECT_EQ(peer.host, (*formed)->origin().process->host().name);
      EXPECT_EQ(peer.host_hash, peer_info.host_hash);
      EXPECT_EQ(peer.network_namespace, peer_info.network_namespace);
      EXPECT_EQ(peer.process_hash, peer_info.process_hash);
      EXPECT_EQ(peer.tcp, peer_info.tcp);
      EXPECT_FALSE(peer.tcp.empty());
      EXPECT_EQ(peer.preferred, preferred);
      EXPECT_EQ(peer.turn, preferred > 1 ? 1u : 0u) << "the second of its host, where that matters";
      EXPECT_EQ(peer.unix_socket, peer_info.unix_socket);
    }
  });
}

// Names of the child must never be taken for the parent's, nor for those of its sister.
TEST(Stages, AChildHasNamesOfItsOwn) {
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

TEST(Stages, AffinityCanBeIgnored) {
  const auto process = ProcessWith({{"NCCL_IGNORE_CPU_AFFINITY", "1"}});
  const auto local_host = DiscoverLocal(*process, {.rank = 0, .size = 1, .device = 0});
  ASSERT_TRUE(local_host.ok());
  EXPECT_EQ(local_host->numa, discovery::NumaOf(local_host->view, {}, 0));
}

}  // namespace
}  // namespace ringlet::comm
