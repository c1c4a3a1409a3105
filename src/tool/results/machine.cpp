#include "tool/results/machine.hpp"

#include <fmt/format.h>

#include "base/value/text.hpp"
#include "os/clock.hpp"
#include "os/fs/file_tree.hpp"
#include "os/process/limits.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kFactBytesMax = std::size_t{1} << 20;

/// Returns the text after `key` and `separator` on the first line that begins with `key`.
std::string_view ValueOf(std::string_view text, std::string_view key, char separator) {
  for (const std::string_view line : Split(text, '\n')) {
    const std::size_t at = line.find(separator);
    if (at != std::string_view::npos && Trim(line.substr(0, at)) == key)
      return Trim(line.substr(at + 1));
  }
  return {};
}

std::string WithoutQuotes(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return std::string(text.substr(0, text.find(" (")));  // removes the release's nickname
}

/// Returns 6.18 for "Linux 6.18.5-amd64".
std::string_view KernelVersion(std::string_view text) {
  const std::size_t dot = text.find('.');
  return dot == std::string_view::npos
             ? text
             : text.substr(0, text.find_first_not_of("0123456789", dot + 1));
}

bool IsVirtual(std::string_view cpuinfo) {
  for (const std::string_view flag : Split(ValueOf(cpuinfo, "flags", ':'), ' '))
    if (flag == "hypervisor") return true;
  return false;
}

}  // namespace

MachineFacts ReadMachine() {
  MachineFacts facts{
      .cpuinfo = {}, .os_release = {}, .kernel = {}, .memory = {}, .cores = os::UsableCores()};
  const auto files = os::FileTree::Open("/");
  if (!files.ok()) return facts;
  const auto read = [&](const char* path) {
    auto text = files->Read(path, kFactBytesMax);
    return text.ok() ? *std::move(text) : std::string();
  };
  facts.cpuinfo = read("proc/cpuinfo");
  facts.os_release = read("etc/os-release");
  facts.kernel = read("proc/sys/kernel/osrelease");
  facts.memory = read("proc/meminfo");
  return facts;
}

std::string MachineText(const MachineFacts& facts) {
  std::string text = Counted(facts.cores, "core");
  std::string processor(ValueOf(facts.cpuinfo, "model name", ':'));
  if (IsVirtual(facts.cpuinfo))
    processor += processor.empty() ? "virtual machine" : ", virtual machine";
  if (!processor.empty()) text += fmt::format(" ({})", processor);
  const std::string_view memory = ValueOf(facts.memory, "MemTotal", ':');
  constexpr std::uint64_t kKibPerGib = std::uint64_t{1} << 20;
  if (const auto kib = ParseDecimal(memory.substr(0, memory.find(' '))); kib && *kib > 0)
    text += fmt::format(", {} GiB", (*kib + kKibPerGib / 2) / kKibPerGib);
  if (const auto system = ValueOf(facts.os_release, "PRETTY_NAME", '='); !system.empty())
    text += ", " + WithoutQuotes(system);
  if (const auto kernel = KernelVersion(Trim(facts.kernel)); !kernel.empty())
    text += fmt::format(", kernel {}", kernel);
  return text;
}

std::string Today() {
  constexpr std::size_t kDayBytes = 10;
  return os::WallTimeText().substr(0, kDayBytes);
}

std::string OwnCommandLine() {
  const auto files = os::FileTree::Open("/proc/self");
  if (!files.ok()) return "ringlet";
  const auto line = files->Read("cmdline", kFactBytesMax);
  std::string text = "ringlet";
  if (!line.ok()) return text;
  const auto words =
      Split(std::string_view(*line).substr(0, line->find_last_not_of('\0') + 1), '\0');
  for (std::size_t i = 1; i < words.size(); ++i)
    text += words[i].find(' ') == std::string_view::npos ? fmt::format(" {}", words[i])
                                                         : fmt::format(" \"{}\"", words[i]);
  return text;
}

}  // namespace ringlet::cli
