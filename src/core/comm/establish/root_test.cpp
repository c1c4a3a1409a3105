#include "comm/establish/root.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/establish/stages.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "rendezvous/invitation.hpp"

namespace ringlet::comm {
namespace {

std::uint16_t FreePort() {
  return os::Listen(Address::Ipv4(127, 0, 0, 1, 0))->address.port;
}

TEST(Root, EveryIdIsUnique) {
  const auto process = ProcessWith({});
  const auto a = *rendezvous::Decode(*CreateUniqueId(process));
  const auto b = *rendezvous::Decode(*CreateUniqueId(process));
  EXPECT_NE(a.credentials.magic, b.credentials.magic);
  EXPECT_NE(a.credentials.secret, b.credentials.secret);
  EXPECT_EQ(a.roots, b.roots) << "one listener serves them all";
  EXPECT_FALSE(a.fixed_address);
}

TEST(Root, AGivenIdIsReturnedByTheFirstCallOnly) {
  const UniqueId id = *CreateUniqueId(ProcessWith({}));
  const std::string text = rendezvous::ToText(id);
  const auto process = ProcessWith({{"RINGLET_UNIQUE_ID", text}});
  EXPECT_NE(CreateUniqueId(process)->bytes, id.bytes) << "what others make is always new";
  EXPECT_EQ(NextUniqueId(process)->bytes, id.bytes);
  const UniqueId second = *NextUniqueId(process), third = *NextUniqueId(process);
  EXPECT_NE(second.bytes, id.bytes);
  EXPECT_NE(second.bytes, third.bytes);
  const auto fixed = ProcessWith({{"RINGLET_UNIQUE_ID", text}, {"NCCL_COMM_ID", "127.0.0.1:7"}});
  EXPECT_TRUE(rendezvous::Decode(*NextUniqueId(fixed))->fixed_address);
  const auto bad = NextUniqueId(ProcessWith({{"RINGLET_UNIQUE_ID", "ringlet1:00"}}));
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message, testing::HasSubstr("RINGLET_UNIQUE_ID"));
  EXPECT_THAT(bad.error().message, testing::Not(testing::HasSubstr("ringlet1")));
}

/// Ranks of a launched job of four, each in its own process.
class Job {
 public:
  Job() {
    const std::string id = rendezvous::ToText(*CreateUniqueId(launcher_));
    for (int rank = 0; rank < 4; ++rank)
      ranks_.push_back(ProcessWith({{"RINGLET_UNIQUE_ID", id},
                                    {"RINGLET_RANK", std::to_string(rank)},
                                    {"RINGLET_WORLD_SIZE", "4"}}));
  }
  UniqueId NextIdOf(std::uint32_t rank) { return *NextUniqueId(ranks_[rank]); }

  /// Forms a communicator of `members`, each with its own id, and sums.
  void ExpectTogether(const std::vector<std::uint32_t>& members, const std::vector<UniqueId>& ids) {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < members.size(); ++i)
      threads.emplace_back([&, i] {
        const Config config{
            .id = ids[i], .rank = i, .size = static_cast<std::uint32_t>(members.size())};
        auto formed = Establish(ranks_[members[i]], config, {});
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        EXPECT_TRUE(SumOfRanks(**formed, 1).ok());
      });
  }

 private:
  const std::shared_ptr<Process> launcher_ = ProcessWith({});
  std::vector<std::shared_ptr<Process>> ranks_;
};

TEST(Root, RanksOfAJobFormWithoutAnExchangeOfIds) {
  Job job;
  std::vector<UniqueId> ids;
  for (std::uint32_t rank = 0; rank < 4; ++rank) ids.push_back(job.NextIdOf(rank));
  job.ExpectTogether({0, 1, 2, 3}, ids);
}

TEST(Root, PartsOfAJobExchangeTheirFirstIds) {
  Job job;
  const UniqueId low = job.NextIdOf(0), high = job.NextIdOf(2);
  EXPECT_NE(low, high);
  std::jthread other([&] { job.ExpectTogether({2, 3}, {high, high}); });
  job.ExpectTogether({0, 1}, {low, low});
}

// Any rank may make the id of a communicator of all ranks. Several such communicators may exist.
TEST(Root, AllRanksOfAJobExchangeTheirFirstIds) {
  Job job;
  std::vector<UniqueId> made;
  for (std::uint32_t rank = 0; rank < 4; ++rank) made.push_back(job.NextIdOf(rank));
  for (const std::uint32_t maker : {1u, 0u, 3u})
    job.ExpectTogether({0, 1, 2, 3}, std::vector(4, made[maker]));
}

TEST(Root, AFirstIdIsAnOrdinaryIdInAnotherJob) {
  Job job, another;
  const UniqueId id = job.NextIdOf(0);
  another.ExpectTogether({0, 1, 2, 3}, std::vector(4, id));
}

TEST(Root, AFixedAddressNeedsNoExchangeOfIds) {
  const std::string comm_id = "127.0.0.1:" + std::to_string(FreePort());
  const EnvMap environment = {{"NCCL_COMM_ID", comm_id}, {"RINGLET_SECRET", "s3"}};
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      const auto process = ProcessWith(environment);
      const UniqueId id = *CreateUniqueId(process);
      auto communicator = Establish(process, {.id = id, .rank = rank, .size = 3}, {});
      ASSERT_TRUE(communicator.ok()) << communicator.error().message;
      EXPECT_TRUE(SumOfRanks(**communicator, 100).ok());
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Root, AnotherSecretIsRefusedWithAReason) {
  const std::string comm_id = "127.0.0.1:" + std::to_string(FreePort());
  const auto ours = ProcessWith(
      {{"NCCL_COMM_ID", comm_id}, {"RINGLET_SECRET", "ours"}, {"RINGLET_INIT_TIMEOUT", "5"}});
  const auto theirs = ProcessWith({{"NCCL_COMM_ID", comm_id}, {"RINGLET_SECRET", "theirs"}});
  std::stop_source stop;
  std::thread host([&] {
    EXPECT_FALSE(
        Establish(ours, {.id = *CreateUniqueId(ours), .rank = 0, .size = 2}, stop.get_token())
            .ok());
  });
  const auto refused = Establish(theirs, {.id = *CreateUniqueId(theirs), .rank = 1, .size = 2}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("the secrets differ"));
  stop.request_stop();
  host.join();
}

