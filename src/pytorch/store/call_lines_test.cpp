#include "pytorch/store/call_lines.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "pytorch/store/store_for_test.hpp"

namespace ringlet::torch_api {
namespace {

using testing::HasSubstr;
using testing::Not;

// Returns the text for each rank; all ranks call at the same time.
std::vector<std::string> OnRanks(const std::shared_ptr<KeyStore>& store,
                                 const std::vector<CallLine>& lines) {
  std::vector<std::string> texts(lines.size());
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < lines.size(); ++rank)
    ranks.emplace_back([&, rank] {
      CallLines exchange(store, rank, static_cast<std::uint32_t>(lines.size()), {});
      texts[rank] = exchange.Exchange(lines[rank]);
    });
  for (std::thread& rank : ranks) rank.join();
  return texts;
}

TEST(CallLines, EachRankReceivesTheLinesOfAll) {
  const auto texts =
      OnRanks(std::make_shared<MemoryStore>(),
              {{7, 18, "a.py:1 in f"}, {7, 18, "a.py:2 in g"}, {7, 18, "a.py:1 in f"}});
  for (const std::string& text : texts)
    EXPECT_EQ(text, "\nranks 0, 2: a.py:1 in f\nrank 1: a.py:2 in g");
}

TEST(CallLines, MarksALineOfAnotherCall) {
  const auto texts =
      OnRanks(std::make_shared<MemoryStore>(), {{7, 18, "a.py:1 in f"}, {7, 17, "a.py:2 in g"}});
  EXPECT_THAT(texts[0], HasSubstr("rank 1: a.py:2 in g (in call 17, not 18)"));
  EXPECT_THAT(texts[1], HasSubstr("rank 0: a.py:1 in f (in call 18, not 17)"));
}

TEST(CallLines, NamesRanksWithoutALine) {
  CallLines exchange(std::make_shared<MemoryStore>(), 1, 3, {});
  EXPECT_EQ(exchange.Exchange({7, 1, "b.py:3"}),
            "\nrank 1: b.py:3\nranks 0, 2: no line arrived in time");
}

TEST(CallLines, TheFirstExchangeIsFinal) {
  CallLines exchange(std::make_shared<MemoryStore>(), 0, 1, {});
  const std::string first = exchange.Exchange({7, 1, "a.py:1"});
  EXPECT_EQ(first, "\nrank 0: a.py:1");
  EXPECT_EQ(exchange.Exchange({7, 2, "a.py:2"}), first);
}

TEST(CallLines, AnEarlierGroupInTheStoreDoesNotInterfere) {
  const auto store = std::make_shared<MemoryStore>();
  OnRanks(store, {{7, 1, "old.py:1"}, {7, 1, "old.py:2"}});
  for (const std::string& text : OnRanks(store, {{8, 1, "new.py:1"}, {8, 1, "new.py:2"}}))
    EXPECT_EQ(text, "\nrank 0: new.py:1\nrank 1: new.py:2");
}

TEST(CallLines, LimitsAndCleansLinesOfOtherRanks) {
  const auto texts = OnRanks(std::make_shared<MemoryStore>(),
                             {{7, 1, "a.py:1"}, {7, 1, "b\n\x1b[31m" + std::string(4096, 'x')}});
  EXPECT_THAT(texts[0], HasSubstr("\nrank 1: b  [31mxxx"));
  EXPECT_LT(texts[0].size(), 2 * CallLines::kBytesMax);
}

TEST(CallLines, IgnoresBytesThatAreNotALine) {
  const auto store = std::make_shared<MemoryStore>();
  ASSERT_TRUE(store->Set("line:0000000000000007:1", AsView("short")).ok());
  CallLines exchange(store, 0, 2, {});
  EXPECT_EQ(exchange.Exchange({7, 1, "a.py:1"}),
            "\nrank 0: a.py:1\nrank 1: no line arrived in time");
}

TEST(CallLines, NamesTheFirstRanksAndItsOwnAmongMany) {
  const auto store = std::make_shared<MemoryStore>();
  constexpr std::uint32_t kSize = CallLines::kRanksNamed + 6;
  std::vector<CallLine> lines;
  for (std::uint32_t rank = 0; rank < kSize; ++rank)
    lines.push_back({7, 1, fmt::format("a.py:{} in f", rank)});
  const auto texts = OnRanks(store, lines);
  EXPECT_THAT(texts.back(), HasSubstr("\nrank 0: a.py:0 in f"));
  EXPECT_THAT(texts.back(), HasSubstr("\nrank 69: a.py:69 in f"));
  EXPECT_THAT(texts.back(), Not(HasSubstr("rank 64")));
}

class BrokenStore final : public MemoryStore {
 public:
  explicit BrokenStore(bool takes) : takes_(takes) {}
  Status Set(const std::string& key, View value) override {
    return takes_ ? MemoryStore::Set(key, value) : Status(Error{Code::kPeerLost, "gone"});
  }
  Result<std::optional<Bytes>> Find(const std::string& /*key*/) override {
    return Error{Code::kPeerLost, "gone"};
  }

 private:
  const bool takes_;
};

TEST(CallLines, ABrokenStoreGivesAnEmptyText) {
  for (const bool takes : {false, true}) {
    CallLines exchange(std::make_shared<BrokenStore>(takes), 0, 2, {});
    EXPECT_EQ(exchange.Exchange({7, 1, "a.py:1"}), "");
  }
}

TEST(CallLines, TheEndOfTheGroupEndsTheWait) {
  std::stop_source ending;
  ending.request_stop();
  CallLines exchange(std::make_shared<MemoryStore>(), 0, 2, ending.get_token());
  EXPECT_EQ(exchange.Exchange({7, 1, "a.py:1"}),
            "\nrank 0: a.py:1\nrank 1: no line arrived in time");
}

}  // namespace
}  // namespace ringlet::torch_api
