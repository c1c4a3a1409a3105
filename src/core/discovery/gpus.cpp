#include "discovery/gpus.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "topology/view/words.hpp"

namespace ringlet::discovery {
namespace {

using topology::BusId;
using topology::C2cLink;
using topology::GpuLink;
using topology::HostView;
using topology::NvlinkFabric;

constexpr std::string_view kHeader = "ringlet-gpus 1";
constexpr std::string_view kHidden = "hidden";

/// The words of one line, read from the front. A bad word invalidates the line.
class GpuLine {
 public:
  explicit GpuLine(std::vector<std::string> words) : words_(std::move(words)) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ == words_.size(); }
  std::string Text() {
    if (AtEnd()) return Bad<std::string>();
    return words_[at_++];
  }
  /// Skips the next word if it is `key`.
  bool Take(std::string_view key) {
    if (AtEnd() || words_[at_] != key) return false;
    ++at_;
    return true;
  }
  void Expect(std::string_view key) {
    if (!Take(key)) ok_ = false;
  }
  std::uint64_t Number(std::uint64_t max) {
    const std::optional<std::uint64_t> number = ParseUnsigned(Text());
    return number && *number <= max ? *number : Bad<std::uint64_t>();
  }
  std::uint32_t U32() { return static_cast<std::uint32_t>(Number(~std::uint32_t{0} - 1)); }
  BusId Bus() {
    const Result<BusId> bus = BusId::Parse(Text());
    return bus.ok() ? *bus : Bad<BusId>();
  }
  void Fail() { ok_ = false; }

