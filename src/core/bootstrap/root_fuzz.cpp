// A root among strangers, and authenticated members that send arbitrary frames. The input chooses
// the next event.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "bootstrap/difference.hpp"
#include "bootstrap/fake_ranks_for_test.hpp"
#include "bootstrap/machine_driver_for_test.hpp"
#include "bootstrap/root.hpp"

namespace {

using namespace std::chrono_literals;
using ringlet::LineId;
using ringlet::Reader;
using ringlet::bootstrap::FarEnd;
using ringlet::bootstrap::MachineDriver;
using ringlet::bootstrap::Root;

const ringlet::Credentials kCredentials{0x1234, {}};
constexpr std::size_t kLinesMax = 12;

ringlet::bootstrap::RootConfig Config() {
  ringlet::bootstrap::RootConfig config;
  config.credentials = kCredentials;
  config.host = "h";
  config.pid = 1;
  config.half_open_max = 4;
  config.strangers_noted_max = 3;
  config.silence_max = 10s;
  return config;
}

void Require(bool condition) {
  if (!condition) std::abort();
}

ringlet::bootstrap::CheckIn CheckInFrom(Reader& in) {
  const std::uint8_t who = in.U8();
  ringlet::bootstrap::CheckIn check_in;
  check_in.rank = who & 3;
  check_in.size = 1 + ((who >> 2) & 3);
  check_in.shape = static_cast<ringlet::bootstrap::Shape>((who >> 4) & 1);
  check_in.arity = 1 + ((who >> 5) & 1);
  check_in.timeout_ms = in.U16();
  if (check_in.timeout_ms & 1) check_in.root = {(who >> 1) & 1u, 2};
  check_in.member_address.host = who & 0x40 ? "h" : "g";
  check_in.member_address.pid = who & 0x80 ? 1 : 2;
  check_in.member_address.addresses = {ringlet::Address::Ipv4(10, 0, 0, who, 1)};
  return check_in;
}

void Speak(FarEnd& far, std::uint8_t how, Reader& in) {
  using ringlet::bootstrap::FrameType;
  const ringlet::View words = in.Raw(std::min<std::size_t>(in.U8(), in.remaining()));
  switch (how % 6) {
    case 0: return far.Transmit(ringlet::Bytes(words.begin(), words.end()));
    case 1: return far.Transmit(ToFrame(CheckInFrom(in)));
    case 2: return far.Transmit(static_cast<FrameType>(in.U8() % 24), words);
    case 3: {
      const auto check_in = CheckInFrom(in);
      const auto record = ringlet::bootstrap::RecordOf(check_in.member_address);
      return far.Transmit(ToFrame(ringlet::bootstrap::LocalRankCheckIn{
          check_in, ringlet::bootstrap::DifferenceOf(words, record)}));
    }
    case 4: {
      const std::uint8_t which = in.U8();
      const auto roster =
          ringlet::bootstrap::RosterOf(1 + (which & 3), which & 4, (which >> 3) & 3);
      return far.Transmit(FrameType::kSection, roster.bytes().bytes);
    }
    default:
      return far.Transmit(ToFrame(FrameType::kFailure, {ringlet::Code::kTimeout, in.U8(),
                                                        std::string(ringlet::AsText(words))}));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Root root(Config());
  MachineDriver driver(root);
  Reader in(std::as_bytes(std::span(data, size)));
  std::vector<FarEnd> lines;
  driver.Deliver(ringlet::Tick{});
  while (in.ok() && in.remaining() > 0) {
    const std::uint8_t what = in.U8();
    const LineId next = ringlet::kFirstAcceptedLine + static_cast<LineId>(lines.size());
    if ((what & 7) == 0 && lines.size() < kLinesMax) {
      const auto purpose = static_cast<ringlet::Purpose>(what & 0x80 ? 1 + (what >> 3) % 6 : 1);
      lines.emplace_back(driver, next, kCredentials, purpose);
    } else if ((what & 7) == 1 && lines.size() < kLinesMax) {
      lines.emplace_back(driver, next, ringlet::Credentials{0x1234, {std::byte{1}}},
                         ringlet::Purpose::kCheckIn);
    } else if ((what & 7) == 2) {
      driver.Pass(std::chrono::milliseconds(in.U16()));
      Require(!root.Deadline() || *root.Deadline() > driver.now);  // a driver would spin
    } else if (!lines.empty()) {
      FarEnd& far = lines[in.U8() % lines.size()];
      if ((what & 7) == 3)
        far.Close();
      else
        Speak(far, what >> 3, in);
    }
    if (root.checked_in() > 0 && !root.Finished()) Require(root.Deadline().has_value());
    Require(driver.notes.size() <= 2 * 3 + 1);  // turned away, left, and the total
  }
  if (size > 0 && data[0] & 1) root.Abort("over");
  driver.Drain();
  driver.Pass(1h);                                     // past the deadline: the root refuses
  driver.Pass(1h);                                     // the root has refused for long enough
  Require(root.Finished() || root.checked_in() == 0);  // a waiting rank is notified of the end
  return 0;
}
