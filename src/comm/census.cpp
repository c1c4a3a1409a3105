#include "comm/census.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/agreement.hpp"

namespace ringlet::comm {
namespace {

// Only when digests differ, which all ranks see alike, are the values themselves exchanged.
Status RequireSameSettings(Control& control, Rank self, const Settings& settings,
                           const std::vector<Card>& cards) {
  const auto differs = [&](const Card& card) {
    return card.settings_digest != cards[0].settings_digest;
  };
  if (std::ranges::none_of(cards, differs)) return Ok();
  RINGLET_TRY_ASSIGN(const bootstrap::Table table, control.AllGather(EncodeAgreement(settings)));
  const std::uint32_t odd =
      static_cast<std::uint32_t>(std::ranges::find_if(cards, differs) - cards.begin());
  const std::uint32_t other =
      cards[Index(self)].settings_digest == cards[odd].settings_digest ? 0 : odd;
  RINGLET_TRY_ASSIGN(const auto differences, CompareAgreement(settings, table.At(Rank{other})));
  std::string text;
  for (const SettingDifference& difference : differences)
    text += fmt::format("{}{} is \"{}\" on {} and \"{}\" on {}", text.empty() ? "" : "; ",
                        difference.name, difference.mine, control.roster().DescribeRank(self),
                        difference.theirs, control.roster().DescribeRank(Rank{other}));
  return Error{Code::kInvalidArgument, "settings that must agree do not: " + text};
}

}  // namespace

Result<std::vector<Card>> ReadCards(const Control& control) {
  const bootstrap::Roster& roster = control.roster();
  std::vector<Card> cards;
  for (std::uint32_t rank = 0; rank < roster.size(); ++rank) {
    RINGLET_TRY_ASSIGN(const bootstrap::Introduction introduction, roster.At(Rank{rank}));
    RINGLET_TRY_ASSIGN(Card card, DecodeCard(introduction.card));
    cards.push_back(std::move(card));
  }
  return cards;
}

Result<Census> TakeCensus(Control& control, std::vector<Card> cards, const Settings& settings,
                          const topology::HostView& here) {
  const Rank self = control.rank();
  Census census;
  census.cards = std::move(cards);
  RINGLET_TRY(RequireSameSettings(control, self, settings, census.cards));
  std::map<std::uint64_t, std::uint32_t> host_index;
  std::vector<Rank> speakers;
  for (std::uint32_t rank = 0; rank < census.cards.size(); ++rank) {
    const Card& card = census.cards[rank];
    const auto [it, fresh] =
        host_index.emplace(card.host_hash, static_cast<std::uint32_t>(speakers.size()));
    if (fresh) speakers.push_back(Rank{rank});
    census.places.push_back({Rank{rank}, it->second, card.numa});
    census.ranks_on_host += card.host_hash == census.cards[Index(self)].host_hash;
  }
  Writer own;
  if (std::ranges::find(speakers, self) != speakers.end()) topology::Encode(own, here);
  RINGLET_TRY_ASSIGN(const bootstrap::Table views, control.AllGather(own.Take()));
  for (const Rank speaker : speakers) {
    Reader in(views.At(speaker));
    topology::HostView view = topology::DecodeHostView(in);
    if (!in.AtEnd())
      return Error{Code::kProtocol, control.roster().DescribeRank(speaker) +
                                        " sent a view of its host that cannot be read"};
    census.hosts.push_back(std::move(view));
  }
  return census;
}

}  // namespace ringlet::comm
