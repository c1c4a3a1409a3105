#include "plan/channel_plan.hpp"

#include <fmt/format.h>

#include "base/digest.hpp"

namespace ringlet::plan {

std::uint64_t ChannelPlan::digest() const {
  Writer out;
  Encode(out, *this);
  return DigestOf(out.view());
}

Status ChannelPlan::Check() const {
  if (channels.empty() || channels.size() > kChannelsMax)
    return Error{Code::kInvalidArgument,
                 fmt::format("a plan has 1 to {} channels, not {}", kChannelsMax, channels.size())};
  const std::size_t ranks = channels[0].ranks.size();
  for (std::size_t i = 0; i < channels.size(); ++i) {
    std::vector<bool> seen(ranks, false);
    bool good = ranks > 0 && channels[i].ranks.size() == ranks;
    for (const Rank rank : channels[i].ranks) {
      good = good && Index(rank) < ranks && !seen[Index(rank)];
      if (good) seen[Index(rank)] = true;
    }
    if (!good)
      return Error{Code::kInvalidArgument,
                   fmt::format("channel {} does not visit each of {} ranks once", i, ranks)};
  }
  return Ok();
}

void Encode(Writer& out, const ChannelPlan& plan) {
  out.U16(static_cast<std::uint16_t>(plan.channels.size()));
  for (const Channel& channel : plan.channels) {
    out.U32(channel.bandwidth.mb_per_s).U32(static_cast<std::uint32_t>(channel.ranks.size()));
    for (const Rank rank : channel.ranks) out.U32(Index(rank));
  }
}

ChannelPlan DecodeChannelPlan(Reader& in) {
  ChannelPlan plan;
  const std::size_t channels = in.U16();
  if (channels > kChannelsMax) in.Fail();
  for (std::size_t i = 0; i < channels && in.ok(); ++i) {
    Channel channel;
    channel.bandwidth.mb_per_s = in.U32();
    const std::size_t ranks = in.U32();
    if (ranks > in.remaining() / sizeof(std::uint32_t)) in.Fail();
    for (std::size_t r = 0; r < ranks && in.ok(); ++r) channel.ranks.push_back(Rank{in.U32()});
    plan.channels.push_back(std::move(channel));
  }
  if (in.ok() && !plan.Check().ok()) in.Fail();
  return in.ok() ? plan : ChannelPlan();
}

std::string ToText(const ChannelPlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.channels.size(); ++i) {
    text += fmt::format("channel {}: {} MB/s, ring", i, plan.channels[i].bandwidth.mb_per_s);
    for (const Rank rank : plan.channels[i].ranks) text += fmt::format(" {}", Index(rank));
    text += '\n';
  }
  return text;
}

}  // namespace ringlet::plan
