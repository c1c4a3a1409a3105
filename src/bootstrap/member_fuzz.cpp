// A member among a root and peers that know the secret and go mad, and strangers. Bytes of the
// input choose what happens next; many of the events are such as really happen, so that the inner
// states are reached.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "bootstrap/hand_for_test.hpp"
#include "bootstrap/member.hpp"

namespace {

using namespace std::chrono_literals;
using ringlet::Bytes;
using ringlet::LineId;
using ringlet::Rank;
using ringlet::Reader;
using ringlet::View;
using ringlet::bootstrap::FarEnd;
using ringlet::bootstrap::FrameType;
using ringlet::bootstrap::Hand;
using ringlet::bootstrap::Member;
using ringlet::bootstrap::Shape;

const ringlet::Credentials kCredentials{0x1234, {}};
constexpr std::uint32_t kSize = 4;
constexpr std::size_t kLinesMax = 16;

ringlet::bootstrap::Introduction Person(std::uint32_t rank) {
  return {{ringlet::Address::Ipv4(10, 0, 0, static_cast<std::uint8_t>(rank), 1)}, "h", rank, {}};
}

ringlet::bootstrap::MemberConfig Config(std::uint8_t choice) {
  ringlet::bootstrap::MemberConfig config;
  config.credentials = kCredentials;
  config.rank = Rank{choice & 3u};
  config.size = kSize;
  config.roots = {ringlet::Address::Ipv4(10, 9, 9, 9, 1)};
  config.introduction = Person(choice & 3u);
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

Bytes Roster() {
  std::vector<Bytes> records;
  for (std::uint32_t rank = 0; rank < kSize; ++rank) {
    ringlet::Writer out;
    Encode(out, Person(rank));
    records.push_back(out.Take());
  }
  const auto roster = ringlet::bootstrap::Roster::Build(records);
  return {roster.bytes().bytes.begin(), roster.bytes().bytes.end()};
}

// A payload of kGather, kTable or kBlock that may well fit.
Bytes Entries(FrameType type, Reader& in) {
  const std::uint8_t how = in.U8();
  ringlet::Writer out;
  Encode(out, ringlet::bootstrap::GatherHeader{1u + (how & 3u), (how & 4) != 0});
  if (type == FrameType::kBlock) {
    out.U32((how >> 3) & 3u);
    if (how & 0x20) Encode(out, Person((how >> 3) & 3u));
  } else {
    for (std::uint32_t i = 0; i < ((how >> 3) & 7u); ++i) out.Text("entry");
  }
  return out.Take();
}

void Speak(FarEnd& far, Reader& in) {
  const auto type = static_cast<FrameType>(in.U8() % 20);
  ringlet::Writer out;
  switch (type) {
    case FrameType::kWelcome: return far.Say(ToFrame(ringlet::bootstrap::Welcome{"h", 1, in.U8()}));
    case FrameType::kReject:
    case FrameType::kFailure:
      return far.Say(ToFrame(type, {ringlet::Code::kPeerLost, in.U8(), "rank lost"}));
    case FrameType::kNeighbour: Encode(out, Person(in.U8() & 3u)); break;
    case FrameType::kIdentify: out.U32(in.U8() & 7u); break;
    case FrameType::kRoster: return far.Say(type, Roster());
    case FrameType::kGather:
    case FrameType::kTable:
    case FrameType::kBlock: return far.Say(type, Entries(type, in));
    case FrameType::kAnswer: return far.Say(ToFrame(ringlet::bootstrap::Activity{in.U8(), 1u}));
    case FrameType::kMessage: out.U64(in.U8()).Raw(ringlet::AsView("message")); break;
    default: break;
  }
  far.Say(type, out.view());
}

void Command(Member& member, std::uint8_t what, Hand& hand) {
  switch (what & 7) {
    case 0: member.Leave(); break;
    case 1: member.Abort(ringlet::Code::kAborted, "told to"); break;
    case 2: member.TakeMessage(Rank{(what >> 3) & 3u}, 1); break;
    case 3:
      if (member.standing()) member.Post(Rank{(what >> 3) & 3u}, 1, Bytes(what), hand.now);
      break;
    case 4:
      if (member.standing()) member.Ask(Rank{(what >> 3) & 3u}, hand.now);
      member.TakeAnswer(Rank{(what >> 5) & 3u});
      break;
    default:
      // One collective at a time is what its caller owes it.
      if (member.standing() && member.Phase() == "in normal operation")
        member.Gather((what & 8) != 0, Bytes(5));
      member.TakeTable();
  }
  hand.Drain();
}

struct Stage {
  explicit Stage(std::uint8_t choice) : member(Config(choice)), hand(member) {}

  void Step(std::uint8_t what, Reader& in) {
    switch (what & 7) {
      case 0:
        if (lines.size() < kLinesMax)
          lines.emplace_back(hand, ringlet::kFirstAcceptedLine + accepted++, kCredentials,
                             static_cast<ringlet::Purpose>(1 + (what >> 3) % 6));
        return;
      case 1:
        if (lines.size() < kLinesMax && answered < hand.dials.size())
          lines.emplace_back(
              hand, ringlet::Dial(hand.dials[answered++]),
              what & 0x80 ? ringlet::Credentials{0x1234, {std::byte{1}}} : kCredentials);
        return;
      case 2:
        if (answered < hand.dials.size())
          hand.Tell(ringlet::Closed{hand.dials[answered++].line, "refused"});
        return;
      case 3:
        hand.Pass(std::chrono::milliseconds(in.U16()));
        // A deadline that stays behind would make a driver spin.
        return Require(!member.Deadline() || *member.Deadline() > hand.now);
      case 4: return Command(member, in.U8(), hand);
      default: break;
    }
    if (lines.empty()) return;
    FarEnd& far = lines[in.U8() % lines.size()];
    if ((what & 7) == 5) return Speak(far, in);
    if (what & 8) return far.Close();
    const View words = in.Raw(std::min<std::size_t>(in.U8(), in.remaining()));
    far.Say(Bytes(words.begin(), words.end()));
  }

  Member member;
  Hand hand;
  std::vector<FarEnd> lines;
  std::size_t answered = 0;
  LineId accepted = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Reader in(std::as_bytes(std::span(data, size)));
  Stage stage(in.U8());
  stage.hand.Tell(ringlet::Tick{});
  while (in.ok() && in.remaining() > 0) {
    stage.Step(in.U8(), in);
    if (!stage.member.standing() && !stage.member.Finished())
      Require(stage.member.Deadline().has_value());
    Require(stage.hand.notes.size() <= 3);
  }
  stage.hand.Pass(1h);
  stage.hand.Pass(1h);
  Require(stage.member.standing() || stage.member.Finished());  // nobody joins for ever
  Require(stage.member.Finished() == !stage.member.Deadline() || stage.member.standing());
  return 0;
}
