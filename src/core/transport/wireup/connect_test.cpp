#include "transport/wireup/connect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>

#include "os/net/sockaddr.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/wireup/ranks_for_test.hpp"

namespace ringlet::transport {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct World {
  DriverThread service;
  InprocExchange exchange;
  std::stop_source abort;
  ConnectTools tools{.driver = service.driver(), .inproc = exchange, .abort = abort.get_token()};
};

// Returns the error of rank 0 when it connects by `choice` to rank 1, which `change` has modified.
Error Refusal(LinkChoice choice, void (*change)(Neighbour&)) {
  World world;
  std::vector<TestRank> ranks;
  ranks.emplace_back(0u);
  ranks.emplace_back(1u);
  change(ranks[1].neighbour);
  ConnectOptions options;
  options.choice = choice;
  auto links =
      Connect(RequestOf(ranks[0], ranks, options), std::move(ranks[0].endpoint), world.tools);
  return links.ok() ? Error{Code::kSystem, "connected"} : links.error();
}

TEST(Connect, AnImpossibleForcedKindNamesRankAndHost) {
  const auto elsewhere = [](Neighbour& peer) {
    peer.host = "far";
    peer.host_hash = 9;
  };
  for (const LinkChoice choice : {LinkChoice::kInproc, LinkChoice::kShm}) {
    const Error error = Refusal(choice, elsewhere);
    EXPECT_EQ(error.code, Code::kUnsupported);
    EXPECT_THAT(error.message, HasSubstr("cannot reach rank 1 on far"));
  }
  EXPECT_THAT(
      Refusal(LinkChoice::kShm, [](Neighbour& peer) { peer.network_namespace = 5; }).message,
      HasSubstr("network namespace"));
  EXPECT_THAT(Refusal(LinkChoice::kShm, [](Neighbour& peer) { peer.unix_socket = {}; }).message,
              HasSubstr("lacks a UNIX socket"));
  const auto mute = [](Neighbour& peer) { peer.tcp.clear(); };
  EXPECT_THAT(Refusal(LinkChoice::kTcp, mute).message,
              AllOf(HasSubstr("by tcp: "), HasSubstr("rank 1 on testhost has no TCP address")));
  EXPECT_THAT(Refusal(LinkChoice::kOfi, mute).message, HasSubstr("by ofi: "));
}

TEST(Connect, BadRequestsAreRefused) {
  World world;
  std::vector<TestRank> ranks;
  ranks.emplace_back(0u);
  ranks.emplace_back(1u);
  ConnectRequest twice = RequestOf(ranks[0], ranks);
  twice.peers.push_back(twice.peers[0]);
  EXPECT_EQ(Connect(twice, {}, world.tools).error().code, Code::kInvalidArgument);
  ConnectRequest itself = RequestOf(ranks[0], ranks);
  itself.peers[0] = itself.self;
  EXPECT_EQ(Connect(itself, {}, world.tools).error().code, Code::kInvalidArgument);
  ConnectRequest odd = RequestOf(ranks[0], ranks);
  odd.options.pipe_bytes = 1000;
  EXPECT_EQ(Connect(odd, {}, world.tools).error().code, Code::kInvalidArgument);
}

TEST(Connect, ASingleRankMakesNoLinks) {
  World world;
  std::vector<TestRank> ranks;
  ranks.emplace_back(0u);
  const auto all = ConnectAll(ranks, world.tools);
  ASSERT_TRUE(all[0].ok());
  EXPECT_EQ((*all[0])->Summary(), "none");
}

TEST(Connect, AutoChoosesTheNearestKindOfLink) {
  World world;
  std::vector<TestRank> ranks;
  for (std::uint32_t i = 0; i < 5; ++i) ranks.emplace_back(i);
  ranks[1].neighbour.process_hash = ranks[0].neighbour.process_hash;
  ranks[4].neighbour.host_hash = 1;
  const auto all = ConnectAll(ranks, world.tools);
  for (const auto& links : all) ASSERT_TRUE(links.ok()) << links.error().message;
  EXPECT_EQ((*all[0])->Summary(), "1 inproc, 2 shm, 1 tcp");
  EXPECT_EQ((*all[2])->Summary(), "3 shm, 1 tcp");
  EXPECT_EQ((*all[4])->Summary(), "4 tcp");
  for (std::uint32_t from = 0; from < 5; ++from)
    for (std::uint32_t to = 0; to < 5; ++to) {
      if (from == to) continue;
      const std::string text = std::to_string(from) + " to " + std::to_string(to);
      ASSERT_EQ((*all[from])->Find(Rank{to})->Write(AsView(text)).value(), 6u);
    }
  for (std::uint32_t to = 0; to < 5; ++to)
    for (std::uint32_t from = 0; from < 5; ++from) {
      if (from == to) continue;
      Link& link = *(*all[to])->Find(Rank{from});
      Waiter& waiter = (*all[to])->waiter();
      Bytes got(6);
      for (std::size_t done = 0; done < 6;) {
        const auto ticket = waiter.Prepare();
        const std::size_t n = link.Read(std::span(got).subspan(done)).value();
        done += n;
        if (n == 0) waiter.Wait(ticket, std::chrono::seconds(30));
      }
      EXPECT_EQ(AsText(got), std::to_string(from) + " to " + std::to_string(to));
    }
}

/// Two ranks of this process; the second listens at two addresses.
std::vector<TestRank> WithTwoAddresses() {
  std::vector<TestRank> ranks;
  for (std::uint32_t i = 0; i < 2; ++i) ranks.emplace_back(i);
  auto opened = ListenerSet::Open(
      {.interfaces = {Address::Ipv4(127, 0, 0, 1, 0), Address::Ipv4(127, 0, 0, 2, 0)},
       .seed = UniqueSeed()});
  ranks[1].endpoint = std::move(opened).value();
  ranks[1].neighbour.tcp = ranks[1].endpoint.tcp;
  return ranks;
}

/// Connections of this process, by the end that accepted.
std::map<std::string, int> Connections() {
  std::map<std::string, int> connections;
  for (int fd = 0; fd < 4096; ++fd) {
    os::SocketAddress local, remote;
    local.bytes = remote.bytes = sizeof local.storage;
    if (::getsockname(fd, local.get(), &local.bytes) == 0 &&
        ::getpeername(fd, remote.get(), &remote.bytes) == 0)
      ++connections[ToString(os::FromSocketAddress(local))];
  }
  return connections;
}

TEST(Connect, StrandsAreDistributedOverTheAddresses) {
  World world;
  std::vector<TestRank> ranks = WithTwoAddresses();
  ConnectOptions options;
  options.choice = LinkChoice::kTcp;
  options.strands = 4;
  const auto all = ConnectAll(ranks, world.tools, options);
  for (const auto& links : all) ASSERT_TRUE(links.ok()) << links.error().message;
  EXPECT_EQ((*all[0])->Summary(), "1 tcp");
  auto connections = Connections();
  ASSERT_EQ(ranks[1].neighbour.tcp.size(), 2u);
  for (const Address& address : ranks[1].neighbour.tcp)
    EXPECT_EQ(connections[ToString(address)], 2) << ToString(address);
}

// The third rank of its host uses the second of two equal NICs, whichever would answer first.
TEST(Connect, RanksOfAHostUseItsNicsInTurn) {
  for (const std::uint32_t turn : {2u, 3u}) {
    World world;
    std::vector<TestRank> ranks = WithTwoAddresses();
    ranks[1].neighbour.preferred = 2;
    ranks[1].neighbour.turn = turn;
    ConnectOptions options;
    options.choice = LinkChoice::kTcp;
    const auto all = ConnectAll(ranks, world.tools, options);
    for (const auto& links : all) ASSERT_TRUE(links.ok()) << links.error().message;
    auto connections = Connections();
    EXPECT_EQ(connections[ToString(ranks[1].neighbour.tcp[turn % 2])], 1);
    EXPECT_EQ(connections[ToString(ranks[1].neighbour.tcp[(turn + 1) % 2])], 0);
  }
}

TEST(Connect, AllStrandsUseAnInterfaceThatIsBetterThanTheRest) {
  World world;
  std::vector<TestRank> ranks = WithTwoAddresses();
  ranks[1].neighbour.preferred = 1;
  ranks[1].neighbour.turn = 1;
  ConnectOptions options;
  options.choice = LinkChoice::kTcp;
  options.strands = 3;
  const auto all = ConnectAll(ranks, world.tools, options);
  for (const auto& links : all) ASSERT_TRUE(links.ok()) << links.error().message;
  EXPECT_EQ(Connections()[ToString(ranks[1].neighbour.tcp[0])], 3);
}

TEST(Connect, TcpLinksUseTheRequestedCongestionControl) {
  World world;
  std::vector<TestRank> ranks;
  for (std::uint32_t i = 0; i < 2; ++i) ranks.emplace_back(i);
  ConnectOptions options;
  options.choice = LinkChoice::kTcp;
  options.congestion = "no_such";
  for (const auto& links : ConnectAll(ranks, world.tools, options)) {
    ASSERT_FALSE(links.ok());
    EXPECT_EQ(links.error().code, Code::kInvalidArgument);
    EXPECT_THAT(links.error().message, testing::HasSubstr("no_such"));
  }
}

std::shared_ptr<RankBell> MakeBell() {
  auto word = std::make_shared<DoorbellWord>();
  auto waiter = DoorbellWaiter::Create(*word, {});
  EXPECT_TRUE(waiter.ok());
  return std::make_shared<RankBell>(RankBell{word, std::move(waiter).value()});
}

TEST(Connect, ARankOfTheSameProcessIsLinkedInProcess) {
  World world;
  std::vector<TestRank> ranks;
  for (std::uint32_t i = 0; i < 2; ++i) ranks.emplace_back(i);
  ranks[1].neighbour.process_hash = ranks[0].neighbour.process_hash;
  const InprocExchange::RankPair pair{kTestCredentials.magic, Rank{1}, Rank{0}};
  world.exchange.Arrive(pair, MakeBell(), kPipeBytesDefault);  // takes its end later
  const auto links = Connect(RequestOf(ranks[0], ranks), {}, world.tools);
  ASSERT_TRUE(links.ok()) << links.error().message;
  EXPECT_EQ((*links)->Summary(), "1 inproc");
}

// Reads `bytes` bytes and waits for them. Returns fewer if they do not arrive.
std::string ReadFrom(Links& links, Rank peer, std::size_t bytes) {
  Bytes got(bytes);
  std::size_t done = 0;
  const Instant until = os::Now() + std::chrono::seconds(30);
  while (done < bytes && os::Now() < until) {
    const auto ticket = links.waiter().Prepare();
    const auto read = links.Find(peer)->Read(std::span(got).subspan(done));
    if (!read.ok()) return read.error().message;
    done += *read;
    if (*read == 0) links.waiter().Wait(ticket, until - os::Now());
  }
  return std::string(AsText(View(got).first(done)));
}

/// Returns why links over libfabric do not work here. Empty if they do.
std::string WhyNotOfi() {
  const auto fabric = ofi::OpenLibfabric({.source = Address::Ipv4(127, 0, 0, 1, 0)});
  return fabric.ok() ? "" : fabric.error().message;
}

TEST(Connect, ALibfabricDiallerNeedsNoOwnAddress) {
  if (const std::string why = WhyNotOfi(); !why.empty()) GTEST_SKIP() << why;
  World world;
  std::vector<TestRank> ranks;
  for (std::uint32_t i = 0; i < 3; ++i) ranks.emplace_back(i);
  ranks[0].neighbour.tcp.clear();
  ConnectOptions options;
  options.network = LinkChoice::kOfi;
  for (TestRank& rank : ranks) rank.neighbour.host_hash = Index(rank.neighbour.rank);
  const auto all = ConnectAll(ranks, world.tools, options);
  for (const auto& links : all) {
    ASSERT_TRUE(links.ok()) << links.error().message;
    EXPECT_EQ((*links)->Summary(), "2 ofi");
  }
  // Data arrives without a further call of the writer, in any order of readers.
  for (std::uint32_t from = 0; from < 3; ++from)
    for (std::uint32_t to = 0; to < 3; ++to) {
      if (from == to) continue;
      const std::string text = std::to_string(from) + " to " + std::to_string(to);
      ASSERT_EQ((*all[from])->Find(Rank{to})->Write(AsView(text)).value(), 6u);
      EXPECT_EQ(ReadFrom(**all[to], Rank{from}, 6), text);
    }
}

// ---- more links later ---------------------------------------------------------------------------

/// Returns links of `rank` to no peer, with room for links to all of `ranks`.
std::unique_ptr<Links> Alone(TestRank& rank, const std::vector<TestRank>& ranks,
                             const ConnectTools& tools, const ConnectOptions& options) {
  ConnectRequest request = RequestOf(rank, ranks, options);
  request.peers.clear();
  for (const TestRank& each : ranks) request.later.push_back(each.neighbour);
  auto links = Connect(std::move(request), std::move(rank.endpoint), tools);
  EXPECT_TRUE(links.ok()) << links.error().message;
  return std::move(links).value();
}

void AreMadeLater(LinkChoice choice) {
  World world;
  std::vector<TestRank> ranks;
  for (std::uint32_t i = 0; i < 2; ++i) ranks.emplace_back(i);
  if (choice == LinkChoice::kInproc)
    ranks[1].neighbour.process_hash = ranks[0].neighbour.process_hash;
  ConnectOptions options;
  options.choice = choice;
  std::vector<std::unique_ptr<Links>> links;
  std::vector<std::unique_ptr<Extension>> more;
  for (TestRank& rank : ranks) links.push_back(Alone(rank, ranks, world.tools, options));
  for (std::size_t i = 0; i < 2; ++i) {
    auto begun = Extension::Begin(RequestOf(ranks[i], ranks, options), *links[i], world.tools);
    ASSERT_TRUE(begun.ok()) << begun.error().message;
    more.push_back(std::move(begun).value());
    EXPECT_EQ(more[i]->meets(), choice != LinkChoice::kInproc);
    if (i == 0) {
      EXPECT_EQ(more[0]->Take().value(), std::vector{Rank{1}}) << "it has not come";
    }
  }
  std::thread other([&] { EXPECT_TRUE(more[1]->AwaitPeers().ok()); });
  EXPECT_TRUE(more[0]->AwaitPeers().ok());
  other.join();
  for (std::size_t i = 0; i < 2; ++i)
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(more[i]->Take().value(), std::vector<Rank>{});
      EXPECT_EQ(links[i]->size(), 1u);
    }
  for (const std::uint32_t from : {0u, 1u}) {
    ASSERT_EQ(links[from]->Find(Rank{1 - from})->Write(AsView("hello")).value(), 5u);
    EXPECT_EQ(ReadFrom(*links[1 - from], Rank{from}, 5), "hello");
  }
}

