#include "sim/line_book.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringlet::sim {
namespace {

TEST(LineBook, ClosingOneEndKeepsTheOther) {
  LineBook book;
  EndId a_first = LineBook::kFirst, b_first = LineBook::kFirst;
  const EndId a = book.Open(1, 10, a_first), b = book.Open(2, 20, b_first);
  book.Connect(a, b);
  EXPECT_EQ(book[b].peer, a);
  book.Close(a, a_first);
  EXPECT_EQ(a_first, kNone);
  EXPECT_EQ(book.Find(1, 10), kNone);
  EXPECT_EQ(book.Find(2, 20), b);
  EXPECT_EQ(book[b].peer, kNone);
}

TEST(LineBook, AReusedEndDoesNotMatchItsOldLine) {
  LineBook book;
  EndId first = LineBook::kFirst;
  const EndId old = book.Open(1, 10, first);
  book.Close(old, first);
  EXPECT_FALSE(book.Is(old, 1, 10));
  EXPECT_EQ(book.Open(1, 11, first), old);
  EXPECT_FALSE(book.Is(old, 1, 10));
  EXPECT_TRUE(book.Is(old, 1, 11));
}

TEST(LineBook, EachReusedEndServesOneLine) {
  LineBook book;
  EndId first = LineBook::kFirst;
  for (const LineId line : {5u, 6u}) book.Open(3, line, first);
  for (const LineId line : {5u, 6u}) book.Close(book.Find(3, line), first);
  for (const LineId line : {7u, 8u, 9u}) book.Open(3, line, first);
  for (const LineId line : {7u, 8u, 9u}) EXPECT_EQ(book[book.Find(3, line)].line, line);
  EXPECT_EQ(book.open(), 3u);
}

TEST(LineBook, LinesCanBeClosedInAnyOrder) {
  std::vector<std::size_t> order{0, 1, 2, 3};
  do {
    LineBook book;
    EndId first = LineBook::kFirst;
    std::vector<EndId> ends;
    for (const LineId line : {5u, 6u, 7u, 8u}) ends.push_back(book.Open(3, line, first));
    for (std::size_t i = 0; i < order.size(); ++i) {
      book.Close(ends[order[i]], first);
      std::size_t left = 0;
      for (EndId end = first; end != kNone; end = book[end].older) ++left;
      ASSERT_EQ(left, order.size() - i - 1);
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST(LineBook, ClosingALineKeepsTheChainOfTheOthers) {
  for (const std::size_t closed : {0u, 1u, 2u}) {
    LineBook book;
    EndId first = LineBook::kFirst;
    std::vector<EndId> ends;
    for (const LineId line : {5u, 6u, 7u}) ends.push_back(book.Open(3, line, first));
    book.Close(ends[closed], first);
    std::vector<LineId> left;
    for (EndId end = first; end != kNone; end = book[end].older) left.push_back(book[end].line);
    std::vector<LineId> expected{7, 6, 5};
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(2 - closed));
    EXPECT_EQ(left, expected);
    EXPECT_EQ(book.open(), 2u);
  }
}

}  // namespace
}  // namespace ringlet::sim
