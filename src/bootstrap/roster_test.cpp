#include "bootstrap/roster.hpp"

#include <gtest/gtest.h>

#include "base/prng.hpp"

namespace ringlet::bootstrap {
namespace {

Introduction Person(std::uint32_t rank) {
  Introduction person;
  person.addresses = {Address::Ipv4(10, 0, 0, static_cast<std::uint8_t>(rank), 99),
                      *ParseAddress("[fe80::1%2]:7")};
  person.host = "host" + std::to_string(rank / 2);
  person.pid = 1000 + rank;
  person.card.assign(rank * 3 % 40, static_cast<std::byte>(rank));
  return person;
}

Roster RosterOf(std::uint32_t size) {
  std::vector<Bytes> records;
  for (std::uint32_t r = 0; r < size; ++r) {
    Writer out;
    Encode(out, Person(r));
    records.push_back(out.Take());
  }
  return Roster::Build(records);
}

TEST(Roster, FindsEveryRank) {
  for (const std::uint32_t size : {1u, 2u, 17u, 300u}) {
    const Roster built = RosterOf(size);
    const Roster parsed = *Roster::Parse(built.bytes(), size);
    EXPECT_EQ(parsed.digest(), built.digest());
    for (std::uint32_t r = 0; r < size; ++r) EXPECT_EQ(*parsed.At(Rank{r}), Person(r));
  }
  EXPECT_EQ(RosterOf(3).DescribeRank(Rank{2}), "rank 2 (host host1, pid 1002)");
}

TEST(Roster, RefusesAnotherSizeAndEveryDamage) {
  const Roster good = RosterOf(5);
  EXPECT_FALSE(Roster::Parse(good.bytes(), 6).ok());
  const View view = good.bytes().bytes;
  for (std::size_t i = 0; i < view.size(); ++i) {
    Bytes bad(view.begin(), view.end());
    bad[i] ^= std::byte{0x10};
    EXPECT_FALSE(Roster::Parse(Slice(View(bad)), 5).ok()) << "byte " << i;
    EXPECT_FALSE(Roster::Parse(Slice(view.first(i)), 5).ok()) << "cut at " << i;
  }
}

TEST(Roster, AnIntroductionBeyondItsBoundsIsRefused) {
  Introduction person = Person(1);
  person.card.resize(kCardBytesMax + 1);
  Writer out;
  Encode(out, person);
  Reader in(out.view());
  DecodeIntroduction(in);
  EXPECT_FALSE(in.ok());
}

}  // namespace
}  // namespace ringlet::bootstrap
