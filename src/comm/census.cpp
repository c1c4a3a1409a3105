#include "comm/census.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/agreement.hpp"
#include "topology/devices.hpp"
#include "topology/host_shape.hpp"

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

Result<std::vector<std::string>> NamesOf(const bootstrap::Roster& roster) {
  std::vector<std::string> names;
  for (std::uint32_t rank = 0; rank < roster.size(); ++rank) {
    RINGLET_TRY_ASSIGN(const bootstrap::Introduction introduction, roster.At(Rank{rank}));
    names.emplace_back(introduction.host);
  }
  return names;
}

std::vector<topology::RankDevice> DevicesOf(const std::vector<Card>& cards,
                                            const std::vector<std::string>& names) {
  std::vector<topology::RankDevice> devices;
  for (std::uint32_t rank = 0; rank < cards.size(); ++rank) {
    const Card& card = cards[rank];
    if (card.names_device)
      devices.push_back(
          {Rank{rank}, card.host_hash, names[rank], card.device, card.gpu, card.half});
  }
  return devices;
}

// Fills places and ranks_on_host; gives the lowest rank of each host.
std::vector<Rank> PlaceRanks(Census& census, Rank self) {
  std::unordered_map<std::uint64_t, std::uint32_t> host_index;
  std::vector<Rank> first_of_host;
  for (std::uint32_t rank = 0; rank < census.cards.size(); ++rank) {
    const Card& card = census.cards[rank];
    const auto [it, fresh] =
        host_index.emplace(card.host_hash, static_cast<std::uint32_t>(first_of_host.size()));
    if (fresh) first_of_host.push_back(Rank{rank});
    census.places.push_back({Rank{rank}, it->second, card.numa});
    census.ranks_on_host += card.host_hash == census.cards[Index(self)].host_hash;
  }
  return first_of_host;
}

using Shapes = std::unordered_map<std::uint64_t, topology::HostView>;  // by digest

// Digests are on the cards. So of ranks whose hosts are alike, the first alone sends the shape.
Result<Shapes> ExchangeShapes(Control& control, const Census& census,
                              const std::vector<Rank>& first_of_host,
                              const topology::HostView& here) {
  std::map<std::uint64_t, Rank> speakers;
  for (const Rank first : first_of_host)
    speakers.emplace(census.cards[Index(first)].host_shape_digest, first);
  Writer own;
  for (const auto& [digest, speaker] : speakers)
    if (speaker == control.rank()) topology::Encode(own, topology::ShapeOf(here));
  RINGLET_TRY_ASSIGN(const bootstrap::Table table, control.AllGather(own.Take()));
  Shapes shapes;
  for (const auto& [digest, speaker] : speakers) {
    Reader in(table.At(speaker));
    topology::HostView shape = topology::DecodeHostView(in);
    if (!in.AtEnd() || shape.digest() != digest)
      return Error{Code::kProtocol, control.roster().DescribeRank(speaker) +
                                        " sent a view of its host that cannot be read, or is not "
                                        "the one that it checked in with"};
    shapes.emplace(digest, std::move(shape));
  }
  return shapes;
}

void PutRanksOnGpus(Census& census) {
  for (const topology::RankPlace& place : census.places) {
    const Card& card = census.cards[Index(place.rank)];
    if (!card.gpu) continue;
    topology::HostView& host = census.hosts[place.host];
    const auto is_its = [&](const topology::Gpu& gpu) {
      return host.pci[gpu.pci].bus == *card.gpu && gpu.mlopart == card.half && !gpu.rank;
    };
    const auto gpu = std::ranges::find_if(host.gpus, is_its);
    if (gpu != host.gpus.end()) gpu->rank = Index(place.rank);
  }
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
  Census census;
  census.cards = std::move(cards);
  RINGLET_TRY(RequireSameSettings(control, control.rank(), settings, census.cards));
  RINGLET_TRY_ASSIGN(const std::vector<std::string> names, NamesOf(control.roster()));
  RINGLET_TRY(topology::CheckDevices(DevicesOf(census.cards, names), settings.multi_rank_gpu));
  const std::vector<Rank> first_of_host = PlaceRanks(census, control.rank());
  RINGLET_TRY_ASSIGN(const auto shapes, ExchangeShapes(control, census, first_of_host, here));
  for (const Rank first : first_of_host) {
    const Card& card = census.cards[Index(first)];
    census.hosts.push_back(topology::HostOfShape(shapes.at(card.host_shape_digest),
                                                 names[Index(first)], card.host_hash));
  }
  PutRanksOnGpus(census);
  return census;
}

}  // namespace ringlet::comm
