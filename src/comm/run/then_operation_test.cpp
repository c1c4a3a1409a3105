#include "comm/run/then_operation.hpp"

#include <gtest/gtest.h>

namespace ringlet::comm {
namespace {

/// Takes some turns, and says its name.
class Turns final : public collective::Operation {
 public:
  Turns(std::string name, int turns) : name_(std::move(name)), turns_(turns) {}
  Result<bool> Advance() override { return --turns_ <= 0; }
  bool moved() const override { return true; }
  std::string WaitingFor() const override { return name_; }
  std::optional<Rank> Awaits() const override { return std::nullopt; }
  const collective::WaitTarget* place() const override {
    return name_ == "second" ? &place_ : nullptr;
  }

 private:
  std::string name_;
  int turns_;
  collective::WaitTarget place_;
};

TEST(ThenOperation, MakesTheSecondWhenTheFirstIsDone) {
  ThenOperation both(std::make_unique<Turns>("first", 2),
                     [] { return ThenOperation::Made(std::make_unique<Turns>("second", 2)); });
  EXPECT_FALSE(both.Advance().value());
  EXPECT_EQ(both.WaitingFor(), "first");
  EXPECT_EQ(both.place(), nullptr);
  EXPECT_FALSE(both.Advance().value());
  EXPECT_TRUE(both.moved());
  EXPECT_EQ(both.WaitingFor(), "second");
  EXPECT_NE(both.place(), nullptr);
  EXPECT_FALSE(both.Advance().value());
  EXPECT_TRUE(both.Advance().value());
}

TEST(ThenOperation, AFailureToMakeTheNextIsItsError) {
  ThenOperation both(std::make_unique<Turns>("first", 1), [] {
    return ThenOperation::Made(Error{Code::kSystem, "no second"});
  });
  for (int i = 0; i < 2; ++i) EXPECT_EQ(both.Advance().error().message, "no second");
}

}  // namespace
}  // namespace ringlet::comm
