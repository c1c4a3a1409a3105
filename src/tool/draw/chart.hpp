// Draws curves over two logarithmic axes, bytes and microseconds. Pure.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tool/draw/drawing.hpp"

namespace ringlet::cli {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< bytes and microseconds, both above 0
};

struct Chart {
  std::string title;
  std::vector<Curve> curves;  ///< with at least one point in all; colors are assigned in turn
};

Drawing DrawChart(const Chart& chart);

/// Formats bytes: "8 B", "64 KiB", "2 MiB".
std::string BytesText(double bytes);
/// Formats a time: "0.1 us", "12 ms", "1 s".
std::string MicrosecondsText(double us);

}  // namespace ringlet::cli
