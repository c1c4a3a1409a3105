// A metric in Prometheus's text format.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringlet::cli {

/// All samples of one gauge, with its help.
class Gauge {
 public:
  Gauge(std::string_view name, std::string_view help);

  /// Values of labels may be any text; they are printed with the escapes of the format, cut after
  /// 200 bytes.
  void Add(const std::vector<std::pair<std::string_view, std::string>>& labels,
           std::uint64_t value);

  const std::string& text() const { return text_; }

 private:
  std::string name_, text_;
};

}  // namespace ringlet::cli
