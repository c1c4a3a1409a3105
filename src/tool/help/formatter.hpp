// Formats the text of `--help`: options with their values, in lines that fit the terminal.
#pragma once
#include <CLI/CLI.hpp>

#include <string>

namespace ringlet::cli {

class HelpFormatter final : public CLI::Formatter {
 public:
  /// \param columns  the width of a line
  explicit HelpFormatter(std::size_t columns) : columns_(columns) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;

 private:
  /// Returns a name with the text in a column beside it or below it.
  std::string Entry(const std::string& name, const std::string& text) const;

  std::size_t columns_;
};

/// Returns the terminal's width, at most kPageColumns. Without a terminal: kPageColumns.
std::size_t HelpColumns();

}  // namespace ringlet::cli
