// A member among strangers, a root, and authenticated peers that send arbitrary frames. The input
// chooses the next event. Many events are realistic, so that the fuzzer reaches the inner states.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "bootstrap/fake_ranks_for_test.hpp"
#include "bootstrap/machine_driver_for_test.hpp"
#include "bootstrap/member/member.hpp"

namespace {

using namespace std::chrono_literals;
using ringlet::Bytes;
using ringlet::LineId;
using ringlet::Rank;
using ringlet::Reader;
using ringlet::View;
using ringlet::bootstrap::FakeRank;
using ringlet::bootstrap::FarEnd;
using ringlet::bootstrap::FrameType;
using ringlet::bootstrap::MachineDriver;
using ringlet::bootstrap::Member;
using ringlet::bootstrap::Shape;

const ringlet::Credentials kCredentials{0x1234, {}};
constexpr std::uint32_t kSize = 4;
constexpr std::size_t kLinesMax = 16;
constexpr ringlet::bootstrap::GroupId kChild = 7;

ringlet::bootstrap::MemberConfig Config(std::uint8_t choice) {
  ringlet::bootstrap::MemberConfig config;
  config.roots = {{kCredentials, {ringlet::Address::Ipv4(10, 9, 9, 9, 1)}}};
  if (choice & 0x40) config.roots.push_back(config.roots.front());
  if (choice & 0x10) config.node_leader = ringlet::Address::Unix("node leader");
  config.speaks = (choice & 0x20) != 0;
  config.silence_max = choice & 0x80 ? 3s : 0s;
  config.rank = Rank{choice & 3u};
  config.size = kSize;
  config.member_address = FakeRank(choice & 3u);
  config.shape = choice & 4 ? Shape::kRing : Shape::kTree;
  config.arity = choice & 8 ? 1 : 2;
  config.timeout = 10s;
  config.half_open_max = 4;
  config.strangers_noted_max = 3;
  config.mailbox = {.messages_max = 4, .bytes_max = 200};
  return config;
}

void Require(bool condition) {
  if (!condition) std::abort();
}

Bytes RosterBytes(std::uint8_t how) {
  const auto roster = ringlet::bootstrap::RosterOf(kSize, how & 1, how & 2 ? 1 : 0);
  const View whole = roster.bytes().bytes;
  const View piece = how & 4 ? whole.first(whole.size() / 2) : whole;
  return {piece.begin(), piece.end()};
}

ringlet::bootstrap::GroupId GroupOf(std::uint8_t how) {
  return how & 0x80 ? kChild : ringlet::bootstrap::kWorld;
}

// A payload of kGather, kTable or kBlock that often fits.
Bytes Entries(FrameType type, Reader& in) {
  const std::uint8_t how = in.U8();
  ringlet::Writer out;
  out.U64(GroupOf(how));
  Encode(out, ringlet::bootstrap::GatherHeader{1u + (how & 3u), (how & 4) != 0, 0});
  if (type == FrameType::kBlock) {
    out.U32((how >> 3) & 3u);
    if (how & 0x20) Encode(out, FakeRank((how >> 3) & 3u));
  } else {
    for (std::uint32_t i = 0; i < ((how >> 3) & 7u); ++i) out.U32(i).Text("entry");
  }
  return out.Take();
}

void SendFuzzedFrame(FarEnd& far, Reader& in) {
  const auto type = static_cast<FrameType>(in.U8() % 24);
  ringlet::Writer out;
  switch (type) {
    case FrameType::kCheckIn: {
      ringlet::bootstrap::CheckIn check_in;
      check_in.rank = in.U8() & 7u;
      check_in.size = kSize;
      check_in.member_address = ringlet::bootstrap::FakeRank(check_in.rank);
      return far.Transmit(ToFrame(check_in));
    }
    case FrameType::kWelcome:
      return far.Transmit(ToFrame(ringlet::bootstrap::Welcome{"h", 1, in.U8()}));
    case FrameType::kReject:
      return far.Transmit(ToFrame(type, {ringlet::Code::kPeerLost, in.U8(), "rank lost"}));
    case FrameType::kFailure:
      return far.Transmit(ringlet::bootstrap::FailureFrame(
          {ringlet::Code::kPeerLost, in.U8(), "lost"}, GroupOf(in.U8())));
    case FrameType::kNodeLeader: out.U32(in.U8() & 7u); break;
    case FrameType::kNeighbour: Encode(out, ringlet::bootstrap::FakeRank(in.U8() & 3u)); break;
    case FrameType::kIdentify:
      return far.Transmit(ToFrame(ringlet::bootstrap::Identify{in.U8() & 7u, {in.U8(), in.U8()}}));
    case FrameType::kRoster:
    case FrameType::kSection: return far.Transmit(type, RosterBytes(in.U8()));
    case FrameType::kGather:
    case FrameType::kTable:
    case FrameType::kBlock: return far.Transmit(type, Entries(type, in));
    case FrameType::kAnswer:
      Encode(out.U64(GroupOf(in.U8())), ringlet::bootstrap::Activity{3, 1u});
      break;
    case FrameType::kForm: out.U64(GroupOf(in.U8())).U64(in.U8()); break;
    case FrameType::kLeave:
    case FrameType::kAsk: out.U64(GroupOf(in.U8())); break;
    case FrameType::kMessage:
      out.U64(GroupOf(in.U8())).U64(in.U8()).Raw(ringlet::AsView("message"));
      break;
    default: break;
  }
  far.Transmit(type, out.view());
}

void Command(Member& member, std::uint8_t what, MachineDriver& driver) {
  const auto group = GroupOf(what);
  const Rank whom{(what >> 3) & 3u};
  const bool has = member.standing() && whom < Rank{member.roster(group).size()};
  switch (what & 7) {
    case 0: member.Leave(group); break;
    case 1: member.Abort(ringlet::Code::kAborted, "told to", group); break;
    case 2: member.TakeMessage(whom, 1, group); break;
    case 3:
      if (has) member.Post(whom, 1, Bytes(what), driver.now, group);
      break;
    case 4:
      if (has) member.Ask(whom, driver.now, group);
      member.TakeAnswer(whom, group);
      break;
    case 5:
      // Ranks of the world, including this one.
      if (member.standing()) {
        std::vector<std::uint32_t> ranks = {3, 2, 1, 0};
        if (what & 8) ranks = {0, 1, 2, 3};
        (void)member.Form(kChild, ringlet::bootstrap::kWorld, ranks, driver.now);
      }
      break;
    default:
      // A caller may run only one collective at a time.
      if (member.standing() && member.Phase(group) == "in normal operation")
        member.Gather((what & 8) != 0, Bytes(5), group);
      member.TakeTable(group);
  }
  driver.Drain();
}

struct Stage {
  explicit Stage(std::uint8_t choice) : member(Config(choice)), driver(member) {}