TEST(Extension, MakesLinksOfAnyKindToLaterRanks) {
  for (const LinkChoice choice : {LinkChoice::kInproc, LinkChoice::kShm, LinkChoice::kTcp})
    AreMadeLater(choice);
}

TEST(Extension, HasRoomForPossibleLinksToRanksOfItsHost) {
  World world;
  std::vector<TestRank> ranks;
  for (const std::uint32_t rank : {0u, 1u, 2u, 3u, 2u}) ranks.emplace_back(rank);  // one rank twice
  ranks[3].neighbour.host_hash = 9;
  const auto links = Alone(ranks[0], ranks, world.tools, {});
  EXPECT_EQ(links->reserve().segment->shape().pipes, 2u);
  const auto begin = [&](std::initializer_list<std::size_t> peers) {
    ConnectRequest request = RequestOf(ranks[0], ranks);
    request.peers.clear();
    for (const std::size_t peer : peers) request.peers.push_back(ranks[peer].neighbour);
    return Extension::Begin(std::move(request), *links, world.tools);
  };
  EXPECT_TRUE(begin({1, 2}).ok());
  EXPECT_TRUE(begin({3}).ok()) << "takes no room";
  ranks[3].neighbour.host_hash = 0;
  const auto full = begin({3});
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, Code::kUnsupported);
  EXPECT_THAT(full.error().message, HasSubstr("needs 3 pipes of shared memory and has room for 2"));
}

