#include "tool/peers/init_peers.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/value/text.hpp"
#include "os/clock.hpp"
#include "os/net/poll.hpp"
#include "tool/peers/peer_build.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kOutputBytesMax = 64 * 1024;  // a pipe's capacity; keeps the end
constexpr Instant kLook = std::chrono::milliseconds(20);
constexpr std::uint64_t kPeerSpareDescriptors = 256;

// Gloo's mesh needs a descriptor at each rank for each other one, and briefly a listener per pair.
std::uint32_t GlooProcesses(const InitHead& head, std::uint64_t descriptors) {
  if (!head.threads) return head.ranks;
  const std::uint64_t mesh = std::uint64_t{head.ranks} * head.ranks * 3 / 2;
  const std::uint64_t usable =
      std::max<std::uint64_t>(descriptors, 2 * kPeerSpareDescriptors) - kPeerSpareDescriptors;
  const auto needed = static_cast<std::uint32_t>((mesh + usable - 1) / usable);
  return std::clamp(needed, head.processes, head.ranks);
}

std::optional<double> TimeIn(std::string_view output) {
  constexpr std::string_view kWord = "total_ms ";
  const std::size_t at = output.rfind(kWord);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = output.substr(at + kWord.size());
  double ms = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), ms);
  return parsed.ec == std::errc() && ms > 0 ? std::optional(ms) : std::nullopt;
}

std::string LastLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return Printable(text.substr(text.rfind('\n') + 1), 300);
}

// Reads the data that has arrived. Returns true at the end of the stream.
bool Take(const os::Fd& from, std::string& into) {
  os::Arrived arrived = os::ReadAvailable(from, kOutputBytesMax);
  into += arrived.bytes;
  if (into.size() > kOutputBytesMax) into.erase(0, into.size() - kOutputBytesMax);
  return arrived.end;
}

}  // namespace

os::Command PeerCommand(const std::string& peer, const InitHead& head, const std::string& folder,
                        std::uint64_t descriptors, EnvMap environment) {
  const std::string ranks = std::to_string(head.ranks);
  if (peer == "gloo")
    return {{PeerProgram(folder, "init", peer), ranks,
             std::to_string(GlooProcesses(head, descriptors))},
            std::move(environment)};
  AllowOpenMpi(environment);
  return {{PeerLauncher(folder, peer), "-n", ranks, PeerProgram(folder, "init", peer)},
          std::move(environment)};
}

PeerRun RunPeer(const std::string& peer, const os::Command& command, Instant timeout) {
  PeerRun run{.peer = peer};
  std::error_code ignored;
  const bool gloo = peer == "gloo";
  const std::string& program = gloo ? command.arguments.front() : command.arguments.back();
  if (!std::filesystem::exists(program, ignored)) {
    const std::filesystem::path path(program);
    run.trouble = fmt::format("not measured: {} was not built; to build it: {}", program,
                              PeerBuildCommand(path.parent_path(), "init", peer));
    return run;
  }
  auto child = os::Child::Start(command);
  if (!child.ok()) {
    run.trouble = fmt::format("not measured: {}", child.error().message);
    return run;
  }
  const Instant give_up = os::Now() + timeout;
  std::string output, errors;
  std::optional<os::ChildExit> ended;
  while (!ended && os::Now() < give_up) {
    ended = child->Poll();  // before the last output is read
    const bool output_over = Take(child->output(), output);
    const bool errors_over = Take(child->errors(), errors);
    std::vector<int> open;
    if (!output_over) open.push_back(child->output().get());
    if (!errors_over) open.push_back(child->errors().get());
    if (!ended) os::PollReadable(open, kLook);
  }
  if (ended && ended->ok()) run.total_ms = TimeIn(output);
  if (run.total_ms) return run;
  run.trouble =
      ended ? fmt::format("it {}: {}", ToString(*ended), LastLine(errors.empty() ? output : errors))
            : fmt::format("ended after {} s without a result",
                          std::chrono::duration_cast<std::chrono::seconds>(timeout).count());
  return run;
}

std::string ToolFolder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string(".") : program.parent_path().string();
}

}  // namespace ringlet::cli
