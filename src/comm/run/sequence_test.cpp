#include "comm/run/sequence.hpp"

#include <gtest/gtest.h>

namespace ringlet::comm {
namespace {

/// Takes some turns, and says its name. Counts those that are there.
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

TEST(Sequence, MakesEachWhenTheOneBeforeIsDoneAndGone) {
  int there = 0;
  const auto maker = [&](std::string name) {
    return [&there, name] {
      EXPECT_EQ(there, 0) << name;
      return Sequence::Made(std::make_unique<Turns>(name, 2, there));
    };
  };
  Sequence all(std::make_unique<Turns>("first", 2, there), {maker("second"), maker("third")});
  EXPECT_FALSE(all.Advance().value());
  EXPECT_FALSE(all.moved());
  EXPECT_EQ(all.WaitingFor(), "first");
  EXPECT_EQ(all.place(), nullptr);
  EXPECT_FALSE(all.Advance().value());
  EXPECT_TRUE(all.moved());
  EXPECT_EQ(all.WaitingFor(), "second");
  EXPECT_NE(all.place(), nullptr);
  EXPECT_FALSE(all.Advance().value());
  EXPECT_EQ(all.WaitingFor(), "third");
  EXPECT_EQ(all.Awaits(), Rank{7});
  EXPECT_TRUE(all.Advance().value());
  all.Withdraw();
  EXPECT_EQ(all.WaitingFor(), "withdrawn");
}

TEST(Sequence, AFailureToMakeTheNextIsItsError) {
  int there = 0;
  Sequence both(std::make_unique<Turns>("first", 1, there), {[] {
                  return Sequence::Made(Error{Code::kSystem, "no second"});
                }});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(both.Advance().error().message, "no second");
  EXPECT_EQ(both.WaitingFor(), "");
  EXPECT_EQ(both.Awaits(), std::nullopt);
  EXPECT_EQ(both.place(), nullptr);
  both.Withdraw();
}

}  // namespace
}  // namespace ringlet::comm
