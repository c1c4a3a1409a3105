// A picture as a value of boxes, lines and words, and its conversion to SVG. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringlet::cli {

/// The kind of a shape. The theme assigns its colors.
enum class Paint {
  kHost,
  kNuma,
  kSwitch,
  kGpu,
  kNic,
  kNvSwitch,
  kSocketBus,
  kPciLine,
  kNvLine,
  kC2cLine,
  kSocketLine,
};

/// All measures are in pixels; y grows downwards.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  Paint paint = Paint::kHost;
  std::string title = {};                  ///< tooltip of the box
  std::optional<std::uint32_t> node = {};  ///< node of a graph that the box shows
  std::string outline = {};                ///< "#d62828": a thick outline that replaces the theme's
  bool dashed = false;                     ///< applies to the outline
};

/// A line through all points, with round corners.
struct Polyline {
  std::vector<std::pair<double, double>> points;
  double width = 1;
  Paint paint = Paint::kPciLine;
  std::string title = {};
  std::string color = {};  ///< "#0072B2": replaces the theme's color
  bool dashed = false;
  /// The nodes of a graph that the line joins, the lower one first.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> ends = {};
  std::string group = {};  ///< lines of a group can be hidden together: "ring 0"
};

enum class Anchor { kStart, kMiddle, kEnd };

struct Words {
  double x = 0, y = 0;  ///< position of the anchor, on the base line
  std::string text;
  double size = 11;
  Anchor anchor = Anchor::kStart;
  bool strong = false;
  bool on_line = false;  ///< the text lies on a line and needs its own background
};

struct Drawing {
  double width = 0, height = 0;
  std::vector<Box> boxes;  ///< boxes lie below lines, and lines below words
  std::vector<Polyline> lines;
  std::vector<Words> words;
};

struct Extent {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool Overlaps(const Extent& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// Returns the extent of words, with the widths of a monospaced font.
Extent ExtentOf(const Words& words);
/// Returns the width of a text of that size.
double TextWidth(std::string_view text, double size);
/// Returns `text`, cut to `width` with ".." at the end if it is too wide.
std::string Fitted(std::string_view text, double size, double width);

/// Returns self-contained SVG. `dark` is for dark pages. Escapes texts from outside.
std::string ToSvg(const Drawing& drawing, bool dark);

/// Returns SVG for an HTML page. Colors are variables of its style sheet, "--gpu" and "--gpu-line".
/// Boxes have data-node, lines data-ends ("3 7") and data-group. GPUs and NICs can be focused.
std::string ToPageSvg(const Drawing& drawing);

}  // namespace ringlet::cli
