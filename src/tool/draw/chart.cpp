#include "tool/draw/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ringlet/status.hpp"

namespace ringlet::cli {
namespace {

constexpr double kLeft = 76, kTop = 48, kWidth = 640, kHeight = 400, kBelow = 56;
constexpr double kLegendGap = 24, kLegendLine = 18, kSmall = 11;
constexpr std::string_view kGrid = "#8b95a1";
// Distinct for all types of color vision. Source: Okabe and Ito, "Color Universal Design", 2008.
constexpr std::array<std::string_view, 7> kColors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                     "#E69F00", "#56B4E9", "#8b95a1"};

/// At returns the position of a value between the ends of an axis, from 0 to 1.
struct Axis {
  double low = 1, high = 2;
  double At(double value) const { return std::log(value / low) / std::log(high / low); }
};

struct Axes {
  Axis bytes, us;
  double X(double value) const { return kLeft + kWidth * bytes.At(value); }
  double Y(double value) const { return kTop + kHeight * (1 - us.At(value)); }
};

/// Returns an axis between two powers of `base`, at least one power apart.
Axis AxisOver(double low, double high, double base) {
  const auto power = [&](double exponent) { return std::pow(base, exponent); };
  constexpr double kRounding = 1e-9;
  const double first = std::floor(std::log(low) / std::log(base) + kRounding);
  const double last = std::ceil(std::log(high) / std::log(base) - kRounding);
  return {power(first), power(std::max(last, first + 1))};
}

Axes AxesFor(const Chart& chart) {
  double bytes_min = 0, bytes_max = 0, us_min = 0, us_max = 0;
  bool any = false;
  for (const Curve& curve : chart.curves)
    for (const auto& [bytes, us] : curve.points) {
      bytes_min = any ? std::min(bytes_min, bytes) : bytes;
      us_min = any ? std::min(us_min, us) : us;
      bytes_max = std::max(bytes_max, bytes);
      us_max = std::max(us_max, us);
      any = true;
    }
  RINGLET_ASSERT(any);
  return {AxisOver(bytes_min, bytes_max, 2), AxisOver(us_min, us_max, 10)};
}

void DrawRule(Drawing& drawing, std::pair<double, double> from, std::pair<double, double> to,
              double width) {
  drawing.lines.push_back({.points = {from, to}, .width = width, .color = std::string(kGrid)});
}

void DrawBytesAxis(Drawing& drawing, const Axes& axes) {
  constexpr double kLabelsMax = 10;
  const double doublings = std::log2(axes.bytes.high / axes.bytes.low);
  const double step = std::exp2(std::ceil(doublings / kLabelsMax));
  for (double bytes = axes.bytes.low; bytes <= axes.bytes.high * 1.001; bytes *= step) {
    const double x = axes.X(bytes);
    DrawRule(drawing, {x, kTop}, {x, kTop + kHeight}, 0.5);
    drawing.words.push_back({.x = x,
                             .y = kTop + kHeight + 18,
                             .text = BytesText(bytes),
                             .size = kSmall,
                             .anchor = Anchor::kMiddle});
  }
  drawing.words.push_back({.x = kLeft + kWidth / 2,
                           .y = kTop + kHeight + 40,
                           .text = "size",
                           .size = kSmall,
                           .anchor = Anchor::kMiddle});
}

void DrawTimeAxis(Drawing& drawing, const Axes& axes) {
  for (double us = axes.us.low; us <= axes.us.high * 1.001; us *= 10) {
    const double y = axes.Y(us);
    DrawRule(drawing, {kLeft, y}, {kLeft + kWidth, y}, 0.5);
    drawing.words.push_back({.x = kLeft - 8,
                             .y = y + 4,
                             .text = MicrosecondsText(us),
                             .size = kSmall,
                             .anchor = Anchor::kEnd});
  }
  drawing.words.push_back(
      {.x = kLeft, .y = kTop - 10, .text = "time of one operation, median", .size = kSmall});
}

void DrawCurve(Drawing& drawing, const Axes& axes, const Curve& curve, const Polyline& style) {
  constexpr double kMark = 2.5;
  Polyline line = style;
  line.width = 2;
  for (const auto& [bytes, us] : curve.points) line.points.emplace_back(axes.X(bytes), axes.Y(us));
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const auto [x, y] = line.points[i];
    const auto [bytes, us] = curve.points[i];
    drawing.lines.push_back(
        {.points = {{x - kMark, y}, {x + kMark, y}},
         .width = 2 * kMark,
         .title = fmt::format("{}, {}: {}", curve.name, BytesText(bytes), MicrosecondsText(us)),
         .color = style.color});
  }
  drawing.lines.push_back(std::move(line));
}

}  // namespace

std::string BytesText(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  // Values up to 1023 of a unit need four digits; with three, {:g} would print an exponent.
  return fmt::format("{:.{}g} {}", bytes, bytes >= 999.5 ? 4 : 3, kUnits[unit]);
}

std::string MicrosecondsText(double us) {
  if (us >= 999'500) return fmt::format("{:.3g} s", us / 1e6);
  if (us >= 999.5) return fmt::format("{:.3g} ms", us / 1e3);
  return fmt::format("{:.3g} us", us);
}

Drawing DrawChart(const Chart& chart) {
  const Axes axes = AxesFor(chart);
  Drawing drawing;
  double legend_width = 0;
  for (const Curve& curve : chart.curves)
    legend_width = std::max(legend_width, TextWidth(curve.name, kSmall));
  const double legend = kLeft + kWidth + kLegendGap;
  drawing.width = legend + kLegendLine + 6 + legend_width + kLegendGap;
  drawing.height = kTop + kHeight + kBelow;
  drawing.words.push_back({.x = kLeft, .y = 20, .text = chart.title, .size = 14, .strong = true});
  DrawBytesAxis(drawing, axes);
  DrawTimeAxis(drawing, axes);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    Polyline style{.points = {},
                   .width = 3,
                   .color = std::string(kColors[i % kColors.size()]),
                   .dashed = i / kColors.size() % 2 == 1};
    DrawCurve(drawing, axes, chart.curves[i], style);
    const double y = kTop + 10 + kLegendLine * static_cast<double>(i);
    style.points = {{legend, y}, {legend + kLegendLine, y}};
    drawing.lines.push_back(std::move(style));
    drawing.words.push_back(
        {.x = legend + kLegendLine + 6, .y = y + 4, .text = chart.curves[i].name, .size = kSmall});
  }
  return drawing;
}

}  // namespace ringlet::cli
