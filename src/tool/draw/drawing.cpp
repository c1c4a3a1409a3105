#include "tool/draw/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/value/text.hpp"

namespace ringlet::cli {
namespace {

constexpr double kLetterWidth = 0.602;  // of DejaVu Sans Mono, relative to the size
constexpr double kCorner = 6;

struct Colors {
  std::string_view fill, stroke;
};

struct Theme {
  std::string_view ground, ink;
  Colors host, numa, bridge, gpu, nic, nvswitch, socket_bus;
  std::string_view pci, nvlink, c2c, socket;
  bool on_page = false;  ///< adds the attributes that a page uses to find nodes, ends and groups
};

constexpr Theme kLight = {
    "#ffffff",
    "#1b1f24",
    {"#f6f7f9", "#8b95a1"},
    {"#ffffff", "#aab4c0"},
    {"#e4e8ee", "#6b7683"},
    {"#cdebc9", "#3c8a3a"},
    {"#cfe1f7", "#3a6fb0"},
    {"#b9e3d6", "#1f8068"},
    {"#e6dcf3", "#7c5bb0"},
    "#7b8794",
    "#2f9e44",
    "#d9730d",
    "#8a63c4",
};

constexpr Theme kDark = {
    "#14171b",
    "#e6e9ed",
    {"#1c2127", "#5d6874"},
    {"#22282f", "#4d5864"},
    {"#323a44", "#7f8b98"},
    {"#1f4a24", "#5fbf63"},
    {"#1e3a5c", "#6aa2e0"},
    {"#17493d", "#4fc2a2"},
    {"#3a2f52", "#a58be0"},
    "#8c98a5",
    "#4fc962",
    "#f0913a",
    "#b093ea",
};

constexpr Theme kPage = {
    "none",
    "var(--ink)",
    {"var(--host)", "var(--host-line)"},
    {"var(--numa)", "var(--numa-line)"},
    {"var(--switch)", "var(--switch-line)"},
    {"var(--gpu)", "var(--gpu-line)"},
    {"var(--nic)", "var(--nic-line)"},
    {"var(--nvswitch)", "var(--nvswitch-line)"},
    {"var(--bus)", "var(--bus-line)"},
    "var(--pci)",
    "var(--nvlink)",
    "var(--c2c)",
    "var(--socket)",
    true,
};

Colors ColorsOf(const Theme& theme, Paint paint) {
  switch (paint) {
    case Paint::kHost: return theme.host;
    case Paint::kNuma: return theme.numa;
    case Paint::kSwitch: return theme.bridge;
    case Paint::kGpu: return theme.gpu;
    case Paint::kNic: return theme.nic;
    case Paint::kNvSwitch: return theme.nvswitch;
    case Paint::kSocketBus: return theme.socket_bus;
    case Paint::kPciLine: return {"none", theme.pci};
    case Paint::kNvLine: return {"none", theme.nvlink};
    case Paint::kC2cLine: return {"none", theme.c2c};
    case Paint::kSocketLine: return {"none", theme.socket};
  }
  return theme.host;
}

std::string Escaped(std::string_view text) {
  std::string printable(text);
  for (char& letter : printable)
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  return EscapedXml(printable);
}

/// Formats a number with at most one decimal: "12", "12.5".
std::string Number(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{:g}", rounded);
}

std::string TitleOf(std::string_view title) {
  return title.empty() ? "/>\n" : fmt::format("><title>{}</title>", Escaped(title));
}

/// Returns the attributes that a page uses to find a box.
std::string PageAttributes(const Box& box) {
  if (!box.node) return "";
  const std::string node = fmt::format(" data-node=\"{}\"", *box.node);
  if (box.paint != Paint::kGpu && box.paint != Paint::kNic) return node;
  return node +
         fmt::format(" tabindex=\"0\" role=\"button\" aria-label=\"{}\"", Escaped(box.title));
}

std::string PageAttributes(const Polyline& line) {
  std::string text;
  if (line.ends) text = fmt::format(" data-ends=\"{} {}\"", line.ends->first, line.ends->second);
  if (!line.group.empty()) text += fmt::format(" data-group=\"{}\"", Escaped(line.group));
  return text;
}

std::string BoxSvg(const Box& box, const Theme& theme) {
  const Colors colors = ColorsOf(theme, box.paint);
  const double corner = box.paint == Paint::kHost ? 8 : 4;
  std::string more;
  if (!box.outline.empty())
    more = fmt::format(" stroke-width=\"3\"{}", box.dashed ? " stroke-dasharray=\"7 4\"" : "");
  if (theme.on_page) more += PageAttributes(box);
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{}\" "
      "stroke=\"{}\"{}{}{}",
      Number(box.x), Number(box.y), Number(box.width), Number(box.height), corner, colors.fill,
      box.outline.empty() ? colors.stroke : box.outline, more, TitleOf(box.title),
      box.title.empty() ? "" : "</rect>\n");
}

/// Returns a path with rounded corners.
std::string PathOf(const std::vector<std::pair<double, double>>& points) {
  std::string path = fmt::format("M{} {}", Number(points[0].first), Number(points[0].second));
  const auto towards = [](std::pair<double, double> from, std::pair<double, double> to) {
    const double length = std::hypot(to.first - from.first, to.second - from.second);
    const double part = length == 0 ? 0 : std::min(kCorner, length / 2) / length;
    return std::pair(from.first + (to.first - from.first) * part,
                     from.second + (to.second - from.second) * part);
  };
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const auto before = towards(points[i], points[i - 1]);
    const auto after = towards(points[i], points[i + 1]);
    path += fmt::format("L{} {}Q{} {} {} {}", Number(before.first), Number(before.second),
                        Number(points[i].first), Number(points[i].second), Number(after.first),
                        Number(after.second));
  }
  const auto& last = points.back();
  return path + fmt::format("L{} {}", Number(last.first), Number(last.second));
}

