#include "comm/run/check_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kRanks = 3;

/// Two floats for each rank, in sequence.
struct Exchange {
  std::vector<float> in = std::vector<float>(6), out = std::vector<float>(6);
  AllToAllVCall call{.input = std::as_bytes(std::span(in)),
                     .output = std::as_writable_bytes(std::span(out)),
                     .sent = {{2, 2, 2}, {0, 2, 4}},
                     .received = {{2, 2, 2}, {0, 2, 4}}};
};

TEST(CheckWork, PortionsLieWithinTheirBuffers) {
  Exchange exchange;
  EXPECT_TRUE(CheckPortions(exchange.call, kRanks).ok());
  exchange.call.sent.displacements[2] = 5;
  EXPECT_THAT(CheckPortions(exchange.call, kRanks).error().message,
              HasSubstr("sends 2 elements at 5 for rank 2, beyond the 6"));
  exchange.call.sent.displacements[2] = SIZE_MAX;
  EXPECT_FALSE(CheckPortions(exchange.call, kRanks).ok()) << "the sum would overflow";
  exchange.call.sent.displacements.pop_back();
  EXPECT_THAT(CheckPortions(exchange.call, kRanks).error().message,
              HasSubstr("3 counts and 2 displacements among 3 ranks"));
}

TEST(CheckWork, PortionsAreNotInPlace) {
  Exchange exchange;
  exchange.call.output = std::as_writable_bytes(std::span(exchange.in));
  EXPECT_THAT(CheckPortions(exchange.call, kRanks).error().message, HasSubstr("overlap"));
}

TEST(CheckWork, EveryRankReceivesAMessageAndSendsAMessage) {
  const Exchange exchange;
  const auto messages = MessagesOf(exchange.call, {Rank{1}, kRanks}, 7);
  ASSERT_EQ(messages.size(), 2 * kRanks);
  EXPECT_EQ(messages[0].peer, Rank{1}) << "this rank itself first";
  EXPECT_EQ(messages[2].peer, Rank{2});
  EXPECT_EQ(messages[3].peer, Rank{0});
  EXPECT_EQ(messages[2].from.data(), exchange.call.input.data() + 4 * sizeof(float));
  EXPECT_EQ(messages[3].to.data(), exchange.call.output.data());
  EXPECT_EQ(messages[2].fingerprint.root, Rank{2}) << "the receiver";
  EXPECT_EQ(messages[3].fingerprint.root, Rank{1});
  EXPECT_EQ(messages[3].fingerprint.sequence, 7u);
}

TEST(CheckWork, RefusesAMessageOfAnotherLengthThanItsCount) {
  std::vector<std::byte> data(8);
  Transfer transfer{.peer = Rank{2}, .sends = true, .from = data, .count = 2};
  EXPECT_TRUE(CheckTransfer(transfer, kRanks).ok());
  transfer.count = 3;
  EXPECT_THAT(CheckTransfer(transfer, kRanks).error().message, HasSubstr("are not 8 bytes"));
  transfer.count = SIZE_MAX;
  EXPECT_THAT(CheckTransfer(transfer, kRanks).error().message, HasSubstr("larger than any memory"));
  transfer.peer = Rank{3};
  EXPECT_THAT(CheckTransfer(transfer, kRanks).error().message, HasSubstr("to rank 3"));
}

TEST(CheckWork, RefusesSignalsBeyondTheBounds) {
  EXPECT_TRUE(CheckSignal(Rank{2}, {.context = 0, .number = 1}, kRanks).ok());
  EXPECT_THAT(CheckSignal(Rank{3}, {}, kRanks).error().message, HasSubstr("a signal of rank 3"));
  const SignalWait wait{{{Rank{0}, {.context = Signal::kContextsMax}}}};
  EXPECT_THAT(CheckWait(wait, kRanks).error().message, HasSubstr("there are at most"));
}

}  // namespace
}  // namespace ringlet::comm