  void Step(std::uint8_t what, Reader& in) {
    switch (what & 7) {
      case 0:
        if (lines.size() < kLinesMax)
          lines.emplace_back(driver, ringlet::kFirstAcceptedLine + accepted++, kCredentials,
                             static_cast<ringlet::Purpose>(1 + (what >> 3) % 6));
        return;
      case 1:
        if (lines.size() < kLinesMax && answered < driver.dials.size())
          lines.emplace_back(
              driver, ringlet::Dial(driver.dials[answered++]),
              what & 0x80 ? ringlet::Credentials{0x1234, {std::byte{1}}} : kCredentials);
        return;
      case 2:
        if (answered < driver.dials.size())
          driver.Deliver(ringlet::Closed{driver.dials[answered++].line, "refused"});
        return;
      case 3:
        driver.Pass(std::chrono::milliseconds(in.U16()));
        // A deadline in the past would make a driver spin.
        return Require(!member.Deadline() || *member.Deadline() > driver.now);
      case 4: return Command(member, in.U8(), driver);
      default: break;
    }
    if (lines.empty()) return;
    FarEnd& far = lines[in.U8() % lines.size()];
    if ((what & 7) == 5) return SendFuzzedFrame(far, in);
    if (what & 8) return far.Close();
    const View words = in.Raw(std::min<std::size_t>(in.U8(), in.remaining()));
    far.Transmit(Bytes(words.begin(), words.end()));
  }

  Member member;
  MachineDriver driver;
  std::vector<FarEnd> lines;
  std::size_t answered = 0;
  LineId accepted = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Reader in(std::as_bytes(std::span(data, size)));
  Stage stage(in.U8());
  stage.driver.Deliver(ringlet::Tick{});
  while (in.ok() && in.remaining() > 0) {
    stage.Step(in.U8(), in);
    if (!stage.member.standing() && !stage.member.Finished())
      Require(stage.member.Deadline().has_value());
    Require(stage.driver.notes.size() <= 2 * 3);  // turned away, and left
  }
  stage.driver.Pass(1h);
  stage.driver.Pass(1h);
  Require(stage.member.standing() || stage.member.Finished());  // joining ends
  Require(stage.member.Finished() == !stage.member.Deadline() || stage.member.standing());
  return 0;
}
