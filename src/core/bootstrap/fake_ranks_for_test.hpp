// Ranks for the tests and fuzzers of this layer. Does not use GTest.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/gather.hpp"
#include "bootstrap/group.hpp"
#include "bootstrap/protocol.hpp"
#include "bootstrap/roster.hpp"

namespace ringlet::bootstrap {

/// Each host has two ranks.
inline MemberAddress FakeRank(std::uint32_t rank) {
  MemberAddress fake_rank;
  fake_rank.addresses = {Address::Ipv4(10, 0, 0, static_cast<std::uint8_t>(rank), 99)};
  fake_rank.host = "host" + std::to_string(rank / 2);
  fake_rank.pid = 1000 + rank;
  return fake_rank;
}

inline Bytes RecordOf(const MemberAddress& fake_rank) {
  Writer out;
  Encode(out, fake_rank);
  return out.Take();
}

/// Each rank checks in for itself, or with node leaders the first rank of a host for both.
inline Roster RosterOf(std::uint32_t size, bool node_leaders = false, std::uint32_t first = 0) {
  std::vector<RankRecord> records;
  for (std::uint32_t rank = first; rank < first + size; ++rank)
    records.push_back({RecordOf(FakeRank(rank)), node_leaders ? rank / 2 * 2 : rank});
  return Roster::Build(first, records);
}

/// Prepends the id of `group` to a payload.
inline Bytes OfGroup(View payload, GroupId group = kWorld) {
  Writer out;
  return out.U64(group).Raw(payload).Take();
}

/// The last frame type.
inline constexpr std::uint8_t kFrameTypes = 22;

struct Entry {
  std::uint32_t rank;
  std::string_view text;
};

/// The payload of a kGather frame, without its group.
inline Bytes GatherPayload(std::uint32_t sequence, const std::vector<Entry>& entries,
                           bool barrier = false) {
  Writer out;
  Encode(out, GatherHeader{sequence, barrier, 0});
  for (const Entry& entry : entries) out.U32(entry.rank).Text(entry.text);
  return out.Take();
}

/// The payload of a kTable frame, without its group.
inline Bytes TablePayload(std::uint32_t sequence, const std::vector<std::string_view>& entries) {
  Writer out;
  Encode(out, GatherHeader{sequence, false, 0});
  std::vector<View> views;
  for (const std::string_view entry : entries) views.push_back(AsView(entry));
  return out.Raw(Table::Join(views)).Take();
}

/// The payload of a kReject frame.
inline Bytes FailurePayload() {
  Writer out;
  Encode(out, Failure{Code::kAborted, 0, "rank 0 gave up"});
  return out.Take();
}

inline Bytes FrameWith(FrameType type, View payload) {
  Writer out = BeginFrame(static_cast<std::uint8_t>(type));
  return EndFrame(std::move(out.Raw(payload)));
}

inline Bytes FailureFrame(const Failure& failure, GroupId group = kWorld) {
  Writer out = BeginFrame(static_cast<std::uint8_t>(FrameType::kFailure));
  Encode(out.U64(group), failure);
  return EndFrame(std::move(out));
}

}  // namespace ringlet::bootstrap