TEST(Connect, AFailedRankFailsItsNeighboursInTheProcess) {
  World world;
  std::vector<TestRank> ranks;
  for (std::uint32_t i = 0; i < 3; ++i) ranks.emplace_back(i);
  ranks[1].neighbour.process_hash = ranks[0].neighbour.process_hash;
  // Rank 2 never arrives. Rank 0 waits for it briefly, and rank 1 does not wait for it.
  ConnectRequest short_of_time = RequestOf(ranks[0], ranks);
  short_of_time.deadline = os::Now();
  ConnectRequest patient = RequestOf(ranks[1], ranks);
  patient.peers.pop_back();
  std::optional<Result<std::unique_ptr<Links>>> other;
  std::thread thread([&] { other = Connect(patient, std::move(ranks[1].endpoint), world.tools); });
  const auto mine = Connect(short_of_time, std::move(ranks[0].endpoint), world.tools);
  ASSERT_FALSE(mine.ok());
  EXPECT_THAT(mine.error().message, HasSubstr("rank 2 on testhost"));
  world.abort.request_stop();
  thread.join();
  if (other->ok()) {
    EXPECT_EQ((**other)->Find(Rank{0})->Peek().error().code, Code::kPeerLost);
  }
}

}  // namespace
}  // namespace ringlet::transport
