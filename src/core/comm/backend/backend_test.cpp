#include "comm/backend/backend.hpp"

#include <gtest/gtest.h>

namespace ringlet::comm {
namespace {

/// Counts the live objects of its type.
class Counted final : public collective::Operation {
 public:
  explicit Counted(int& alive) : alive_(alive) { ++alive_; }
  ~Counted() override { --alive_; }
  Result<bool> Advance() override { return true; }
  bool moved() const override { return true; }
  std::string WaitingFor() const override { return ""; }
  std::optional<Rank> Awaits() const override { return std::nullopt; }

 private:
  int& alive_;
};

TEST(Backend, AStartedOperationDoesNotOwnABorrowedOne) {
  int alive = 0;
  Counted kept(alive);
  { const Started borrowed(kept); }
  EXPECT_EQ(alive, 1);
  {
    auto owner = StartedBy(std::unique_ptr<collective::Operation>(new Counted(alive)));
    ASSERT_TRUE(owner.ok());
    EXPECT_EQ(alive, 2);
    const Started moved = std::move(owner).value();
    EXPECT_TRUE(moved->Advance().value());
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 1);
}

TEST(Backend, AnErrorInMakingAnOperationFailsItsStart) {
  const auto none = StartedBy(Error{Code::kSystem, "no descriptors"});
  EXPECT_EQ(none.error().message, "no descriptors");
}

}  // namespace
}  // namespace ringlet::comm