 private:
  template <typename T>
  T Bad() {
    ok_ = false;
    return T();
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

GpuReading ReadGpu(GpuLine& line) {
  GpuReading gpu;
  gpu.index = line.U32();
  line.Expect("bus");
  gpu.bus = line.Bus();
  line.Expect("sm");
  gpu.compute_capability = line.U32();
  line.Expect("pcie");
  gpu.pcie_generation = static_cast<std::uint8_t>(line.Number(7));
  gpu.pcie_width = static_cast<std::uint16_t>(line.Number(0xffff));
  line.Expect("vendor");
  gpu.ids.vendor = static_cast<std::uint16_t>(line.Number(0xffff));
  line.Expect("device");
  gpu.ids.device = static_cast<std::uint16_t>(line.Number(0xffff));
  line.Expect("name");
  gpu.name = line.Text();
  if (gpu.name.size() > HostView::kNameBytesMax) line.Fail();
  return gpu;
}

/// Reads a number and returns its GPU; null if the line is bad.
GpuReading* GpuOfLine(GpuLine& line, GpuReport& report) {
  const std::uint32_t index = line.U32();
  const auto at = std::find_if(report.gpus.begin(), report.gpus.end(),
                               [&](const GpuReading& gpu) { return gpu.index == index; });
  if (at == report.gpus.end()) line.Fail();
  return line.ok() ? &*at : nullptr;
}

void ReadNvLink(GpuLine& line, GpuReading& gpu) {
  GpuLink link;
  line.Expect("count");
  link.count = line.U32();
  line.Expect("target");
  if (!line.Take(kHidden)) link.target = line.Bus();
  if (gpu.links.size() == HostView::kLinksMax) return line.Fail();
  gpu.links.push_back(link);
}

void ReadC2c(GpuLine& line, GpuReading& gpu) {
  C2cLink link;
  line.Expect("count");
  link.count = line.U32();
  line.Expect("mb_per_s");
  link.mb_per_s = line.U32();
  if (gpu.c2c.size() == HostView::kLinksMax) return line.Fail();
  gpu.c2c.push_back(link);
}

void ReadFabric(GpuLine& line, GpuReading& gpu) {
  NvlinkFabric fabric;
  line.Expect("cluster");
  for (std::uint64_t& half : fabric.cluster) half = line.Number(~std::uint64_t{0});
  line.Expect("clique");
  fabric.clique = line.U32();
  if (fabric.cluster[0] == 0 && fabric.cluster[1] == 0) line.Fail();
  gpu.fabric = fabric;
}

void ReadLine(GpuLine& line, GpuReport& report) {
  if (line.Take("driver")) {
    report.driver = line.Text();
  } else if (line.Take("gpu")) {
    if (report.gpus.size() == kGpusOfHostMax) return line.Fail();
    GpuReading gpu = ReadGpu(line);
    if (std::any_of(report.gpus.begin(), report.gpus.end(),
                    [&](const GpuReading& other) { return other.index == gpu.index; }))
      line.Fail();
    report.gpus.push_back(std::move(gpu));
  } else if (line.Take("nvlink")) {
    if (GpuReading* const gpu = GpuOfLine(line, report)) ReadNvLink(line, *gpu);
  } else if (line.Take("c2c")) {
    if (GpuReading* const gpu = GpuOfLine(line, report)) ReadC2c(line, *gpu);
  } else if (line.Take("fabric")) {
    if (GpuReading* const gpu = GpuOfLine(line, report)) ReadFabric(line, *gpu);
  } else {
    line.Fail();
  }
}

Error Refuse(std::size_t number, std::string_view line) {
  return {Code::kInvalidArgument, fmt::format("line {} of the list of GPUs is malformed: \"{}\"",
                                              number, Printable(line, 100))};
}

}  // namespace

std::optional<std::uint32_t> MloPartOf(std::string_view name) {
  constexpr std::string_view kWord = "MLOPart";
  constexpr std::size_t kDigitsMax = 4;
  const std::size_t at = name.find(kWord);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = Trim(name.substr(at + kWord.size()));
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits > kDigitsMax) return std::nullopt;
  const auto part = ParseDecimal(rest.substr(0, digits));
  return part ? std::optional(static_cast<std::uint32_t>(*part)) : std::nullopt;
}

std::string ToText(const GpuReport& report) {
  std::string text = fmt::format("{}\ndriver {}\n", kHeader, Quoted(report.driver));
  for (const GpuReading& gpu : report.gpus) {
    text += fmt::format("gpu {} bus {} sm {} pcie {} {} vendor {:#06x} device {:#06x} name {}\n",
                        gpu.index, ToString(gpu.bus), gpu.compute_capability, gpu.pcie_generation,
                        gpu.pcie_width, gpu.ids.vendor, gpu.ids.device, Quoted(gpu.name));
    for (const GpuLink& link : gpu.links)
      text += fmt::format("nvlink {} count {} target {}\n", gpu.index, link.count,
                          link.target ? ToString(*link.target) : std::string(kHidden));
    for (const C2cLink& link : gpu.c2c)
      text += fmt::format("c2c {} count {} mb_per_s {}\n", gpu.index, link.count, link.mb_per_s);
    if (gpu.fabric)
      text += fmt::format("fabric {} cluster {:#018x} {:#018x} clique {}\n", gpu.index,
                          gpu.fabric->cluster[0], gpu.fabric->cluster[1], gpu.fabric->clique);
  }
  return text;
}

Result<GpuReport> ParseGpuText(std::string_view text) {
  GpuReport report;
  std::size_t number = 0;
  bool header = false;
  for (const std::string_view raw : Split(text, '\n')) {
    ++number;
    const std::string_view line = Trim(raw);
    if (line.empty() || line.starts_with('#')) continue;
    if (!header) {
      if (line != kHeader) return Refuse(number, line);
      header = true;
      continue;
    }
    auto words = topology::Words(line);
    if (!words) return Refuse(number, line);
    GpuLine rest(*std::move(words));
    ReadLine(rest, report);
    if (!rest.ok() || !rest.AtEnd()) return Refuse(number, line);
  }
  return report;
}

}  // namespace ringlet::discovery