std::string LineSvg(const Polyline& line, const Theme& theme) {
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}{}{}{}", PathOf(line.points),
      line.color.empty() ? ColorsOf(theme, line.paint).stroke : line.color, Number(line.width),
      line.dashed ? " stroke-dasharray=\"7 4\"" : "", theme.on_page ? PageAttributes(line) : "",
      TitleOf(line.title), line.title.empty() ? "" : "</path>\n");
}

std::string WordsSvg(const Words& words, const Theme& theme) {
  std::string svg;
  if (words.on_line) {
    const Extent extent = ExtentOf(words);
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" fill=\"{}\"/>\n",
        Number(extent.left - 1), Number(extent.top), Number(extent.right - extent.left + 2),
        Number(extent.bottom - extent.top), theme.host.fill);
  }
  const std::string_view anchor = words.anchor == Anchor::kStart    ? "start"
                                  : words.anchor == Anchor::kMiddle ? "middle"
                                                                    : "end";
  return svg +
         fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\"{}>{}</text>\n",
                     Number(words.x), Number(words.y), Number(words.size), anchor,
                     words.strong ? " font-weight=\"bold\"" : "", Escaped(words.text));
}

}  // namespace

double TextWidth(std::string_view text, double size) {
  return static_cast<double>(text.size()) * size * kLetterWidth;
}

std::string Fitted(std::string_view text, double size, double width) {
  if (TextWidth(text, size) <= width) return std::string(text);
  const auto letters = static_cast<std::size_t>(std::max(width / (size * kLetterWidth), 2.0));
  return std::string(text.substr(0, letters - 2)) + "..";
}

Extent ExtentOf(const Words& words) {
  const double width = TextWidth(words.text, words.size);
  const double left = words.anchor == Anchor::kStart    ? words.x
                      : words.anchor == Anchor::kMiddle ? words.x - width / 2
                                                        : words.x - width;
  constexpr double kAscent = 0.78, kDescent = 0.22;  // extents of capitals and descenders
  return {left, words.y - words.size * kAscent, left + width, words.y + words.size * kDescent};
}

namespace {

std::string SvgOf(const Drawing& drawing, const Theme& theme) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"{2}\"/>\n",
      Number(std::ceil(drawing.width)), Number(std::ceil(drawing.height)), theme.ground);
  for (const Box& box : drawing.boxes) svg += BoxSvg(box, theme);
  for (const Polyline& line : drawing.lines)
    if (line.points.size() > 1) svg += LineSvg(line, theme);
  svg += fmt::format("<g fill=\"{}\">\n", theme.ink);
  for (const Words& words : drawing.words) svg += WordsSvg(words, theme);
  return svg + "</g>\n</svg>\n";
}

}  // namespace

std::string ToSvg(const Drawing& drawing, bool dark) {
  return SvgOf(drawing, dark ? kDark : kLight);
}

std::string ToPageSvg(const Drawing& drawing) {
  return SvgOf(drawing, kPage);
}

}  // namespace ringlet::cli