TEST(Root, NamesAnAddressInUse) {
  const auto taken = os::Listen(Address::Ipv4(127, 0, 0, 1, 0));
  const std::string comm_id = "127.0.0.1:" + std::to_string(taken->address.port);
  const auto process = ProcessWith({{"NCCL_COMM_ID", comm_id}, {"RINGLET_SECRET", "s"}});
  const auto result =
      Establish(process, {.id = *CreateUniqueId(process), .rank = 0, .size = 2}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::kSystem);
  EXPECT_THAT(result.error().message, testing::HasSubstr(comm_id));
}

// Debian maps a host's own name like this.
TEST(Root, WarnsOfANameThatResolvesToLoopback) {
  os::TempTree tree;
  const auto process = ProcessWith({{"NCCL_COMM_ID", "alpha:2346"},
                                    {"RINGLET_DEBUG", "WARN"},
                                    {"RINGLET_DEBUG_FILE", tree.At("log")}});
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  WarnOfLoopback(*process, Address::Ipv4(10, 91, 0, 1, 2346));
  if (const auto quiet = files.Read("log"); quiet.ok()) {
    EXPECT_THAT(*quiet, testing::Not(testing::HasSubstr("loopback")));
  }
  WarnOfLoopback(*process, Address::Ipv4(127, 0, 1, 1, 2346));
  EXPECT_THAT(files.Read("log").value(),
              testing::HasSubstr("NCCL_COMM_ID=alpha:2346 is 127.0.1.1:2346 here, a loopback "
                                 "address: ranks on other hosts cannot reach this root."));
}

TEST(Root, ATimeoutReportsThatTheRootListensOnLoopback) {
  const std::string comm_id = "127.0.0.1:" + std::to_string(FreePort());
  const auto process = ProcessWith(
      {{"NCCL_COMM_ID", comm_id}, {"RINGLET_SECRET", "s"}, {"RINGLET_INIT_TIMEOUT", "1"}});
  const auto alone = Establish(process, {.id = *CreateUniqueId(process), .rank = 0, .size = 2}, {});
  ASSERT_FALSE(alone.ok());
  EXPECT_THAT(alone.error().message, testing::HasSubstr("the root listens at " + comm_id +
                                                        ", a loopback address: ranks "
                                                        "on other hosts cannot reach it"));
}

// At an address that is easy to find, a silent caller is disconnected.
TEST(Root, ASilentCallerIsDisconnected) {
  const std::uint16_t port = FreePort();
  const auto process = ProcessWith({{"NCCL_COMM_ID", "127.0.0.1:" + std::to_string(port)},
                                    {"RINGLET_SECRET", "s"},
                                    {"RINGLET_HANDSHAKE_TIMEOUT", "0.2"}});
  const Config config{.id = *CreateUniqueId(process), .rank = 0, .size = 2};
  const auto ids = ReadIds(*process, config);
  ASSERT_TRUE(OpenFixedRoot(process, ids->front(), config).ok());
  const int stranger = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in there{.sin_family = AF_INET,
                          .sin_port = htons(port),
                          .sin_addr = {htonl(INADDR_LOOPBACK)},
                          .sin_zero = {}};
  ASSERT_EQ(::connect(stranger, reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  const timeval timeout{.tv_sec = 8, .tv_usec = 0};  // the default is 10 s
  ASSERT_EQ(::setsockopt(stranger, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), 0);
  char any[256];
  ssize_t got = 1;
  while (got > 0) got = ::recv(stranger, any, sizeof any, 0);
  EXPECT_FALSE(got < 0 && errno == EAGAIN) << "it is still listened to";
  ::close(stranger);
}

TEST(Root, WarnsOfAFixedAddressWithoutASecret) {
  os::TempTree tree;
  for (const char* secret : {"", "s"}) {
    const auto process =
        ProcessWith({{"NCCL_COMM_ID", "127.0.0.1:7"},
                     {"RINGLET_SECRET", secret},
                     {"RINGLET_DEBUG", "WARN"},
                     {"RINGLET_DEBUG_FILE", tree.At(std::string("log") + secret)}});
    ASSERT_TRUE(CreateUniqueId(process).ok());
    const auto grown = CreateUniqueId(process, 2);
    ASSERT_FALSE(grown.ok());
    EXPECT_EQ(grown.error().code, Code::kUnsupported);
    EXPECT_EQ(CreateUniqueId(process, 1).error().code, Code::kUnsupported);
  }
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  EXPECT_THAT(files.Read("log").value(), testing::HasSubstr("RINGLET_SECRET is not set"));
  if (const auto quiet = files.Read("logs"); quiet.ok()) {
    EXPECT_THAT(*quiet, testing::Not(testing::HasSubstr("RINGLET_SECRET")));
  }
}

TEST(Root, NamesAnUnknownHost) {
  const auto process = ProcessWith({{"NCCL_COMM_ID", "no such host:1"}, {"RINGLET_SECRET", "s"}});
  const auto id = CreateUniqueId(process);
  ASSERT_FALSE(id.ok());
  EXPECT_THAT(id.error().message, testing::HasSubstr("no such host"));
}

}  // namespace
}  // namespace ringlet::comm
