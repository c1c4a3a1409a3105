#include "transport/wireup/arena_meeting.hpp"

#include <gtest/gtest.h>

#include "transport/wireup/ranks_for_test.hpp"

namespace ringlet::transport {
namespace {

Credentials NewCredentials() {
  return {0xa4e4a, UniqueSeed()};
}

ArenaRequest RequestFor(const Credentials& credentials, std::uint32_t self, std::uint32_t ranks) {
  ArenaRequest request{.credentials = credentials,
                       .nonce_seed = UniqueSeed(),
                       .host = "testhost",
                       .members = {},
                       .self = self,
                       .shape = {.ranks = ranks},
                       .deadline = os::Now() + std::chrono::seconds(30)};
  for (std::uint32_t i = 0; i < ranks; ++i) request.members.push_back(Rank{10 + i});
  return request;
}

Result<std::shared_ptr<Arena>> OfferAndShare(const ArenaRequest& request, const ArenaTools& tools) {
  RINGLET_TRY_ASSIGN(ArenaOffer offer, OfferArena(request));
  return ShareArena(request, std::move(offer), tools);
}

std::vector<Result<std::shared_ptr<Arena>>> Share(const std::vector<ArenaRequest>& requests,
                                                  const ArenaTools& tools) {
  std::vector<std::optional<Result<std::shared_ptr<Arena>>>> slots(requests.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < requests.size(); ++i)
    threads.emplace_back([&, i] { slots[i] = OfferAndShare(requests[i], tools); });
  std::vector<Result<std::shared_ptr<Arena>>> all;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    all.push_back(std::move(*slots[i]));
  }
  return all;
}

TEST(ArenaWireup, AllMembersMapTheSameMemory) {
  DriverThread driver;
  for (const std::uint32_t ranks : {1u, 2u, 5u}) {
    const Credentials credentials = NewCredentials();
    std::vector<ArenaRequest> requests;
    for (std::uint32_t i = 0; i < ranks; ++i) requests.push_back(RequestFor(credentials, i, ranks));
    const auto shared = Share(requests, {.driver = driver.driver()});
    for (std::uint32_t i = 0; i < ranks; ++i) {
      ASSERT_TRUE(shared[i].ok()) << shared[i].error().message;
      EXPECT_FALSE((*shared[i])->fd().valid() && ranks > 1) << "no descriptor is kept";
      (*shared[i])->stage(i, 0)[0] = static_cast<std::byte>(i + 1);
    }
    for (std::uint32_t i = 0; i < ranks; ++i)
      for (std::uint32_t peer = 0; peer < ranks; ++peer)
        EXPECT_EQ((*shared[i])->stage(peer, 0)[0], static_cast<std::byte>(peer + 1));
  }
}

TEST(ArenaWireup, AnotherShapeIsRefusedAndNamesTheSender) {
  DriverThread driver;
  const Credentials credentials = NewCredentials();
  std::vector<ArenaRequest> requests = {RequestFor(credentials, 0, 2),
                                        RequestFor(credentials, 1, 2)};
  requests[1].shape.stage_bytes /= 2;
  const auto shared = Share(requests, {.driver = driver.driver()});
  EXPECT_TRUE(shared[0].ok());
  ASSERT_FALSE(shared[1].ok());
  EXPECT_EQ(shared[1].error().code, Code::kProtocol);
  EXPECT_NE(shared[1].error().message.find("rank 10 on testhost sent"), std::string::npos);
}

TEST(ArenaWireup, NamesAMissingRank) {
  DriverThread driver;
  ArenaRequest request = RequestFor(NewCredentials(), 0, 2);
  request.deadline = os::Now() + std::chrono::milliseconds(20);
  const auto shared = OfferAndShare(request, {.driver = driver.driver()});
  ASSERT_FALSE(shared.ok());
  EXPECT_EQ(shared.error().code, Code::kTimeout);
  EXPECT_NE(shared.error().message.find("rank 11 on testhost"), std::string::npos);
}

TEST(ArenaWireup, AddressesDifferBetweenCommunicatorsAndHosts) {
  const Credentials one = NewCredentials(), other = NewCredentials();
  EXPECT_EQ(ToString(ArenaAddress(one, Rank{0})), ToString(ArenaAddress(one, Rank{0})));
  EXPECT_NE(ToString(ArenaAddress(one, Rank{0})), ToString(ArenaAddress(other, Rank{0})));
  EXPECT_NE(ToString(ArenaAddress(one, Rank{0})), ToString(ArenaAddress(one, Rank{8})));
}

}  // namespace
}  // namespace ringlet::transport
