#include "comm/backend/sequence.hpp"

#include <gtest/gtest.h>

namespace ringlet::comm {
namespace {

/// Takes some turns. WaitingFor returns its name. Counts live objects.
class Turns final : public collective::Operation {
 public:
  Turns(std::string name, int turns, int& there)
      : name_(std::move(name)), turns_(turns), there_(there) {
    ++there_;
  }
  ~Turns() override { --there_; }
  Result<bool> Advance() override { return --turns_ <= 0; }
  bool moved() const override { return false; }
  std::string WaitingFor() const override { return name_; }
  std::optional<Rank> Awaits() const override { return Rank{7}; }
  const collective::WaitTarget* place() const override {
    return name_ == "second" ? &place_ : nullptr;
  }
  void Withdraw() override { name_ = "withdrawn"; }

 private:
  std::string name_;
  int turns_;
  int& there_;
  collective::WaitTarget place_;
};

/// Makes Turns, and notes the order.
class Maker {
 public:
  std::function<Sequence::Made()> operator()(std::string name, int turns = 2) {
    return [this, name, turns] {
      begun += name + " ";
      return Sequence::Made(std::make_unique<Turns>(name, turns, there));
    };
  }
  int there = 0;
  std::string begun;
};

TEST(Sequence, MakesTheSecondOperationAfterTheFirstIsDestroyed) {
  Maker maker;
  const auto both = Sequence::Of(std::make_unique<Turns>("first", 2, maker.there), [&] {
    EXPECT_EQ(maker.there, 0);
    return maker("second")();
  });
  EXPECT_FALSE(both->Advance().value());
  EXPECT_FALSE(both->moved());
  EXPECT_EQ(both->WaitingFor(), "first");
  EXPECT_EQ(both->place(), nullptr);
  EXPECT_FALSE(both->Advance().value());
  EXPECT_TRUE(both->moved());
  EXPECT_EQ(both->WaitingFor(), "second");
  EXPECT_NE(both->place(), nullptr);
  EXPECT_EQ(both->Awaits(), Rank{7});
  EXPECT_TRUE(both->Advance().value());
  EXPECT_EQ(maker.there, 0);
}

TEST(Sequence, PartsOverLinksRunBesideIndependentPartsOnTheHost) {
  Maker maker;
  const auto all = Sequence::Begin({{.make = maker("sum0", 1)},
                                    {.make = maker("link0", 4), .over_links = true},
                                    {.make = maker("sum1", 1)},
                                    {.make = maker("link1", 1), .over_links = true},
                                    {.make = maker("gather0", 1), .links_before = 1},
                                    {.make = maker("gather1", 1), .links_before = 2}})
                       .value();
  EXPECT_EQ(maker.begun, "sum0 ");
  EXPECT_FALSE(all->Advance().value());
  EXPECT_EQ(maker.begun, "sum0 link0 sum1 ") << "the second sum is made beside the first link";
  EXPECT_EQ(all->WaitingFor(), "link0") << "nothing is left to do on the host";
  EXPECT_EQ(all->place(), nullptr);
  EXPECT_TRUE(all->moved());
  EXPECT_FALSE(all->Advance().value());
  EXPECT_FALSE(all->moved());
  bool done = false;
  for (int turn = 0; turn < 8 && !done; ++turn) done = all->Advance().value();
  EXPECT_TRUE(done);
  EXPECT_EQ(maker.begun, "sum0 link0 sum1 link1 gather0 gather1 ");
  EXPECT_EQ(maker.there, 0);
}

TEST(Sequence, ReportsTheAwaitedPartOnTheHostFirst) {
  Maker maker;
  const auto both = Sequence::Begin({{.make = maker("link", 9), .over_links = true},
                                     {.make = maker("second", 9)}})
                        .value();
  EXPECT_EQ(both->WaitingFor(), "second");
  EXPECT_NE(both->place(), nullptr);
  both->Withdraw();
  EXPECT_EQ(both->WaitingFor(), "withdrawn");
}

TEST(Sequence, FailsIfItCannotMakeTheNextOperation) {
  Maker maker;
  const auto fails = [] { return Sequence::Made(Error{Code::kSystem, "no second"}); };
  const auto both = Sequence::Of(std::make_unique<Turns>("first", 1, maker.there), fails);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(both->Advance().error().message, "no second");
  EXPECT_EQ(both->WaitingFor(), "");
  EXPECT_EQ(both->Awaits(), std::nullopt);
  EXPECT_EQ(both->place(), nullptr);
  both->Withdraw();
  EXPECT_EQ(Sequence::Begin({{.make = fails}}).error().message, "no second");
}

}  // namespace
}  // namespace ringlet::comm
