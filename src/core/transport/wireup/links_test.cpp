#include "transport/wireup/links.hpp"

#include <gtest/gtest.h>

namespace ringlet::transport {
namespace {

class FakeLink final : public Link {
 public:
  FakeLink(std::uint32_t peer, std::string_view kind) : peer_(peer), kind_(kind) {}
  Result<std::size_t> Write(View data) override { return data.size(); }
  Result<std::size_t> Read(std::span<std::byte>) override { return std::size_t{0}; }
  Result<View> Peek() override { return View(); }
  void Consume(std::size_t) override {}
  Rank peer() const override { return static_cast<Rank>(peer_); }
  std::string_view kind() const override { return kind_; }

 private:
  std::uint32_t peer_;
  std::string_view kind_;
};

Links Make(std::vector<std::unique_ptr<Link>> links) {
  auto word = std::make_shared<DoorbellWord>();
  auto waiter = DoorbellWaiter::Create(*word, {});
  EXPECT_TRUE(waiter.ok());
  return Links(std::make_shared<RankBell>(RankBell{word, std::move(waiter).value()}),
               std::move(links));
}

TEST(Links, FindsByRankAndSumsUp) {
  std::vector<std::unique_ptr<Link>> made;
  made.push_back(std::make_unique<FakeLink>(9, "tcp"));
  made.push_back(std::make_unique<FakeLink>(2, "shm"));
  made.push_back(std::make_unique<FakeLink>(4, "shm"));
  const Links links = Make(std::move(made));
  EXPECT_EQ(links.size(), 3u);
  EXPECT_EQ(links.Find(Rank{4})->peer(), Rank{4});
  EXPECT_EQ(links.Find(Rank{9})->kind(), "tcp");
  EXPECT_EQ(links.Find(Rank{3}), nullptr);
  EXPECT_EQ(links.Find(Rank{10}), nullptr);
  EXPECT_EQ(links.Summary(), "2 shm, 1 tcp");
}

TEST(Links, MayBeEmpty) {
  const Links links = Make({});
  EXPECT_EQ(links.Find(Rank{0}), nullptr);
  EXPECT_EQ(links.Summary(), "none");
  links.waiter().Wake();
}

}  // namespace
}  // namespace ringlet::transport
